//! Archives and tables of text, read back by readers too small to share a mistake with the writers.

use std::io::Read as _;

use flate2::Crc;
use flate2::read::DeflateDecoder;
use formats::write::csv::{self, Cell};
use formats::write::zip::Zip;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

fn number(bytes: &[u8], at: usize, size: usize) -> usize {
    bytes[at..at + size].iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

/// Names and contents by way of the directory at the end, with everything checked that is there twice.
fn unpacked(file: &[u8]) -> Vec<(String, Vec<u8>)> {
    let end = file.len() - 22;
    assert_eq!(&file[end..end + 4], b"PK\x05\x06");
    let mut at = number(file, end + 16, 4);
    assert_eq!(at + number(file, end + 12, 4), end, "the directory ends where the archive does");
    let mut all = Vec::new();
    for _ in 0..number(file, end + 10, 2) {
        assert_eq!(&file[at..at + 4], b"PK\x01\x02");
        let name = &file[at + 46..][..number(file, at + 28, 2)];
        let start = number(file, at + 42, 4);
        assert_eq!(&file[start..start + 4], b"PK\x03\x04");
        assert_eq!(file[start + 4..start + 30], file[at + 6..at + 32], "both say the same");
        assert_eq!(number(file, start + 6, 2), 1 << 11, "names are UTF-8");
        assert_eq!(&file[start + 30..][..name.len()], name);
        let packed = &file[start + 30 + name.len()..][..number(file, start + 18, 4)];
        let mut content = packed.to_vec();
        if number(file, start + 8, 2) == 8 {
            content.clear();
            DeflateDecoder::new(packed).read_to_end(&mut content).expect("deflated");
        }
        assert_eq!(content.len(), number(file, start + 22, 4));
        let mut crc = Crc::new();
        crc.update(&content);
        assert_eq!(crc.sum() as usize, number(file, start + 14, 4));
        all.push((String::from_utf8(name.to_vec()).expect("UTF-8"), content));
        at += 46 + name.len();
    }
    assert_eq!(at, end);
    all
}

/// Rows of cells; a quote inside quotes is doubled.
fn cells(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' if quoted && rest.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            c => cell.push(c),
        }
    }
    rows
}

/// The checksum of the format's own example.
#[test]
fn the_checksum_is_the_one_of_zip() {
    let mut zip = Zip::new();
    zip.add_stored("a", b"123456789").expect("added");
    assert_eq!(number(&zip.finish().expect("finished"), 14, 4), 0xcbf4_3926);
}

#[test]
fn what_can_be_packed_is_packed() {
    let mut zip = Zip::new();
    zip.add("zeros", &[0; 10_000]).expect("added");
    let file = zip.finish().expect("finished");
    assert!(file.len() < 300, "{}", file.len());
    assert_eq!(unpacked(&file), [("zeros".to_owned(), vec![0; 10_000])]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn archives_hold_what_was_added(
        files in btree_map("[a-zäλ]{1,9}(/[a-z ]{1,5})?", (vec(0u8..4, 0..400), any::<bool>()), 0..6),
    ) {
        let mut zip = Zip::new();
        for (name, (content, stored)) in &files {
            if *stored { zip.add_stored(name, content)? } else { zip.add(name, content)? }
        }
        let contents: Vec<_> = files.into_iter().map(|(name, (content, _))| (name, content)).collect();
        prop_assert_eq!(unpacked(&zip.finish()?), contents);
    }

    #[test]
    fn text_and_numbers_come_back_from_csv(
        rows in vec((any::<String>(), "[,\"\n\r a]{0,4}", any::<u32>(), any::<u64>()), 0..5),
    ) {
        let mut file = Vec::new();
        for (name, other, single, double) in &rows {
            let (single, double) = (f32::from_bits(*single), f64::from_bits(*double));
            csv::row(&mut file, [Cell::Text(name), Cell::Text(other), Cell::Number(single), Cell::Fine(double)]);
        }
        let read = cells(&String::from_utf8(file)?);
        prop_assert_eq!(read.len(), rows.len());
        for (read, (name, other, single, double)) in read.iter().zip(&rows) {
            prop_assert_eq!([&read[0], &read[1]], [name, other]);
            let (single, double) = (f32::from_bits(*single), f64::from_bits(*double));
            prop_assert_eq!(read[2].parse().ok(), (!single.is_nan()).then_some(single));
            prop_assert_eq!(read[3].parse().ok(), (!double.is_nan()).then_some(double));
        }
    }
}
