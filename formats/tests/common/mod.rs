//! What the tests of the readers share: fixtures, and the formula that they follow.

#![allow(dead_code)] // Each test program uses some of it.

use formats::{Trouble, Watch};
use std::io::Read;

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
        Err(Trouble::new(formats::Kind::TooLarge, "Too large.", "Take less."))
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
