//! Each way a file can be unusable, and what is said about it.

mod common;

use common::{Limits, fixture, gzip, load, npy, trouble, zip};
use formats::{Bytes, Choices, ColumnChoice, Kind, Source, Trouble};

/// Expects this kind of trouble at this place, and these words in the message.
fn expect(bytes: &[u8], kind: Kind, place: &str, words: &[&str]) {
    let (found, at, message) = trouble(bytes);
    assert_eq!((found, at.as_str()), (kind, place), "{message}");
    for word in words {
        assert!(message.contains(word), "{word:?} is not in: {message}");
    }
}

#[test]
fn empty_files() {
    expect(b"", Kind::Empty, "", &["is empty"]);
    expect(b"\n\n", Kind::Empty, "", &["no line of data"]);
    expect(b"# nothing but a comment\n", Kind::Empty, "", &["no line of data"]);
    expect(b"a,b,c\n", Kind::Empty, "", &["no row below"]);
    expect(&gzip(b""), Kind::Empty, "", &["gzipped file is empty"]);
    expect(&npy("<f4", "False", "(0, 3)", &[]), Kind::Empty, "", &["0 × 3"]);
}

#[test]
fn cells_that_are_no_numbers() {
    let text = b"age,size\n1,2\n3,4\n5,oops\n7,8\n";
    expect(text, Kind::NotANumber, "row 3, column 'size'", &["'oops' is not a number", "labels"]);
    expect(b"1,2\n3,4\n5,oops\n7,8\n", Kind::NotANumber, "row 3, column 2", &[]);
    expect(b"1.0,abc,3.0,4\n1,2,3,4\n1,2,3,4\n", Kind::NotANumber, "row 1, column 2", &["abc"]);
    let thousands = b"a;b\n1.5;2\n1.5;1'234.5\n1.5;2\n";
    expect(thousands, Kind::NotANumber, "row 2, column 'b'", &["'1'234.5'", "thousands separators"]);
    expect(b"a;b\n1.5;2\n1.5;1,5\n1.5;2.5\n", Kind::NotANumber, "row 2, column 'b'", &["same decimal sign"]);
    expect(b"a,b\nx,y\nz,x\n", Kind::TooSmall, "", &["no column of numbers"]);
}

#[test]
fn rows_of_different_lengths() {
    let words = &["has 2 fields; 3 are expected"];
    expect(b"a,b,c\n1,2,3\n4,5\n7,8,9\n", Kind::Ragged, "row 2", words);
    expect(b"a,b,c\n1,2,3\n4,5\n", Kind::Ragged, "row 2", words);
    expect(b"1 2 3\n4 5 6\n7 8 9 10\n", Kind::Ragged, "row 3", &["has 4 fields; 3 are expected"]);
    expect(b"a,b,c,d\n1,2\n3,4\n", Kind::Ragged, "row 1", &["has 2 fields; 4 are expected"]);
    expect(b"a,b\n1,2,3,4\n5,6,7,8\n", Kind::Ragged, "header", &["has 2 fields, the rows below have 4"]);
    expect(b"a,b\n1,\"2\n3,4\n", Kind::Broken, "row 1", &["never closed"]);
}

#[test]
fn ids_that_repeat() {
    let words = &["'c1' is used twice, in rows 1 and 3", "no column of ids"];
    for name in ["", "id", "barcode", "cell_id"] {
        let text = format!("{name},x\nc1,1\nc2,2\nc1,3\n");
        let place =
            if name.is_empty() { "row 3, column 1".into() } else { format!("row 3, column '{name}'") };
        expect(text.as_bytes(), Kind::Duplicate, &place, words);
        let off = Choices { ids: Some(ColumnChoice::None), ..Choices::default() };
        let table = common::load_with(text.as_bytes(), &off).unwrap().table;
        assert_eq!((table.ids, table.labels.len()), (None, 1));
    }
    // A column of texts that nobody called ids is labels once a text repeats.
    let table = load(b"kind,x\nc1,1\nc2,2\nc1,3\n").unwrap().table;
    assert_eq!((table.ids, table.labels[0].codes.clone()), (None, vec![0, 1, 0]));
    assert!(load(b"kind,x\nc1,1\nc2,2\nc3,3\n").unwrap().table.ids.is_some());
}

#[test]
fn infinite_values() {
    for cell in ["inf", "-Inf", "Infinity", "1e39", "-1e300"] {
        let text = format!("a,b\n1,2\n3,{cell}\n");
        expect(text.as_bytes(), Kind::Infinite, "row 2, column 'b'", &[cell]);
    }
    let body: Vec<u8> = [1.0, 2.0, f32::INFINITY, 4.0].iter().flat_map(|v: &f32| v.to_le_bytes()).collect();
    expect(&npy("<f4", "False", "(2, 2)", &body), Kind::Infinite, "row 2, column 1", &["nan_to_num"]);
    expect(&npy("<f4", "True", "(2, 2)", &body), Kind::Infinite, "row 1, column 2", &[]);
}

#[test]
fn columns_that_tell_nothing_are_noticed() {
    let preview = load(b"a,b,c\n1,5,\n2,5,\n1,5,\n").unwrap().preview;
    assert_eq!((preview.cols, preview.constant_columns, preview.missing_total), (2, 1, 0));
    let notices = preview.notices.join(" ");
    for words in [
        "same value in every row tell nothing: 'b'",
        "without any value are left out: 'c'",
        "repeat an earlier one: 1.",
    ] {
        assert!(notices.contains(words), "{notices}");
    }
}

#[test]
fn broken_arrays() {
    let whole = npy("<f4", "False", "(2, 3)", &[0; 24]);
    let cut = &whole[..whole.len() - 5];
    let announced = format!("{} bytes are announced, {} are there", whole.len(), cut.len());
    expect(cut, Kind::Truncated, "", &[&announced]);
    expect(&gzip(cut), Kind::Truncated, "", &[&announced]);
    expect(&whole[..9], Kind::Truncated, "", &["within its header"]);
    expect(&npy("<f4", "False", "[2, 3]", &[]), Kind::Broken, "", &["'shape'"]);
    let huge = npy("<f4", "False", "(99999999999, 99999999999)", &[]);
    expect(&huge, Kind::Broken, "", &["a possible shape"]);
    expect(&npy("|O", "False", "(3,)", &[]), Kind::Unsupported, "", &["Python objects", "dtype='float32'"]);
    expect(&npy("<f16", "False", "(3,)", &[0; 48]), Kind::Unsupported, "", &["longer than 64 bits"]);
    expect(b"\x93NUMPY\x09\x00\x01\x00{", Kind::Unsupported, "", &["version 9"]);
    expect(b"\x93NUMPX\x01\x00\x01\x00{", Kind::Format, "", &["does not know"]);
    let archive = fixture("one.npz");
    expect(&archive[..archive.len() - 40], Kind::Truncated, "", &["no end"]);
    let zipped = gzip(&[b'1'; 5000]);
    expect(&zipped[..zipped.len() - 6], Kind::Truncated, "", &["ends early"]);
}

#[test]
fn other_programs_files_are_refused_by_name() {
    let mut tar = vec![0; 512];
    tar[257..262].copy_from_slice(b"ustar");
    let rds = b"X\n\0\0\0\x03\0\x04\x02\0";
    for (bytes, words) in [
        (gzip(rds), "saved by R"),
        (rds.to_vec(), "saved by R"),
        (gzip(b"RDX3\nX\n\0\0\0\x03"), "write.csv"),
        (zip(&[("[Content_Types].xml", b"<x/>"), ("xl/workbook.xml", b"<x/>")]), "Excel workbook"),
        (zip(&[("archive/data.pkl", b"x")]), "PyTorch"),
        (b"\x89PNG\r\n\x1a\n\0\0".to_vec(), "PNG image"),
        (b"\xff\xd8\xff\xe0\0".to_vec(), "JPEG image"),
        (b"GIF89a\x01\0".to_vec(), "GIF image"),
        (b"II*\0\x08\0".to_vec(), "TIFF image"),
        (b"%PDF-1.4\n".to_vec(), "PDF"),
        (b"PAR1\x15\0\x15".to_vec(), "Parquet"),
        (b"ARROW1\0\0".to_vec(), "Feather"),
        (b"FEA1\0\0".to_vec(), "Feather"),
        (b"\x80\x04\x95\0\0".to_vec(), "pickle"),
        (b"ccopy_reg\n_reconstructor\np0\n(cpandas".to_vec(), "pickle"),
        (b"MATLAB 5.0 MAT-file, Platform: GLNXA64".to_vec(), "MATLAB"),
        (tar.clone(), "tar archive"),
        (gzip(&tar), "tar archive"),
        (b"7z\xbc\xaf\x27\x1c\0\x04".to_vec(), "7z"),
        (b"BZh91AY&SY\0\0".to_vec(), "bzip2"),
        (b"\xfd7zXZ\0\0\x04".to_vec(), "xz"),
        (b"\x28\xb5\x2f\xfd\0\0".to_vec(), "Zstandard"),
        (b"SQLite format 3\0\x10\0".to_vec(), "SQLite"),
        (b"\x40\0\0\0\0\0\0\0{\"weight\":".to_vec(), "Load it as a model"),
        (b"\x08\x07\x12\x07pytorch\x1a\x00\0".to_vec(), "Load it as a model"),
        (b"{\"a\": [1, 2]}".to_vec(), "JSON"),
        (b"[[1, 2], [3, 4]]".to_vec(), "JSON"),
        (b"<!DOCTYPE html><html>".to_vec(), "web page"),
        (vec![1, 2, 3, 0, 5, 6], "binary file"),
    ] {
        expect(&bytes, Kind::Format, "", &[words]);
    }
    // Letters that also begin a table.
    assert!(load(b"BM,PAR1\n1,2\n3,4\n").is_ok());
    assert!(load(b"RIFF,GIF8\n1,2\n3,4\n").is_ok());
}

fn limited(bytes: &[u8], room: u64, calls: usize) -> Trouble {
    let mut watch = Limits { room, calls };
    pollster::block_on(formats::read(&Bytes::new("file", bytes), &Choices::default(), &mut watch))
        .unwrap_err()
}

#[test]
fn bombs_do_not_go_off() {
    let room = 4 << 20;
    for filling in [b'0', b'\n', b'#', b'"', b','] {
        let bomb = gzip(&vec![filling; 100 << 20]);
        assert!(bomb.len() < 1 << 20);
        assert_eq!(limited(&bomb, room, usize::MAX).kind, Kind::TooLarge, "{:?}", char::from(filling));
    }
    let rows = gzip("1,2,3\n".repeat(1 << 20).as_bytes());
    assert_eq!(limited(&rows, room, usize::MAX).kind, Kind::TooLarge);
    // Comments take none, but nobody writes so many.
    let comments = gzip(("1,2\n".repeat(20) + &"#\n".repeat(50 << 20)).as_bytes());
    assert_eq!(limited(&comments, room, usize::MAX).kind, Kind::TooLarge);
    // Texts take room as well as numbers.
    let texts: String = (0..100_000).map(|row| format!("cell number {row} of them all,1\n")).collect();
    assert_eq!(limited(texts.as_bytes(), room, usize::MAX).kind, Kind::TooLarge);
    // An archive that claims little and unpacks into much.
    let array = npy("<f4", "False", "(4000000, 4)", &vec![0; 64 << 20]);
    assert_eq!(limited(&zip(&[("x.npy", &array)]), room, usize::MAX).kind, Kind::TooLarge);
    // A header that claims much.
    let claim = npy("<f4", "False", "(4000000, 4)", &[0; 64]);
    assert_eq!(limited(&gzip(&claim), room, usize::MAX).kind, Kind::TooLarge);
}

/// A large file of which only the beginning may be read.
struct Beginning {
    head: Vec<u8>,
    size: u64,
}

impl Source for Beginning {
    fn name(&self) -> &str {
        "large"
    }

    fn len(&self) -> u64 {
        self.size
    }

    async fn read(&self, at: u64, length: usize) -> Result<Vec<u8>, Trouble> {
        assert!(at + (length as u64) <= 4 << 20, "the file is refused before it is read");
        Ok(self.head.iter().cycle().skip(at as usize % self.head.len()).take(length).copied().collect())
    }
}

#[test]
fn large_files_are_refused_before_they_are_read() {
    let body = 20_000_000_000;
    let header = npy("<f4", "False", "(100000000, 50)", &[]);
    for head in [b"1,2,3,4\n".to_vec(), header] {
        let source = Beginning { size: body + head.len() as u64, head };
        let mut watch = Limits { room: 1 << 30, calls: 5 };
        let choices = Choices::default();
        let trouble = pollster::block_on(formats::read(&source, &choices, &mut watch)).unwrap_err();
        assert_eq!((trouble.kind, trouble.file.as_str()), (Kind::TooLarge, "large"));
    }
}

#[test]
fn reading_can_be_cancelled() {
    // Few rows, so that it is the reading that is watched and not what is done with the table.
    let text = (["1.5"; 100].join(",") + "\n").repeat(20_000);
    let archive = npy("<f4", "False", "(10000, 200)", &vec![0; 8_000_000]);
    for bytes in [text.as_bytes(), &gzip(text.as_bytes()), &archive, &zip(&[("x.npy", &archive)])] {
        assert!(bytes.len() < 30 << 20);
        assert_eq!(limited(bytes, u64::MAX, 2).kind, Kind::Cancelled);
    }
}
