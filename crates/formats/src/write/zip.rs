//! Zip archives: several results as one download.

use std::collections::BTreeSet;
use std::io::Write as _;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use crate::{Kind, Trouble, Watch};

/// An archive that grows in memory. Its dates are all the first that the format knows, so that the same results
/// make the same bytes.
#[derive(Default)]
pub struct Zip {
    file: Vec<u8>,
    /// The directory that goes to the end.
    directory: Vec<u8>,
    names: BTreeSet<String>,
}

/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;
/// Version 2.0 of the format: deflate.
const VERSION: u16 = 20;
/// 1 January 1980, midnight.
const TIME: u16 = 0;
const DATE: u16 = 1 << 5 | 1;

const STORED: u16 = 0;
const DEFLATED: u16 = 8;

impl Zip {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file, deflated unless that makes it larger. `/` in the name makes folders.
    pub fn add(&mut self, name: &str, content: &[u8]) -> Result<(), Trouble> {
        let mut packing = Packing::new();
        content.chunks(PIECE).for_each(|piece| packing.put(piece));
        self.packed(name, content, packing)
    }

    /// As [`Zip::add`], which takes its time where the file is large.
    pub async fn add_watched(
        &mut self,
        name: &str,
        content: &[u8],
        watch: &mut impl Watch,
    ) -> Result<(), Trouble> {
        let mut packing = Packing::new();
        for (at, piece) in content.chunks(PIECE).enumerate() {
            packing.put(piece);
            watch.passed((at * PIECE + piece.len()) as u64, content.len() as u64).await?;
        }
        self.packed(name, content, packing)
    }

    fn packed(&mut self, name: &str, content: &[u8], packing: Packing) -> Result<(), Trouble> {
        let crc = packing.crc.sum();
        match packing.end() {
            Some(packed) if packed.len() < content.len() => {
                self.entry(name, content.len(), crc, DEFLATED, &packed)
            }
            _ => self.entry(name, content.len(), crc, STORED, content),
        }
    }

    /// Adds a file as it is: for what is compressed already, or where time counts more than size.
    pub fn add_stored(&mut self, name: &str, content: &[u8]) -> Result<(), Trouble> {
        let mut crc = Crc::new();
        crc.update(content);
        self.entry(name, content.len(), crc.sum(), STORED, content)
    }

    /// The archive.
    pub fn finish(mut self) -> Result<Vec<u8>, Trouble> {
        let (count, start, size) =
            (self.names.len() as u16, short(self.file.len())?, short(self.directory.len())?);
        self.file.append(&mut self.directory);
        self.file.extend(b"PK\x05\x06");
        put16(&mut self.file, &[0, 0, count, count]);
        put32(&mut self.file, &[size, start]);
        put16(&mut self.file, &[0]);
        Ok(self.file)
    }

    fn entry(
        &mut self,
        name: &str,
        size: usize,
        crc: u32,
        method: u16,
        packed: &[u8],
    ) -> Result<(), Trouble> {
        self.check(name)?;
        let (start, packed_size, size) = (short(self.file.len())?, short(packed.len())?, short(size)?);
        short(self.file.len().saturating_add(packed.len()))?;

        // Both the entry and its line in the directory have this in the middle.
        let mut about = Vec::new();
        put16(&mut about, &[VERSION, FLAGS, method, TIME, DATE]);
        put32(&mut about, &[crc, packed_size, size]);
        put16(&mut about, &[name.len() as u16, 0]);

        self.file.extend(b"PK\x03\x04");
        self.file.extend(&about);
        self.file.extend(name.as_bytes());
        self.file.extend(packed);

        self.directory.extend(b"PK\x01\x02");
        put16(&mut self.directory, &[VERSION]);
        self.directory.extend(&about);
        // No comment, the first disk, no attributes.
        put16(&mut self.directory, &[0, 0, 0]);
        put32(&mut self.directory, &[0, start]);
        self.directory.extend(name.as_bytes());
        self.names.insert(name.to_owned());
        Ok(())
    }

    /// Refuses names that would overwrite each other or leave the folder they are unpacked in.
    fn check(&self, name: &str) -> Result<(), Trouble> {
        let outside =
            name.contains(['\\', ':', '\0']) || name.split('/').any(|part| matches!(part, "" | "." | ".."));
        if outside || name.len() > usize::from(u16::MAX) {
            let what = format!("\u{201c}{name}\u{201d} cannot be a file's name inside an archive.");
            return Err(Trouble::new(Kind::Unsupported, what, "Choose a plain name."));
        }
        if self.names.contains(name) {
            let what = format!("The archive has a file \u{201c}{name}\u{201d} already.");
            return Err(Trouble::new(Kind::Duplicate, what, "Choose another name."));
        }
        if self.names.len() == usize::from(u16::MAX) {
            let what = "The archive has 65535 files already, and its format allows no more.";
            return Err(Trouble::new(Kind::TooLarge, what, "Save fewer files."));
        }
        Ok(())
    }
}

/// Bytes that are packed at a go.
const PIECE: usize = 1 << 19;

/// A file on its way into an archive.
struct Packing {
    encoder: DeflateEncoder<Vec<u8>>,
    crc: Crc,
    failed: bool,
}

impl Packing {
    fn new() -> Self {
        let encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        Self { encoder, crc: Crc::new(), failed: false }
    }

    fn put(&mut self, piece: &[u8]) {
        self.crc.update(piece);
        self.failed |= self.encoder.write_all(piece).is_err();
    }

    fn end(self) -> Option<Vec<u8>> {
        self.encoder.finish().ok().filter(|_| !self.failed)
    }
}

/// A size or a place, as long as it has 32 bits. The largest of them is a mark for the longer format.
fn short(size: usize) -> Result<u32, Trouble> {
    u32::try_from(size).ok().filter(|size| *size < u32::MAX).ok_or_else(|| {
        Trouble::new(
            Kind::TooLarge,
            "The archive would have more than 4 GB, which its format does not allow.",
            "Save the files one by one.",
        )
    })
}

fn put16(sink: &mut Vec<u8>, values: &[u16]) {
    sink.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

fn put32(sink: &mut Vec<u8>, values: &[u32]) {
    sink.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(result: Result<(), Trouble>) -> Option<Kind> {
        result.err().map(|trouble| trouble.kind)
    }

    #[test]
    fn names_that_leave_the_folder_or_meet_are_refused() {
        let mut zip = Zip::new();
        assert_eq!(kind(zip.add("a/b.csv", b"1")), None);
        for name in ["", "/a", "../a", "a//b", "a/.", "c:\\a", "a\\b"] {
            assert_eq!(kind(zip.add(name, b"1")), Some(Kind::Unsupported), "{name}");
        }
        assert_eq!(kind(zip.add_stored("a/b.csv", b"2")), Some(Kind::Duplicate));
    }

    #[test]
    fn sizes_that_need_more_than_32_bits_are_refused() {
        assert_eq!(short(0xffff_fffe), Ok(0xffff_fffe));
        assert_eq!(short(0xffff_ffff).map_err(|trouble| trouble.kind), Err(Kind::TooLarge));
    }
}
