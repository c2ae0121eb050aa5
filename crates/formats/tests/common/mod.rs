//! What the tests of the readers share.
#![allow(dead_code)] // Not every test needs all of it.

use std::io::Read as _;

use formats::{Bytes, Choices, Kind, Loaded, NoWatch, Trouble, Watch};

pub(crate) fn load(bytes: &[u8]) -> Result<Loaded, Trouble> {
    load_with(bytes, &Choices::default())
}

pub(crate) fn load_with(bytes: &[u8], choices: &Choices) -> Result<Loaded, Trouble> {
    pollster::block_on(formats::read(&Bytes::new("file", bytes), choices, &mut NoWatch))
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

/// The watch of a small machine: no more than 64 MB for anything.
pub(crate) struct Small;

impl Watch for Small {
    async fn passed(&mut self, _done: u64, _of: u64) -> Result<(), Trouble> {
        Ok(())
    }

    fn room(&self, bytes: u64) -> Result<(), Trouble> {
        if bytes <= 64 << 20 {
            return Ok(());
        }
        Err(Trouble::new(Kind::TooLarge, "Too large.", "Take less."))
    }
}

/// A file of `tests/fixtures`, unpacked if it is stored gzipped.
pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    if let Ok(bytes) = std::fs::read(&path) {
        return bytes;
    }
    let packed = std::fs::read(path.with_file_name(format!("{name}.gz"))).expect(name);
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut bytes).expect(name);
    bytes
}

/// The formula of make_hdf5.py.
pub(crate) fn value(i: usize, j: usize) -> f32 {
    if (i * 7 + j).is_multiple_of(3) { 0.0 } else { (i as f32 - 5.0) * 0.5 + j as f32 * 8.0 }
}

pub(crate) fn table(rows: usize, cols: usize) -> Vec<f32> {
    (0..rows * cols).map(|place| value(place / cols, place % cols)).collect()
}

pub(crate) fn names(stem: &str, count: usize) -> Option<Vec<String>> {
    Some((0..count).map(|number| format!("{stem}{number}")).collect())
}

/// Runs `read` on a file cut off at every 97th byte (of large files, at 2000 places), and with bytes changed at random
/// `steps` times. That it returns, and that it does not panic, is the test.
pub(crate) fn abuse(bytes: &[u8], steps: usize, mut read: impl FnMut(&[u8])) {
    for end in (0..bytes.len()).step_by(97.max(bytes.len() / 2000)) {
        read(&bytes[..end]);
    }
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize
    };
    for _ in 0..steps {
        let mut changed = bytes.to_vec();
        for _ in 0..1 + random() % 4 {
            let place = random() % changed.len();
            changed[place] = match random() % 4 {
                0 => 0,
                1 => 0xff,
                2 => changed[place] ^ 1 << (random() % 8),
                _ => random() as u8,
            };
        }
        read(&changed);
    }
}
