#![no_main]

use formats::{Bytes, Choices, ColumnChoice, MissingChoice};
use fuzz::{Small, check};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    // The last byte chooses what a person might have chosen; the rest is the file.
    let (choice, file) = data.split_last().map_or((0, data), |(last, rest)| (*last, rest));
    let header = [None, Some(true), Some(false), None][usize::from(choice & 3)];
    let ids = [None, Some(ColumnChoice::None), Some(ColumnChoice::Column(1)), None][usize::from(choice >> 2 & 3)];
    let missing = [MissingChoice::Keep, MissingChoice::DropRows, MissingChoice::DropColumns, MissingChoice::Mean];
    let choices = Choices {
        header,
        ids,
        transpose: choice & 16 != 0,
        missing: missing[usize::from(choice >> 5 & 3)],
        ignore: if choice & 128 != 0 { vec![0] } else { Vec::new() },
        ..Choices::default()
    };
    let source = Bytes::new("a", file);
    for choices in [Choices::default(), choices] {
        if let Ok(loaded) = pollster::block_on(formats::read(&source, &choices, &mut Small::default())) {
            check(&loaded.table);
        }
    }
});
