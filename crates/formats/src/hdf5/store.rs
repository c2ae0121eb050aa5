//! Reads pieces of the file, most of them small and close together, through a few kept blocks: a file of gigabytes
//! is never read whole.

use super::broken;
use super::cursor::Cursor;
use crate::{Kind, Source, Trouble};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

const BLOCK: u64 = 1 << 16;
const KEPT: usize = 64;

/// The file as addresses. `base` is where address 0 lies; the two sizes are those of addresses and lengths.
pub(crate) struct Store<'a, S> {
    source: &'a S,
    pub(crate) base: u64,
    pub(crate) offset_size: usize,
    pub(crate) length_size: usize,
    blocks: RefCell<Vec<(u64, Rc<Vec<u8>>)>>,
    spent: Cell<u64>,
}

impl<'a, S: Source> Store<'a, S> {
    pub(crate) fn new(source: &'a S) -> Self {
        Self {
            source,
            base: 0,
            offset_size: 8,
            length_size: 8,
            blocks: RefCell::default(),
            spent: Cell::new(0),
        }
    }

    /// The bytes in the file, those before `base` included.
    pub(crate) fn len(&self) -> u64 {
        self.source.len()
    }

    /// Every structure of an honest file is read a few times at most. One that refers to itself would be read for
    /// ever: this ends it.
    pub(crate) fn spend(&self, work: u64) -> Result<(), Trouble> {
        let spent = self.spent.get().saturating_add(work);
        self.spent.set(spent);
        if spent > self.len().saturating_mul(8).saturating_add(1 << 24) {
            return Err(broken("its structures refer to each other in circles"));
        }
        Ok(())
    }

    /// Exactly the bytes from `at`: `length` of them.
    pub(crate) async fn read(&self, at: u64, length: usize) -> Result<Vec<u8>, Trouble> {
        let outside = || {
            Trouble::new(
                Kind::Truncated,
                "The file ends before the data that it promises.",
                "Copy or download the file again: it is incomplete.",
            )
        };
        let start = self.base.checked_add(at).ok_or_else(outside)?;
        let end = start.checked_add(length as u64).filter(|&end| end <= self.len()).ok_or_else(outside)?;
        self.spend(length as u64 + 16)?;
        if length as u64 > BLOCK {
            let bytes = self.source.read(start, length).await?;
            return if bytes.len() == length { Ok(bytes) } else { Err(outside()) };
        }
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            let here = start + bytes.len() as u64;
            let block = self.block(here / BLOCK).await?;
            let until = (end - here).min(BLOCK - here % BLOCK);
            let from = (here % BLOCK) as usize;
            bytes.extend_from_slice(block.get(from..from + until as usize).ok_or_else(outside)?);
        }
        Ok(bytes)
    }

    async fn block(&self, number: u64) -> Result<Rc<Vec<u8>>, Trouble> {
        let kept = {
            let mut blocks = self.blocks.borrow_mut();
            let found = blocks.iter().position(|(kept, _)| *kept == number);
            found.map(|place| {
                let entry = blocks.remove(place);
                blocks.push(entry.clone());
                entry.1
            })
        };
        if let Some(block) = kept {
            return Ok(block);
        }
        let block = Rc::new(self.source.read(number * BLOCK, BLOCK as usize).await?);
        let mut blocks = self.blocks.borrow_mut();
        if blocks.len() >= KEPT {
            blocks.remove(0);
        }
        blocks.push((number, Rc::clone(&block)));
        Ok(block)
    }

    pub(crate) fn address(&self, cursor: &mut Cursor<'_>) -> Result<Option<u64>, Trouble> {
        cursor.address(self.offset_size)
    }

    pub(crate) fn length(&self, cursor: &mut Cursor<'_>) -> Result<u64, Trouble> {
        cursor.uint(self.length_size)
    }
}
