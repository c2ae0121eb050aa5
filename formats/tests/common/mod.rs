//! What the tests of the readers share.
#![allow(dead_code)] // Not every test needs all of it.

use formats::{Bytes, Choices, Kind, Loaded, NoWatch, Trouble, Watch};

pub(crate) fn load(bytes: &[u8]) -> Result<Loaded, Trouble> {
    load_with(bytes, &Choices::default())
}

pub(crate) fn load_with(bytes: &[u8], choices: &Choices) -> Result<Loaded, Trouble> {
    pollster::block_on(formats::read(&Bytes::new("file", bytes), choices, &mut NoWatch))
}

pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The trouble with a file, as (kind, place, message).
pub(crate) fn trouble(bytes: &[u8]) -> (Kind, String, String) {
    match load(bytes) {
        Ok(loaded) => panic!("was read as {:?}", loaded.table),
        Err(trouble) => {
            assert_eq!(trouble.file, "file");
            assert!(trouble.what.ends_with('.') && trouble.fix.ends_with('.'), "sentences: {trouble}");
            (trouble.kind, trouble.place.clone(), trouble.to_string())
        }
    }
}

/// Has room for so many bytes, and cancels after so many calls.
pub(crate) struct Limits {
    pub(crate) room: u64,
    pub(crate) calls: usize,
}

impl Watch for Limits {
    async fn passed(&mut self, done: u64, of: u64) -> Result<(), Trouble> {
        assert!(done <= of, "{done} of {of}");
        self.calls = self.calls.checked_sub(1).ok_or_else(Trouble::cancelled)?;
        Ok(())
    }

    fn room(&self, bytes: u64) -> Result<(), Trouble> {
        if bytes <= self.room {
            return Ok(());
        }
        Err(Trouble::new(Kind::TooLarge, format!("{bytes} bytes are too many."), "Take fewer."))
    }
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// A `.npy` file.
pub(crate) fn npy(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// A zip archive, with every entry packed.
pub(crate) fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    use std::io::Write;
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in entries {
        let mut packer = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(bytes).unwrap();
        let packed = packer.finish().unwrap();
        let at = out.len() as u32;
        let length = name.len() as u16;
        // Sizes of zero, as in a file written in one go: they follow the data, and are in the directory.
        out.extend(b"PK\x03\x04\x14\0\x08\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
        out.extend(length.to_le_bytes());
        out.extend([0, 0]);
        out.extend(name.as_bytes());
        out.extend(&packed);
        directory.extend(b"PK\x01\x02\x14\0\x14\0\x08\0\x08\0\0\0\0\0\0\0\0\0");
        directory.extend((packed.len() as u32).to_le_bytes());
        directory.extend((bytes.len() as u32).to_le_bytes());
        directory.extend(length.to_le_bytes());
        directory.extend([0; 12]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (start, size, count) = (out.len() as u32, directory.len() as u32, entries.len() as u16);
    out.extend(directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(count.to_le_bytes());
    out.extend(count.to_le_bytes());
    out.extend(size.to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0, 0]);
    out
}
