//! MatrixMarket files from scipy and from formulas.

mod common;

use common::{Small, abuse, fixture, value};
use formats::{Bytes, Kind, Table, Trouble, mtx};
use proptest::prelude::*;
use std::fmt::Write;

fn read(text: &[u8]) -> Result<Table, Trouble> {
    pollster::block_on(mtx::read(&Bytes::new("a.mtx", text), &mut Small))
}

/// A table of six rows and four columns, or, where `fold` is given, the four by four of `x + fold xᵀ`.
fn expected(fold: Option<f32>) -> Vec<f32> {
    let rows = if fold.is_some() { 4 } else { 6 };
    let at = |i, j| value(i, j) + fold.map_or(0.0, |sign| sign * value(j, i));
    (0..rows * 4).map(|place| at(place / 4, place % 4)).collect()
}

#[test]
fn what_scipy_writes_is_read() {
    let rounded = expected(None).iter().map(|value| value.round_ties_even()).collect();
    let ones = expected(None).iter().map(|&value| if value == 0.0 { 0.0 } else { 1.0 }).collect();
    let all = [
        ("general", expected(None)),
        ("integer", rounded),
        ("pattern", ones),
        ("symmetric", expected(Some(1.0))),
        ("skew", expected(Some(-1.0))),
        ("array", expected(None)),
        ("array_symmetric", expected(Some(1.0))),
    ];
    for (name, values) in all {
        let table =
            read(&fixture(&format!("{name}.mtx"))).unwrap_or_else(|trouble| panic!("{name}: {trouble}"));
        assert_eq!((table.rows, table.cols), (values.len() / 4, 4), "{name}");
        assert_eq!(table.values, values, "{name}");
    }
    assert_eq!(read(&fixture("complex.mtx")).expect_err("complex").kind, Kind::Unsupported);
}

#[test]
fn small_things_are_forgiven() {
    let text = "%%matrixmarket MATRIX Coordinate Real General\r\n% a note\r\n\r\n2 2 3\r\n1 1 1.5D0\r\n1 1 2\r\n\r\n2 2 -1";
    assert_eq!(read(text.as_bytes()).expect("it is readable").values, [3.5, 0.0, 0.0, -1.0]);
    let skew = "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n";
    let values = [0.0, -1.0, -2.0, 1.0, 0.0, -3.0, 2.0, 3.0, 0.0];
    assert_eq!(read(skew.as_bytes()).expect("it is readable").values, values);
}

#[test]
fn mistakes_are_told_with_their_line() {
    let with = |rest: &str| format!("%%MatrixMarket matrix coordinate real general\n{rest}");
    let all = [
        (String::new(), Kind::Empty, ""),
        ("a,b\n1,2\n".to_owned(), Kind::Format, "line 1"),
        ("%%MatrixMarket matrix coordinate quaternion general\n".to_owned(), Kind::Format, "line 1"),
        (with(""), Kind::Truncated, ""),
        (with("2 2\n"), Kind::Broken, "line 2"),
        (with("2 2 2\n1 1 1\n"), Kind::Truncated, ""),
        (with("2 2 1\n1 1 1\n2 2 2\n"), Kind::Broken, "line 4"),
        (with("% note\n2 2 1\n3 1 1\n"), Kind::Mismatch, "line 4"),
        (with("2 2 1\n0 1 1\n"), Kind::Mismatch, "line 3"),
        (with("2 2 1\n1 1 x\n"), Kind::NotANumber, "line 3"),
        (with("2 2 1\n1 1\n"), Kind::Broken, "line 3"),
        (with("2 2 1\n1 1 1 1\n"), Kind::Broken, "line 3"),
        (with("9999999 9999999 1\n1 1 1\n"), Kind::TooLarge, ""),
        (with("18446744073709551615 18446744073709551615 1\n"), Kind::TooLarge, ""),
        (with(&"7".repeat(1 << 20)), Kind::Format, "line 2"),
    ];
    for (text, kind, place) in all {
        let trouble = read(text.as_bytes()).expect_err(&text[..text.len().min(90)]);
        assert_eq!((trouble.kind, trouble.place.as_str()), (kind, place), "{trouble}");
    }
}

#[test]
fn damaged_files_end_in_trouble_not_in_panic() {
    for name in ["general", "pattern", "symmetric", "skew", "array", "array_symmetric"] {
        abuse(&fixture(&format!("{name}.mtx")), 500, |bytes| drop(read(bytes)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read(rows in 1_usize..9, cols in 1_usize..9, seed in prop::collection::vec(any::<f32>(), 64), dense: bool) {
        let finite = |place: usize| Some(seed[place % 64]).filter(|value| value.is_finite()).unwrap_or(0.0);
        let values: Vec<f32> = (0..rows * cols).map(finite).collect();
        let mut text = String::new();
        if dense {
            writeln!(text, "%%MatrixMarket matrix array real general\n{rows} {cols}").expect("a string");
            for place in 0..rows * cols {
                writeln!(text, "{}", values[place % rows * cols + place / rows]).expect("a string");
            }
        } else {
            writeln!(text, "%%MatrixMarket matrix coordinate real general\n{rows} {cols} {}", rows * cols).expect("a string");
            for (place, value) in values.iter().enumerate() {
                writeln!(text, "{} {} {value:e}", place / cols + 1, place % cols + 1).expect("a string");
            }
        }
        let table = read(text.as_bytes()).expect("it was just written");
        prop_assert_eq!((table.rows, table.cols), (rows, cols));
        prop_assert_eq!(table.values, values);
    }
}
