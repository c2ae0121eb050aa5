//! What a group holds, in the three ways in which a group can be written down.

use super::broken;
use super::btree;
use super::cursor::Cursor;
use super::heap::{self, Fractal};
use super::object::{Object, kind};
use super::store::Store;
use crate::{Source, Trouble};

/// No group of a readable file has more members.
const MOST: usize = 1 << 18;

#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) name: String,
    pub(crate) target: Target,
}

#[derive(Clone, Debug)]
pub(crate) enum Target {
    Object(u64),
    /// Another path in the same file.
    Path(String),
    /// Another file, or something user-defined.
    Elsewhere,
}

/// All members of a group, sorted by name.
pub(crate) async fn links<S: Source>(store: &Store<'_, S>, group: &Object) -> Result<Vec<Link>, Trouble> {
    let mut links = Vec::new();
    if let Some(message) = group.message(kind::SYMBOL_TABLE) {
        let mut cursor = Cursor::new(&message.body);
        if let (Some(tree), Some(heap)) = (store.address(&mut cursor)?, store.address(&mut cursor)?) {
            symbols(store, tree, heap, &mut links).await?;
        }
    }
    for message in group.all(kind::LINK) {
        links.push(link(store, &message.body)?);
    }
    if let Some(message) = group.message(kind::LINK_INFO) {
        let mut cursor = Cursor::new(&message.body);
        cursor.skip(1)?;
        let flags = cursor.u8()?;
        cursor.skip(if flags & 1 != 0 { 8 } else { 0 })?;
        if let (Some(heap), Some(tree)) = (store.address(&mut cursor)?, store.address(&mut cursor)?) {
            let heap = Fractal::open(store, heap).await?;
            for id in ids(store, tree, 4, 7).await? {
                links.push(link(store, &heap.get(store, &id).await?)?);
            }
        }
    }
    links.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(links)
}

/// The heap ids in a version 2 tree: `length` bytes of each record from `skip`.
pub(crate) async fn ids<S: Source>(
    store: &Store<'_, S>,
    tree: u64,
    skip: usize,
    length: usize,
) -> Result<Vec<Vec<u8>>, Trouble> {
    let mut ids = Vec::new();
    btree::version2(store, tree, |record| {
        let mut cursor = Cursor::new(record);
        cursor.skip(skip)?;
        ids.push(cursor.take(length)?.to_vec());
        if ids.len() > MOST { Err(broken("a group has too many members")) } else { Ok(()) }
    })
    .await?;
    Ok(ids)
}

async fn symbols<S: Source>(
    store: &Store<'_, S>,
    tree: u64,
    heap: u64,
    links: &mut Vec<Link>,
) -> Result<(), Trouble> {
    let names = heap::local(store, heap).await?;
    let name = |offset: u64| {
        let from = usize::try_from(offset).ok().and_then(|offset| names.get(offset..));
        Cursor::new(from.unwrap_or_default()).text()
    };
    let mut nodes = Vec::new();
    btree::version1(store, tree, 0, store.length_size, |_, node| {
        nodes.push(node);
        Ok(())
    })
    .await?;
    for node in nodes {
        let bytes = store.read(node, 8).await?;
        let mut cursor = Cursor::new(&bytes);
        cursor.expect(b"SNOD")?;
        cursor.skip(2)?;
        let entries = usize::from(cursor.u16()?);
        let bytes = store.read(node.saturating_add(8), entries * (2 * store.offset_size + 24)).await?;
        let mut cursor = Cursor::new(&bytes);
        for _ in 0..entries {
            let offset = cursor.uint(store.offset_size)?;
            let object = store.address(&mut cursor)?;
            let cached = cursor.u32()?;
            cursor.skip(4)?;
            let mut scratch = Cursor::new(cursor.take(16)?);
            let target = match (cached, object) {
                (2, _) => Target::Path(name(scratch.uint(4)?)?),
                (_, Some(object)) => Target::Object(object),
                (_, None) => Target::Elsewhere,
            };
            links.push(Link { name: name(offset)?, target });
            if links.len() > MOST {
                return Err(broken("a group has too many members"));
            }
        }
    }
    Ok(())
}

fn link<S: Source>(store: &Store<'_, S>, body: &[u8]) -> Result<Link, Trouble> {
    let mut cursor = Cursor::new(body);
    cursor.skip(1)?;
    let flags = cursor.u8()?;
    let sort = if flags & 8 != 0 { cursor.u8()? } else { 0 };
    cursor.skip(if flags & 4 != 0 { 8 } else { 0 })?;
    cursor.skip(if flags & 16 != 0 { 1 } else { 0 })?;
    let length = cursor.size(1 << (flags & 3))?;
    let name = String::from_utf8_lossy(cursor.take(length)?).into_owned();
    let target = match sort {
        0 => store.address(&mut cursor)?.map_or(Target::Elsewhere, Target::Object),
        1 => {
            let length = usize::from(cursor.u16()?);
            Target::Path(String::from_utf8_lossy(cursor.take(length)?).into_owned())
        }
        _ => Target::Elsewhere,
    };
    Ok(Link { name, target })
}
