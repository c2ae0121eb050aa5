#![no_main]

use formats::{Bytes, mtx};
use fuzz::{Small, check};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(table) = pollster::block_on(mtx::read(&Bytes::new("a.mtx", data), &mut Small::default())) {
        check(&table);
    }
});
