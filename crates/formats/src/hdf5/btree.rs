//! The two B-trees in which HDF5 keeps what belongs together: version 1 in old groups and chunked data, version 2 in
//! large groups and newer chunked data. Both are walked without recursion, and never deeper than they claim to be.

use super::broken;
use super::cursor::Cursor;
use super::store::Store;
use crate::{Source, Trouble};

/// Nodes are a few kilobytes in every file that a library wrote.
const LARGEST_NODE: usize = 1 << 24;

/// Hands over each key and child address of the leaves, in order. `kind` is 0 for groups, 1 for chunks.
pub(crate) async fn version1<S: Source>(
    store: &Store<'_, S>,
    root: u64,
    kind: u8,
    key_size: usize,
    mut each: impl FnMut(&[u8], u64) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let head = 8 + 2 * store.offset_size;
    let mut open = vec![(root, None)];
    while let Some((address, expected)) = open.pop() {
        let bytes = store.read(address, head).await?;
        let mut cursor = Cursor::new(&bytes);
        cursor.expect(b"TREE")?;
        let (found, level, entries) = (cursor.u8()?, cursor.u8()?, usize::from(cursor.u16()?));
        if found != kind || expected.is_some_and(|expected| level != expected) {
            return Err(broken("a B-tree node is of the wrong kind"));
        }
        let size = entries * (key_size + store.offset_size);
        let bytes = store.read(address.saturating_add(head as u64), size).await?;
        let mut cursor = Cursor::new(&bytes);
        let mut children = Vec::new();
        for _ in 0..entries {
            let key = cursor.take(key_size)?;
            let Some(child) = store.address(&mut cursor)? else { continue };
            match level.checked_sub(1) {
                None => each(key, child)?,
                below => children.push((child, below)),
            }
        }
        open.extend(children.into_iter().rev());
    }
    Ok(())
}

/// Hands over each record of a version 2 tree, in no particular order.
pub(crate) async fn version2<S: Source>(
    store: &Store<'_, S>,
    header: u64,
    mut each: impl FnMut(&[u8]) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let bytes = store.read(header, 16 + store.offset_size + 2 + store.length_size).await?;
    let mut cursor = Cursor::new(&bytes);
    cursor.expect(b"BTHD")?;
    cursor.skip(2)?;
    let node_size = cursor.u32()? as usize;
    let record_size = usize::from(cursor.u16()?);
    let depth = usize::from(cursor.u16()?);
    cursor.skip(2)?;
    let root = store.address(&mut cursor)?;
    let in_root = usize::from(cursor.u16()?);
    let Some(root) = root else { return Ok(()) };
    if record_size == 0 || depth > 32 || !(10 + record_size..=LARGEST_NODE).contains(&node_size) {
        return Err(broken("a B-tree has impossible sizes"));
    }
    let pointers = pointer_sizes(node_size, record_size, depth, store.offset_size);
    let mut open = vec![(root, in_root, depth)];
    while let Some((address, records, level)) = open.pop() {
        let (count_size, total_size) = pointers.get(level).copied().unwrap_or_default();
        let pointer = store.offset_size + count_size + total_size;
        let size = 6 + records * record_size + if level > 0 { (records + 1) * pointer } else { 0 };
        let bytes = store.read(address, size).await?;
        let mut cursor = Cursor::new(&bytes);
        cursor.expect(if level > 0 { b"BTIN" } else { b"BTLF" })?;
        cursor.skip(2)?;
        for _ in 0..records {
            each(cursor.take(record_size)?)?;
        }
        if let Some(below) = level.checked_sub(1) {
            for _ in 0..=records {
                let child = store.address(&mut cursor)?;
                let records = cursor.size(count_size)?;
                cursor.skip(total_size)?;
                if records > node_size / record_size {
                    return Err(broken("a B-tree node has too many records"));
                }
                open.extend(child.map(|child| (child, records, below)));
            }
        }
    }
    Ok(())
}

/// For each level above the leaves: in how many bytes a child's records, and all those below it, are counted.
fn pointer_sizes(
    node_size: usize,
    record_size: usize,
    depth: usize,
    offset_size: usize,
) -> Vec<(usize, usize)> {
    let leaf = ((node_size - 10) / record_size) as u64;
    let count_size = bytes_for(leaf);
    let mut sizes = vec![(0, 0)];
    let (mut below, mut below_size) = (leaf, 0);
    for _ in 0..depth {
        sizes.push((count_size, below_size));
        let pointer = offset_size + count_size + below_size;
        let records = (node_size.saturating_sub(10 + pointer) / (record_size + pointer)) as u64;
        below = (records + 1).saturating_mul(below).saturating_add(records);
        below_size = bytes_for(below);
    }
    sizes
}

/// The bytes that HDF5 takes to store numbers up to `limit`.
pub(crate) fn bytes_for(limit: u64) -> usize {
    (limit.checked_ilog2().unwrap_or(0) / 8 + 1) as usize
}
