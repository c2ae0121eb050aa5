//! What a file is, by its content: a name can be wrong.

use crate::{Kind, Trouble};

/// How many bytes [`format`] wants to see.
pub(crate) const HEAD: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Gzip,
    Zip,
    Npy,
    Hdf5,
    MatrixMarket,
    Text,
}

/// Formats that are not read: what they begin with, what they are, and the way out.
const REFUSED: &[(&[u8], &str, &str)] = &[
    (b"RDX2\n", R_NAME, R_FIX),
    (b"RDX3\n", R_NAME, R_FIX),
    (b"RDA2\n", R_NAME, R_FIX),
    (b"RDA3\n", R_NAME, R_FIX),
    (b"X\n\0\0\0", R_NAME, R_FIX),
    (b"A\n2\n", R_NAME, R_FIX),
    (b"A\n3\n", R_NAME, R_FIX),
    (b"B\n\x02\0\0\0", R_NAME, R_FIX),
    (b"B\n\x03\0\0\0", R_NAME, R_FIX),
    (b"\x89PNG", "a PNG image", IMAGE_FIX),
    (b"\xff\xd8\xff", "a JPEG image", IMAGE_FIX),
    (b"GIF8", "a GIF image", IMAGE_FIX),
    (b"II*\0", "a TIFF image", IMAGE_FIX),
    (b"MM\0*", "a TIFF image", IMAGE_FIX),
    (b"BM", "a BMP image", IMAGE_FIX),
    (b"RIFF", "an image or a recording", IMAGE_FIX),
    (b"%PDF-", "a PDF document", "Export the table it shows as CSV."),
    (b"PAR1", "a Parquet file", "Save it as CSV: pandas.read_parquet(file).to_csv('table.csv')."),
    (b"ARROW1", "an Arrow or Feather file", "Save it as CSV: pandas.read_feather(file).to_csv('table.csv')."),
    (b"\xff\xff\xff\xff", "an Arrow stream", "Save the table as CSV."),
    (b"FEA1", "a Feather file", "Save it as CSV: pandas.read_feather(file).to_csv('table.csv')."),
    (b"MATLAB", "a MATLAB file", "Save the matrix in MATLAB with writematrix(X, 'table.csv')."),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "Unpack it and choose the file inside."),
    (b"Rar!", "a RAR archive", "Unpack it and choose the file inside."),
    (b"BZh", "packed with bzip2 (R's save() may do this, too)", UNPACK_FIX),
    (b"\xfd7zXZ\0", "packed with xz (R's save() may do this, too)", UNPACK_FIX),
    (b"\x28\xb5\x2f\xfd", "packed with Zstandard", UNPACK_FIX),
    (b"\x04\x22\x4d\x18", "packed with LZ4", UNPACK_FIX),
    (b"SQLite format 3\0", "an SQLite database", "Export the table as CSV."),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word file", "Save the sheet as CSV (File > Save as)."),
    (b"\x7fELF", "a program", CHOOSE_FIX),
    (b"\0asm", "a program", CHOOSE_FIX),
];
const R_NAME: &str = "saved by R (.rds or .RData)";
const R_FIX: &str = "Save the table in R with write.csv(x, 'table.csv').";
const IMAGE_FIX: &str =
    "Choose a table of numbers, for example features of the images, saved as CSV or .npy.";
const UNPACK_FIX: &str = "Unpack it first, or pack the table with gzip.";
const CHOOSE_FIX: &str = "Choose a table: CSV, .npy, .npz, .h5ad or .mtx.";
const PICKLE: (&str, &str) = (
    "a Python pickle",
    "Save the array with numpy.save(file, array) or the table with DataFrame.to_csv(file).",
);
const MODEL: (&str, &str) = (
    "a neural network, not a table",
    "Load it as a model, or choose a table: CSV, .npy, .npz, .h5ad or .mtx.",
);

/// Tells the format by the first bytes, or says why the file cannot be read.
pub(crate) fn format(head: &[u8]) -> Result<Format, Trouble> {
    for (magic, format) in [
        (&b"\x1f\x8b"[..], Format::Gzip),
        (b"PK\x03\x04", Format::Zip),
        (b"PK\x05\x06", Format::Zip),
        (b"\x93NUMPY", Format::Npy),
        (HDF5, Format::Hdf5),
        (b"%%MatrixMarket", Format::MatrixMarket),
    ] {
        if head.starts_with(magic) {
            return Ok(format);
        }
    }
    // HDF5 may begin with a block of the user's own, as MATLAB 7.3's files do.
    if [512, 1024, 2048].iter().any(|at| head.get(*at..).is_some_and(|rest| rest.starts_with(HDF5)))
        && !head.starts_with(b"MATLAB")
    {
        return Ok(Format::Hdf5);
    }
    // A short magic of plain letters also begins many a table's header.
    let binary = !is_text(head);
    for (magic, name, fix) in REFUSED {
        let letters = magic.iter().all(u8::is_ascii_alphanumeric) && magic.len() < 6;
        if head.starts_with(magic) && (binary || !letters) {
            return Err(refuse(name, fix));
        }
    }
    if head.get(257..262) == Some(b"ustar") {
        return Err(refuse("a tar archive", "Unpack it and choose the file inside."));
    }
    if binary {
        return Err(binary_trouble(head));
    }
    text_trouble(head).map_or(Ok(Format::Text), Err)
}

const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";

/// "This file is …": for formats known by name.
pub(crate) fn refuse(name: &str, fix: &str) -> Trouble {
    let verb = if name.starts_with("packed") || name.starts_with("saved") { "was" } else { "is" };
    Trouble::new(Kind::Format, format!("This file {verb} {name}; Concord does not read those."), fix)
}

/// The trouble with zip files that are other programs' documents, told by the names inside.
pub(crate) fn zip_trouble<'n>(names: impl Iterator<Item = &'n str>) -> Option<Trouble> {
    for name in names {
        if name.starts_with("xl/") {
            return Some(refuse("an Excel workbook", "Save the sheet as CSV (File > Save as)."));
        }
        if name.starts_with("word/") || name.starts_with("ppt/") {
            return Some(refuse("an Office document", "Save the table as CSV."));
        }
        if name == "content.xml" {
            return Some(refuse("an OpenDocument file", "Save the sheet as CSV (File > Save as)."));
        }
        if name.ends_with("data.pkl") {
            return Some(refuse(
                "saved by PyTorch",
                "Save the array with numpy.save(file, tensor.numpy()), or export the network as ONNX and load it as a model.",
            ));
        }
        if name.ends_with(".zarray") || name.ends_with("zarr.json") {
            return Some(refuse("a Zarr archive", "Save the table as CSV, .npy or .h5ad."));
        }
    }
    None
}

fn binary_trouble(head: &[u8]) -> Trouble {
    let contains = |needle: &[u8]| head.windows(needle.len()).any(|window| window == needle);
    // A safetensors file: the length of a JSON header, then the header.
    if head.get(8..10) == Some(b"{\"") && head.get(4..8) == Some(&[0; 4]) {
        return refuse(MODEL.0, MODEL.1);
    }
    if let [0x08, version, 0x12 | 0x1a | 0x3a, ..] = head
        && *version < 32
    {
        return refuse(MODEL.0, MODEL.1);
    }
    if let [0x80, 2..=5, ..] = head {
        return refuse(PICKLE.0, PICKLE.1);
    }
    if contains(b"copy_reg") || contains(b"numpy.core") || contains(b"pandas.core") {
        return refuse(PICKLE.0, PICKLE.1);
    }
    Trouble::new(Kind::Format, "This is a binary file of a format that Concord does not know.", CHOOSE_FIX)
}

fn text_trouble(head: &[u8]) -> Option<Trouble> {
    let start = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let json = "Save the table as CSV: pandas.read_json(file).to_csv('table.csv').";
    match start {
        [b'{', ..] => Some(refuse("JSON", json)),
        [b'[', b'[' | b'{' | b'"' | b'\n' | b'\r' | b' ' | b'0'..=b'9' | b'-', ..] => {
            Some(refuse("JSON", json))
        }
        [b'<', after, ..] if *after == b'!' || *after == b'?' || after.is_ascii_alphabetic() => {
            Some(refuse("a web page or XML", "Download the table itself, not the page that shows it."))
        }
        // The oldest pickles are texts.
        _ if start.starts_with(b"ccopy_reg\n")
            || start.starts_with(b"cnumpy")
            || start.starts_with(b"(lp0\n") =>
        {
            Some(refuse(PICKLE.0, PICKLE.1))
        }
        _ => None,
    }
}

/// Whether these bytes may be a text: UTF-16 counts, zero bytes and many control characters do not.
fn is_text(head: &[u8]) -> bool {
    if wide(head).is_some() {
        return true;
    }
    let odd = head
        .iter()
        .filter(|b| **b < 32 && !matches!(**b, b'\n' | b'\r' | b'\t' | 0x0b | 0x0c | 0x1a))
        .count();
    !head.contains(&0) && odd * 100 <= head.len()
}

/// UTF-16, with a mark at its beginning or told by its zeros: whether the high byte comes first.
pub(crate) fn wide(head: &[u8]) -> Option<bool> {
    match head {
        [0xff, 0xfe, 0, 0, ..] => return None,
        [0xff, 0xfe, ..] => return Some(false),
        [0xfe, 0xff, ..] => return Some(true),
        _ => {}
    }
    let pairs: Vec<&[u8]> = head.chunks_exact(2).take(512).collect();
    let all = |zero: usize, other: usize| {
        pairs.len() >= 8 && pairs.iter().all(|pair| pair.get(zero) == Some(&0) && pair.get(other) != Some(&0))
    };
    if all(0, 1) {
        return Some(true);
    }
    all(1, 0).then_some(false)
}
