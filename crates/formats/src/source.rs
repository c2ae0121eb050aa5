//! Where bytes come from, and who watches while they are read.

use crate::{Kind, Trouble};

/// A file that can be read in pieces, in any order. Nothing is ever read whole unless its reader needs it whole.
#[allow(async_fn_in_trait)] // Used from one thread only: no `Send` bound is wanted.
pub trait Source {
    /// The file's name, for messages.
    fn name(&self) -> &str;

    /// Its size in bytes.
    fn len(&self) -> u64;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes from `at`: `length` of them, or fewer where the file ends.
    async fn read(&self, at: u64, length: usize) -> Result<Vec<u8>, Trouble>;
}

/// A file that lies in memory.
pub struct Bytes<'a> {
    name: &'a str,
    bytes: &'a [u8],
}

impl<'a> Bytes<'a> {
    pub fn new(name: &'a str, bytes: &'a [u8]) -> Self {
        Self { name, bytes }
    }
}

impl Source for Bytes<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    async fn read(&self, at: u64, length: usize) -> Result<Vec<u8>, Trouble> {
        let start = usize::try_from(at).unwrap_or(usize::MAX).min(self.bytes.len());
        let end = start.saturating_add(length).min(self.bytes.len());
        Ok(self.bytes[start..end].to_vec())
    }
}

/// Called again and again while a file is read. It may take its time, and it may end the reading.
#[allow(async_fn_in_trait)] // As above.
pub trait Watch {
    /// `done` of `of` bytes (or another unit that both share) are behind us. An error, usually
    /// [`Trouble::cancelled`], ends the reading.
    async fn passed(&mut self, done: u64, of: u64) -> Result<(), Trouble>;

    /// Asked before anything large is allocated. The default allows a gigabyte.
    fn room(&self, bytes: u64) -> Result<(), Trouble> {
        const GIGABYTE: u64 = 1 << 30;
        if bytes <= GIGABYTE {
            return Ok(());
        }
        Err(Trouble::new(
            Kind::TooLarge,
            format!("This needs {} MB of memory; up to {} MB are available.", bytes >> 20, GIGABYTE >> 20),
            "Take fewer rows or columns, or reduce the columns first (for example by PCA to 50).",
        ))
    }
}

/// Lets the reading go on to its end.
pub struct NoWatch;

impl Watch for NoWatch {
    async fn passed(&mut self, _done: u64, _of: u64) -> Result<(), Trouble> {
        Ok(())
    }
}
