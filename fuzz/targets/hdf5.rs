#![no_main]

use formats::{Bytes, h5ad};
use fuzz::{Small, check};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let source = Bytes::new("a.h5ad", data);
    // The one that is meant, and a few more by name.
    let parts = pollster::block_on(h5ad::parts(&source)).unwrap_or_default();
    let names = parts.iter().take(4).map(|part| Some(part.name.as_str()));
    for part in std::iter::once(None).chain(names) {
        if let Ok(file) = pollster::block_on(h5ad::read(&source, part, &mut Small::default())) {
            check(&file.table);
        }
    }
});
