#![no_main]

use formats::Bytes;
use fuzz::Small;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let source = Bytes::new("a", data);
    let ids: Vec<String> = (0..8).map(|i| format!("c{i}")).collect();
    for ids in [None, Some(ids.as_slice())] {
        if let Ok(labels) = pollster::block_on(formats::labels(&source, ids, 8, &mut Small::default())) {
            assert!(labels.labels.iter().all(|column| column.codes.len() == 8));
        }
        if let Ok(pairs) = pollster::block_on(formats::pairs(&source, ids, ids, 8, 8, &mut Small::default())) {
            assert!(pairs.pairs.iter().all(|&(i, j)| i < 8 && j < 8));
        }
    }
});
