//! NumPy's `.npy` files: what Python users have.
//!
//! The format: `\x93NUMPY`, a version, the length of a header, the header (a Python dictionary with the
//! element type, the order and the shape), then the raw elements.

use super::Numbers;

/// Why a file could not be read: what was found, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NpyError {
    #[error("This is not a .npy file: it does not begin with NumPy's signature. Save it with numpy.save().")]
    Signature,
    #[error("The .npy file ends early: {expected} bytes are announced, {found} are there. Copy it again.")]
    Short { expected: usize, found: usize },
    #[error("The .npy header cannot be read (looking for {what}). Save the array again with numpy.save().")]
    Header { what: &'static str },
    #[error(
        "The array holds '{descr}' elements. Concord reads floats, integers and booleans: save it with numpy.save(file, array.astype('float32'))."
    )]
    Elements { descr: String },
    #[error(
        "The array has {found} dimensions. Concord reads tables, one row a point: reshape it to two dimensions."
    )]
    Dimensions { found: usize },
    #[error("The table is empty: its shape is {rows}×{cols}.")]
    Empty { rows: usize, cols: usize },
}

/// Reads a table. A one-dimensional array is a single column.
pub fn read(bytes: &[u8]) -> Result<Numbers, NpyError> {
    if bytes.get(..6) != Some(b"\x93NUMPY") {
        return Err(NpyError::Signature);
    }
    let short = |expected| NpyError::Short { expected, found: bytes.len() };
    // Version 1 has a header length of two bytes, later ones of four.
    let major = *bytes.get(6).ok_or(short(10))?;
    let start = if major == 1 { 10 } else { 12 };
    let length = match bytes.get(8..start).ok_or(short(start))? {
        [a, b] => usize::from(u16::from_le_bytes([*a, *b])),
        [a, b, c, d] => u32::from_le_bytes([*a, *b, *c, *d]) as usize,
        _ => return Err(NpyError::Header { what: "its length" }),
    };
    let body = start.saturating_add(length);
    let header = String::from_utf8_lossy(bytes.get(start..body).ok_or(short(body))?).into_owned();

    let descr = quoted(entry(&header, "descr")?).ok_or(NpyError::Header { what: "'descr'" })?;
    let fortran = entry(&header, "fortran_order")?.starts_with("True");
    let (rows, cols) = shape(entry(&header, "shape")?)?;
    if rows == 0 || cols == 0 {
        return Err(NpyError::Empty { rows, cols });
    }
    let (size, decode) = decoder(descr).ok_or_else(|| NpyError::Elements { descr: descr.to_owned() })?;
    let big = descr.starts_with('>');
    let count = rows.checked_mul(cols).and_then(|c| c.checked_mul(size));
    let end = count.and_then(|c| c.checked_add(body)).ok_or(NpyError::Header { what: "a possible shape" })?;
    let data = bytes.get(body..end).ok_or(short(end))?;
    let stored: Vec<f32> = data
        .chunks_exact(size)
        .map(|element| {
            let mut little = [0u8; 8];
            for (at, byte) in element.iter().enumerate() {
                little[if big { size - 1 - at } else { at }] = *byte;
            }
            decode(u64::from_le_bytes(little)) as f32
        })
        .collect();
    let values = if fortran {
        (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))).map(|(i, j)| stored[j * rows + i]).collect()
    } else {
        stored
    };
    Ok(Numbers { rows, cols, values })
}

/// What follows `'key':` in the header.
fn entry<'a>(header: &'a str, key: &'static str) -> Result<&'a str, NpyError> {
    let missing = NpyError::Header { what: key };
    let (_, after) = header.split_once(&format!("'{key}'")).ok_or(missing.clone())?;
    Ok(after.trim_start().strip_prefix(':').ok_or(missing)?.trim_start())
}

fn quoted(text: &str) -> Option<&str> {
    text.strip_prefix('\'')?.split('\'').next()
}

fn shape(text: &str) -> Result<(usize, usize), NpyError> {
    let broken = NpyError::Header { what: "'shape'" };
    let inner = text.strip_prefix('(').and_then(|t| t.split(')').next()).ok_or(broken.clone())?;
    let sizes: Vec<usize> = inner
        .split(',')
        .map(str::trim)
        .filter(|size| !size.is_empty())
        .map(|size| size.trim_end_matches('L').parse().map_err(|_| broken.clone()))
        .collect::<Result<_, _>>()?;
    match sizes[..] {
        [rows] => Ok((rows, 1)),
        [rows, cols] => Ok((rows, cols)),
        _ => Err(NpyError::Dimensions { found: sizes.len() }),
    }
}

/// Bytes of an element, and how its bits become a number.
type Decoder = (usize, fn(u64) -> f64);

/// For types such as `<f4`: byte order, kind, size.
fn decoder(descr: &str) -> Option<Decoder> {
    Some(match descr.trim_start_matches(['<', '>', '|', '=']) {
        "f2" => (2, |bits| f64::from(half(bits as u16))),
        "f4" => (4, |bits| f64::from(f32::from_bits(bits as u32))),
        "f8" => (8, f64::from_bits),
        "u1" => (1, |bits| bits as f64),
        "u2" => (2, |bits| bits as f64),
        "u4" => (4, |bits| bits as f64),
        "u8" => (8, |bits| bits as f64),
        "b1" => (1, |bits| f64::from(u8::from(bits != 0))),
        "i1" => (1, |bits| f64::from(bits as i8)),
        "i2" => (2, |bits| f64::from(bits as i16)),
        "i4" => (4, |bits| f64::from(bits as i32)),
        "i8" => (8, |bits| bits as i64 as f64),
        _ => return None,
    })
}

/// IEEE half precision.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let fraction = f32::from(bits & 0x3ff) / 1024.0;
    sign * match (bits >> 10) & 0x1f {
        0 => fraction * 2f32.powi(-14),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        exponent => (1.0 + fraction) * 2f32.powi(i32::from(exponent) - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn types_orders_and_byte_orders_are_understood() {
        let want = [1.0, 2.0, 3.0, -4.0, 5.5, 6.0];
        let little: Vec<u8> = want.iter().flat_map(|v: &f32| v.to_le_bytes()).collect();
        let read_values = |bytes: Vec<u8>| read(&bytes).map(|n| (n.rows, n.cols, n.values));
        assert_eq!(read_values(file("<f4", "False", "(2, 3)", &little)), Ok((2, 3, want.to_vec())));
        let big: Vec<u8> = want.iter().flat_map(|v| f64::from(*v).to_be_bytes()).collect();
        assert_eq!(read_values(file(">f8", "False", "(3, 2)", &big)), Ok((3, 2, want.to_vec())));
        let turned = vec![1.0, 3.0, 5.5, 2.0, -4.0, 6.0];
        assert_eq!(read_values(file("<f4", "True", "(2, 3)", &little)), Ok((2, 3, turned)));
        // 1.0, −2.0, the largest half, the smallest subnormal.
        let halves: Vec<u8> = [0x3c00u16, 0xc000, 0x7bff, 1].iter().flat_map(|v| v.to_le_bytes()).collect();
        let small = vec![1.0, -2.0, 65504.0, 2f32.powi(-24)];
        assert_eq!(read_values(file("<f2", "False", "(4,)", &halves)), Ok((4, 1, small)));
        assert_eq!(read_values(file("|i1", "False", "(1, 2)", &[0xff, 3])), Ok((1, 2, vec![-1.0, 3.0])));
    }

    #[test]
    fn broken_files_say_what_is_wrong() {
        assert_eq!(read(b"PK\x03\x04hello"), Err(NpyError::Signature));
        let cut = &file("<f4", "False", "(2, 3)", &[0; 24]);
        let short = NpyError::Short { expected: cut.len(), found: cut.len() - 5 };
        assert_eq!(read(&cut[..cut.len() - 5]), Err(short));
        assert_eq!(read(&cut[..9]), Err(NpyError::Short { expected: 10, found: 9 }));
        let text = file("<U5", "False", "(2, 3)", &[0; 120]);
        assert_eq!(read(&text), Err(NpyError::Elements { descr: "<U5".into() }));
        assert_eq!(read(&file("<f4", "False", "(2, 3, 4)", &[])), Err(NpyError::Dimensions { found: 3 }));
        assert_eq!(read(&file("<f4", "False", "(0, 3)", &[])), Err(NpyError::Empty { rows: 0, cols: 3 }));
        let huge = file("<f4", "False", "(99999999999, 99999999999)", &[]);
        assert_eq!(read(&huge), Err(NpyError::Header { what: "a possible shape" }));
        assert_eq!(read(&file("<f4", "False", "[2, 3]", &[])), Err(NpyError::Header { what: "'shape'" }));
    }
}
