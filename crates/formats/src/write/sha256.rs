//! SHA-256: by its hash anyone can tell whether they hold the same input.
//!
//! The crate `sha2` does the work, because it is tested far beyond what we would do for our own.

use std::fmt::Write as _;

use sha2::Digest as _;

/// A hash of bytes that come in pieces.
#[derive(Clone, Default)]
pub struct Sha256(sha2::Sha256);

impl Sha256 {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash in 64 hexadecimal digits.
    pub fn finish(self) -> String {
        self.0.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_hashes() {
        let hash = |pieces: &[&str]| {
            let mut sha = Sha256::new();
            pieces.iter().for_each(|piece| sha.update(piece.as_bytes()));
            sha.finish()
        };
        assert_eq!(hash(&[]), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash(&["abc"]), abc);
        assert_eq!(hash(&["a", "", "bc"]), abc);
        assert_eq!(
            hash(&["abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"]),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        );
    }
}
