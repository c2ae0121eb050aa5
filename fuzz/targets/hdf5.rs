#![no_main]

use formats::{Bytes, h5ad};
use fuzz::{Small, check};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let source = Bytes::new("a.h5ad", data);
    let Ok(file) = pollster::block_on(h5ad::read(&source, None, &mut Small::default())) else { return };
    check(&file.table);
    for part in file.parts.iter().take(4).filter(|part| part.name != file.chosen) {
        if let Ok(file) = pollster::block_on(h5ad::read(&source, Some(&part.name), &mut Small::default())) {
            check(&file.table);
        }
    }
});
