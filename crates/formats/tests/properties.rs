//! What is written is what is read; what nobody ever wrote is refused, and never more than that.

mod common;

use common::{fixture, gzip, load, load_with, npy, zip};
use formats::{Bytes, Choices, NoWatch};
use proptest::collection::vec;
use proptest::prelude::*;

/// A table's text, the way some program might have written it.
#[derive(Clone, Debug)]
struct Written {
    delimiter: char,
    comma: bool,
    newline: &'static str,
    quote: bool,
    header: bool,
    ids: bool,
    missing: &'static str,
    comment: bool,
    mark: bool,
    cols: usize,
    values: Vec<Option<f32>>,
}

impl Written {
    fn rows(&self) -> usize {
        self.values.len() / self.cols
    }

    fn text(&self) -> Vec<u8> {
        let quoted =
            |text: String| if self.quote { format!("\"{}\"", text.replace('"', "\"\"")) } else { text };
        let mut lines = Vec::new();
        if self.comment {
            lines.push("# these words name no columns: there are too many".to_owned());
        }
        if self.header {
            let names = (0..self.cols).map(|col| quoted(format!("f{col}")));
            let first = self.ids.then(|| quoted("id".into()));
            lines.push(first.into_iter().chain(names).collect::<Vec<_>>().join(&self.delimiter.to_string()));
        }
        for (row, values) in self.values.chunks_exact(self.cols).enumerate() {
            let cells = values.iter().map(|value| match value {
                None => self.missing.to_owned(),
                Some(value) if self.comma => quoted(value.to_string().replace('.', ",")),
                Some(value) => quoted(value.to_string()),
            });
            // The name holds a quote, a delimiter and an end of line where quotes allow it.
            let first = self.ids.then(|| {
                if self.quote { quoted(format!("r{row}\"{}\n", self.delimiter)) } else { format!("r{row}") }
            });
            lines.push(first.into_iter().chain(cells).collect::<Vec<_>>().join(&self.delimiter.to_string()));
        }
        let mark = if self.mark { "\u{feff}" } else { "" };
        format!("{mark}{}{}", lines.join(self.newline), self.newline).into_bytes()
    }
}

fn written() -> impl Strategy<Value = Written> {
    let styles = (
        prop_oneof![Just(','), Just('\t'), Just(';'), Just('|'), Just(' ')],
        any::<bool>(),
        prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
        any::<[bool; 5]>(),
        prop_oneof![Just("NA"), Just("nan"), Just("?"), Just("null"), Just("")],
    );
    (2usize..6, 3usize..20).prop_flat_map(move |(cols, rows)| {
        let number = prop_oneof![
            8 => (-1e6f32..1e6).prop_map(Some),
            2 => any::<f32>().prop_map(|v| Some(if v.is_finite() { v } else { 0.5 })),
            1 => Just(None),
        ];
        (vec(number, cols * rows), styles.clone()).prop_map(move |(values, style)| {
            let (delimiter, comma, newline, [quote, header, ids, comment, mark], missing) = style;
            // Empty cells between spaces would be no cells, and a comma cannot be two things.
            let missing = if delimiter == ' ' && missing.is_empty() { "NA" } else { missing };
            let comma = comma && delimiter != ',';
            let values = values.clone();
            Written { delimiter, comma, newline, quote, header, ids, missing, comment, mark, cols, values }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_text_is_read_as_it_was_written(written in written()) {
        let text = written.text();
        // What cannot be told from so little is said: a column may be all missing, or hold no decimal sign.
        let choices = Choices {
            delimiter: Some(written.delimiter),
            decimal_comma: Some(written.comma),
            header: Some(written.header),
            ..Choices::default()
        };
        let loaded = load_with(&text, &choices);
        let cols = written.cols;
        let all_missing = |col: usize| written.values.iter().skip(col).step_by(cols).all(Option::is_none);
        let empty = |row: &[Option<f32>]| !written.ids && written.missing.is_empty() && row.iter().all(Option::is_none);
        prop_assume!(!(0..cols).any(all_missing) && !written.values.chunks_exact(cols).any(empty));
        let table = loaded.map_err(|trouble| TestCaseError::fail(format!("{trouble} in {:?}", String::from_utf8_lossy(&text))))?.table;
        prop_assert_eq!((table.rows, table.cols), (written.rows(), cols));
        for (read, value) in table.values.iter().zip(&written.values) {
            prop_assert_eq!(read.to_bits(), value.unwrap_or(f32::NAN).to_bits());
        }
        prop_assert_eq!(table.ids.is_some(), written.ids);
        if let Some(id) = table.ids.as_ref().filter(|_| written.quote).and_then(|ids| ids.first()) {
            prop_assert_eq!(id, &format!("r0\"{}\n", written.delimiter));
        }
        prop_assert_eq!(table.columns.is_some(), written.header);
    }

    #[test]
    fn delimiters_and_headers_are_told_from_the_text(mut written in written()) {
        written.missing = "NA";
        let fractions: Vec<_> = written.values.iter().map(|v| Some((v.unwrap_or(1.0) % 1000.0).trunc() + 0.25)).collect();
        written.values = fractions;
        let text = written.text();
        let loaded = load(&text).map_err(|trouble| TestCaseError::fail(format!("{trouble} in {:?}", String::from_utf8_lossy(&text))))?;
        prop_assert_eq!((loaded.table.rows, loaded.table.cols), (written.rows(), written.cols));
        prop_assert_eq!(loaded.table.columns.is_some(), written.header);
        let values: Vec<f32> = written.values.iter().map(|v| v.unwrap_or(f32::NAN)).collect();
        prop_assert_eq!(loaded.table.values, values);
    }

    #[test]
    fn numbers_are_what_the_standard_library_says(text in "[+-]?[0-9]{1,20}(\\.[0-9]{0,20})?(e[+-]?[0-9]{1,2})?") {
        let want = text.parse::<f64>().unwrap() as f32;
        prop_assume!(want.is_finite());
        let read = load_with(format!("{text}\n{text}\n").as_bytes(), &Choices { header: Some(false), ..Choices::default() });
        let read = read.unwrap().table.values[0];
        let apart = (i64::from(read.to_bits()) - i64::from(want.to_bits())).abs();
        prop_assert!(apart <= 1 || read == want, "{} is read as {}, not {}", text, read, want);
    }

    #[test]
    fn an_array_is_read_as_it_was_written(values in vec(-1e9f32..1e9, 1..60), big: bool, fortran: bool, double: bool, packed: bool) {
        let (rows, cols) = if values.len() % 3 == 0 { (values.len() / 3, 3) } else { (values.len(), 1) };
        let stored: Vec<f32> = match fortran {
            true => (0..cols).flat_map(|c| values.iter().skip(c).step_by(cols)).copied().collect(),
            false => values.clone(),
        };
        let body: Vec<u8> = stored.iter().flat_map(|v| match (double, big) {
            (true, true) => f64::from(*v).to_be_bytes().to_vec(),
            (true, false) => f64::from(*v).to_le_bytes().to_vec(),
            (false, true) => v.to_be_bytes().to_vec(),
            (false, false) => v.to_le_bytes().to_vec(),
        }).collect();
        let descr = format!("{}f{}", if big { '>' } else { '<' }, if double { 8 } else { 4 });
        let file = npy(&descr, if fortran { "True" } else { "False" }, &format!("({rows}, {cols})"), &body);
        let file = if packed { zip(&[("a.npy", &file)]) } else { file };
        let table = load(&file).unwrap().table;
        prop_assert_eq!((table.rows, table.cols, table.values), (rows, cols, values));
    }
}

/// Reads bytes with every reader, whatever comes of it.
fn survive(bytes: &[u8]) {
    let chosen = Choices { part: Some("X".into()), ignore: vec![0], transpose: true, ..Choices::default() };
    let _ = (load(bytes), load_with(bytes, &chosen));
    let source = Bytes::new("file", bytes);
    let ids = ["a".to_owned()];
    let _ = pollster::block_on(formats::labels(&source, Some(&ids), 1, &mut NoWatch));
    let _ = pollster::block_on(formats::pairs(&source, Some(&ids), None, 1, 1, &mut NoWatch));
}

const FIXTURES: [&str; 12] = [
    "pandas_index.csv",
    "r_table.txt",
    "latin1.csv",
    "pandas_utf16.csv",
    "pandas.csv.gz",
    "savetxt.txt",
    "f4.npy",
    "f8_big_fortran.npy",
    "text.npy",
    "object.npy",
    "one.npz",
    "packed.npz",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_do_no_harm(bytes in vec(any::<u8>(), 0..400), magic in 0usize..8) {
        let magics: [&[u8]; 8] = [b"", b"\x1f\x8b\x08\0", b"PK\x03\x04", b"\x93NUMPY\x01\0", b"\xff\xfe", b"a,b\n1,2\n", b"\"", b"PK\x05\x06"];
        let bytes = [magics[magic], &bytes].concat();
        survive(&bytes);
        survive(&gzip(&bytes));
    }

    #[test]
    fn random_letters_do_no_harm(text in "[0-9a,;\t |\"\n\r#.+-]{0,200}") {
        survive(text.as_bytes());
    }

    #[test]
    fn damaged_files_do_no_harm(which in 0..FIXTURES.len(), changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..8), cut in any::<prop::sample::Index>()) {
        let mut bytes = fixture(FIXTURES[which]);
        for (at, byte) in &changes {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        survive(&bytes);
        bytes.truncate(cut.index(bytes.len()));
        survive(&bytes);
    }
}
