//! Walks over bytes that may lie: every step is checked, nothing panics.

use super::broken;
use crate::Trouble;

/// A position in a piece of the file. Numbers are little-endian, as everywhere in HDF5's own structures.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many bytes are behind it.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// What is still ahead.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Trouble> {
        let end = self.at.checked_add(count).ok_or_else(|| broken("a length is out of range"))?;
        let taken = self.bytes.get(self.at..end).ok_or_else(|| broken("a structure ends too early"))?;
        self.at = end;
        Ok(taken)
    }

    pub(crate) fn skip(&mut self, count: usize) -> Result<(), Trouble> {
        self.take(count).map(|_| ())
    }

    /// Skips to the next multiple of eight, counted from the start; the end of the bytes is fine too.
    pub(crate) fn align(&mut self) {
        self.at = self.at.next_multiple_of(8).min(self.bytes.len());
    }

    /// An unsigned number of up to eight bytes.
    pub(crate) fn uint(&mut self, size: usize) -> Result<u64, Trouble> {
        if size > 8 {
            return Err(broken("a number is wider than 64 bits"));
        }
        Ok(self.take(size)?.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Trouble> {
        Ok(self.uint(1)? as u8)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Trouble> {
        Ok(self.uint(2)? as u16)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Trouble> {
        Ok(self.uint(4)? as u32)
    }

    /// A number that counts bytes or things in memory.
    pub(crate) fn size(&mut self, size: usize) -> Result<usize, Trouble> {
        usize::try_from(self.uint(size)?).map_err(|_| broken("a length is out of range"))
    }

    /// An address; all bits set means that there is none.
    pub(crate) fn address(&mut self, size: usize) -> Result<Option<u64>, Trouble> {
        let none = if size >= 8 { u64::MAX } else { (1 << (8 * size)) - 1 };
        Ok(Some(self.uint(size)?).filter(|&address| address != none))
    }

    /// Four letters that say what follows.
    pub(crate) fn expect(&mut self, signature: &[u8]) -> Result<(), Trouble> {
        if self.take(signature.len())? == signature {
            return Ok(());
        }
        Err(broken(&format!("the mark {} is missing", String::from_utf8_lossy(signature))))
    }

    /// A text up to its zero byte, which is skipped.
    pub(crate) fn text(&mut self) -> Result<String, Trouble> {
        let rest = self.rest();
        let length = rest.iter().position(|&byte| byte == 0).ok_or_else(|| broken("a name has no end"))?;
        self.skip(length + 1)?;
        Ok(String::from_utf8_lossy(rest.get(..length).unwrap_or_default()).into_owned())
    }
}
