//! Reads HDF5, the container of h5ad, loom and 10x files: no C library runs in a browser tab, and only the pieces
//! that are asked for are fetched. What is needed for tables is here, by the format's specification: all versions of
//! the superblock, of object headers, groups, attributes and layouts, and the filters that come with h5py.

mod arrays;
mod attribute;
mod btree;
mod chunks;
mod cursor;
mod dataset;
mod datatype;
mod filters;
mod heap;
mod links;
mod object;
mod read;
mod store;

pub(crate) use dataset::Dataset;
pub(crate) use datatype::{Datatype, Field};
pub(crate) use links::{Link, Target};
pub(crate) use object::Object;

use crate::{Kind, Source, Trouble, Watch};
use cursor::Cursor;
use heap::Global;
use object::kind;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use store::Store;

/// The first eight bytes of every HDF5 file, or those after a block that belongs to someone else.
pub(crate) const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";

/// Soft links that lead to soft links are followed this often.
const HOPS: usize = 16;

/// Of so many groups the members are remembered.
const LISTED: usize = 8;

/// The trouble with a file that contradicts itself.
pub(crate) fn broken(what: &str) -> Trouble {
    Trouble::new(
        Kind::Broken,
        format!("The HDF5 structure is damaged: {what}."),
        "Copy or download the file again, or write it again.",
    )
}

/// Adds up the progress of reading several data sets for one [`Watch`].
pub(crate) struct Meter<'w, W> {
    watch: &'w mut W,
    done: u64,
    of: u64,
}

impl<'w, W: Watch> Meter<'w, W> {
    pub(crate) fn new(watch: &'w mut W, of: u64) -> Self {
        Self { watch, done: 0, of }
    }

    /// More work is ahead than was known before.
    pub(crate) fn expect(&mut self, bytes: u64) {
        self.of = self.of.saturating_add(bytes);
    }

    pub(crate) async fn tick(&mut self, bytes: u64) -> Result<(), Trouble> {
        self.done = self.done.saturating_add(bytes);
        self.watch.passed(self.done.min(self.of), self.of).await
    }

    pub(crate) fn room(&self, bytes: u64) -> Result<(), Trouble> {
        self.watch.room(bytes)
    }
}

/// An open file.
pub(crate) struct File<'a, S> {
    store: Store<'a, S>,
    root: u64,
    texts: RefCell<Global>,
    /// The members of the groups that were looked into last: a data frame's are asked for one by one.
    listed: RefCell<VecDeque<(u64, Rc<Vec<Link>>)>>,
}

impl<'a, S: Source> File<'a, S> {
    /// Whether the file is HDF5, and where in it the superblock is.
    pub(crate) async fn find_start(source: &S) -> Result<Option<u64>, Trouble> {
        let mut at = 0;
        while at + 8 <= source.len() {
            if source.read(at, 8).await? == SIGNATURE {
                return Ok(Some(at));
            }
            at = if at == 0 { 512 } else { at * 2 };
        }
        Ok(None)
    }

    pub(crate) async fn open(source: &'a S) -> Result<Self, Trouble> {
        let Some(start) = Self::find_start(source).await? else {
            let fix = "Choose a file that h5py or anndata has written.";
            return Err(Trouble::new(Kind::Format, "This is not an HDF5 file.", fix));
        };
        let mut store = Store::new(source);
        store.base = start;
        let length = (source.len() - start).min(128) as usize;
        let bytes = store.read(0, length).await?;
        let mut cursor = Cursor::new(&bytes);
        cursor.skip(8)?;
        let version = cursor.u8()?;
        match version {
            0 | 1 => cursor.skip(4)?,
            2 | 3 => {}
            _ => {
                let what = format!(
                    "The file is of version {version} of HDF5's format, which is newer than this program."
                );
                return Err(Trouble::new(
                    Kind::Unsupported,
                    what,
                    "Write it with `libver=\"v110\"`, or with anndata.",
                ));
            }
        }
        store.offset_size = usize::from(cursor.u8()?);
        store.length_size = usize::from(cursor.u8()?);
        let sizes = [store.offset_size, store.length_size];
        if sizes.iter().any(|size| !matches!(size, 2 | 4 | 8)) {
            return Err(broken("its addresses have an unusual size"));
        }
        match version {
            0 => cursor.skip(9)?,
            1 => cursor.skip(13)?,
            _ => cursor.skip(1)?,
        }
        store.address(&mut cursor)?; // The base: the library, too, believes the place where it found the mark.
        store.address(&mut cursor)?;
        let end = store.address(&mut cursor)?;
        if end.is_some_and(|end| end > source.len()) {
            return Err(Trouble::new(
                Kind::Truncated,
                format!("The file should have {} bytes but has {}.", end.unwrap_or(0), source.len()),
                "Copy or download the file again: it is incomplete.",
            ));
        }
        if version < 2 {
            cursor.skip(2 * store.offset_size)?; // The driver, and the root's name.
        }
        let root = store.address(&mut cursor)?.ok_or_else(|| broken("it has no root"))?;
        Ok(Self { store, root, texts: RefCell::default(), listed: RefCell::default() })
    }

    pub(crate) async fn root(&self) -> Result<Object, Trouble> {
        self.object(self.root).await
    }

    pub(crate) async fn object(&self, address: u64) -> Result<Object, Trouble> {
        Object::read(&self.store, address).await
    }

    /// What a group holds, by name.
    pub(crate) async fn links(&self, group: &Object) -> Result<Rc<Vec<Link>>, Trouble> {
        let known = self.listed.borrow().iter().find(|(address, _)| *address == group.address).cloned();
        if let Some((_, links)) = known {
            return Ok(links);
        }
        let links = Rc::new(links::links(&self.store, group).await?);
        let mut listed = self.listed.borrow_mut();
        listed.push_back((group.address, Rc::clone(&links)));
        if listed.len() > LISTED {
            listed.pop_front();
        }
        Ok(links)
    }

    /// Where a group's member of this name is, if there is one.
    async fn target(&self, group: &Object, name: &str) -> Result<Option<Target>, Trouble> {
        let links = self.links(group).await?;
        let found = links.binary_search_by(|link| link.name.as_str().cmp(name)).ok();
        Ok(found.and_then(|place| links.get(place)).map(|link| link.target.clone()))
    }

    /// The object at a path such as `obs/cell_type`, if there is one.
    pub(crate) async fn find(&self, path: &str) -> Result<Option<Object>, Trouble> {
        let mut here = self.root().await?;
        let mut names: Vec<String> = steps(path);
        let mut passed: Vec<String> = Vec::new();
        let mut hops = 0;
        while let Some(name) = names.pop() {
            if !here.is_group() {
                return Ok(None);
            }
            let Some(target) = self.target(&here, &name).await? else { return Ok(None) };
            match target {
                Target::Object(address) => {
                    here = self.object(address).await?;
                    passed.push(name);
                }
                Target::Path(target) => {
                    hops += 1;
                    if hops > HOPS {
                        return Err(broken("its links lead in circles"));
                    }
                    names.extend(steps(&target));
                    if !target.starts_with('/') {
                        names.extend(passed.iter().rev().cloned());
                    }
                    passed.clear();
                    here = self.root().await?;
                }
                Target::Elsewhere => return Ok(None),
            }
        }
        Ok(Some(here))
    }

    /// A group's member, if it has one of this name.
    pub(crate) async fn member(&self, group: &Object, name: &str) -> Result<Option<Object>, Trouble> {
        if name.is_empty() || !group.is_group() {
            return Ok(None);
        }
        match self.target(group, name).await? {
            Some(Target::Object(address)) => self.object(address).await.map(Some),
            Some(Target::Path(path)) if path.starts_with('/') => self.find(&path).await,
            _ => Ok(None),
        }
    }

    /// The data set that an object is, if it is one.
    pub(crate) async fn dataset(&self, object: &Object) -> Result<Option<Dataset>, Trouble> {
        let Some(message) = object.message(kind::DATATYPE) else { return Ok(None) };
        let datatype = self.datatype(&message.body, message.shared).await?;
        Dataset::of(&self.store, object, datatype)
    }

    /// A data type, or the one that it refers to.
    async fn datatype(&self, body: &[u8], shared: bool) -> Result<Datatype, Trouble> {
        if !shared {
            return Datatype::parse(body);
        }
        let mut cursor = Cursor::new(body);
        let version = cursor.u8()?;
        let sort = cursor.u8()?;
        cursor.skip(if version == 1 { 6 } else { 0 })?;
        if version == 3 && sort == 1 {
            let fix = "Write it again with h5py's or anndata's defaults.";
            return Err(Trouble::new(Kind::Unsupported, "The file keeps its types in a shared table.", fix));
        }
        let address = self.store.address(&mut cursor)?.ok_or_else(|| broken("a data type is missing"))?;
        let object = self.object(address).await?;
        match object.message(kind::DATATYPE) {
            Some(message) if !message.shared => Datatype::parse(&message.body),
            _ => Err(broken("a data type is missing")),
        }
    }
}

/// The names of a path, the first last.
fn steps(path: &str) -> Vec<String> {
    path.split('/').filter(|name| !name.is_empty() && *name != ".").rev().map(str::to_owned).collect()
}
