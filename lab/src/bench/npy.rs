//! NumPy's file format, as far as the peers and their data need it: little-endian floats in C order.

use std::path::Path;

use concord::geometry::Dense;

const MAGIC: &[u8] = b"\x93NUMPY";

pub fn read(path: &Path) -> Result<Dense, String> {
    let at = path.display();
    let bytes = std::fs::read(path).map_err(|error| format!("{at} cannot be read: {error}"))?;
    parse(&bytes).map_err(|why| format!("{at}: {why}"))
}

pub fn write(path: &Path, matrix: &Dense) -> Result<(), String> {
    std::fs::write(path, bytes(matrix))
        .map_err(|error| format!("{} cannot be written: {error}", path.display()))
}

fn parse(bytes: &[u8]) -> Result<Dense, String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("not a NumPy file")?;
    // Version 1 has a header length of two bytes, later ones of four.
    let (length, start) = match rest {
        [1, _, a, b, ..] => (u16::from_le_bytes([*a, *b]) as usize, 4),
        [2 | 3, _, a, b, c, d, ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, 6),
        _ => return Err("an unknown version of the NumPy format".into()),
    };
    let header = rest.get(start..start + length).ok_or("the file ends within its header")?;
    let header = String::from_utf8_lossy(header);
    if !header.contains("'fortran_order': False") {
        return Err("only C order can be read".into());
    }
    let width = match header.split("'descr': '").nth(1).and_then(|rest| rest.split('\'').next()) {
        Some("<f4") => 4,
        Some("<f8") => 8,
        other => return Err(format!("only '<f4' and '<f8' can be read, not {other:?}")),
    };
    let shape = header.split("'shape': (").nth(1).and_then(|rest| rest.split(')').next()).unwrap_or_default();
    let sizes: Vec<usize> = shape.split(',').filter_map(|size| size.trim().parse().ok()).collect();
    let &[rows, cols] = sizes.as_slice() else { return Err(format!("a matrix is needed, not ({shape})")) };
    let body = &rest[start + length..];
    let wanted = rows.checked_mul(cols).and_then(|count| count.checked_mul(width));
    if wanted != Some(body.len()) {
        return Err(format!("{} bytes for {rows}×{cols} values of {width} bytes", body.len()));
    }
    let data = body
        .chunks_exact(width)
        .map(|value| match *value {
            [a, b, c, d] => f32::from_le_bytes([a, b, c, d]),
            [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]) as f32,
            _ => f32::NAN,
        })
        .collect::<Vec<f32>>();
    match data.iter().position(|value| !value.is_finite()) {
        Some(at) => Err(format!("row {}, column {} is no number", at / cols + 1, at % cols + 1)),
        None => Ok(Dense::new(rows, cols, data)),
    }
}

fn bytes(matrix: &Dense) -> Vec<u8> {
    let shape = format!("({}, {})", matrix.rows(), matrix.cols());
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
    // The values begin at a multiple of 64, and a line feed ends the header.
    let padding = 63 - (MAGIC.len() + 4 + header.len()) % 64;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    let mut bytes = [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat();
    bytes.extend(matrix.data().iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let matrix = Dense::from_fn(3, 2, |i, j| i as f32 - 0.5 * j as f32);
        let written = bytes(&matrix);
        assert_eq!((written.len() - 24) % 64, 0, "values are aligned");
        assert_eq!(parse(&written), Ok(matrix));
    }

    #[test]
    fn wide_values_are_read_and_damage_is_refused() {
        let header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }\n";
        let mut file = [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header].concat();
        file.extend([1.5f64, -2.0].iter().flat_map(|v| v.to_le_bytes()));
        assert_eq!(parse(&file), Ok(Dense::new(1, 2, vec![1.5, -2.0])));
        assert!(parse(&file[..file.len() - 1]).is_err());
        assert!(parse(&file[..20]).is_err());
        file.truncate(file.len() - 8);
        file.extend(f64::NAN.to_le_bytes());
        assert!(parse(&file).is_err_and(|why| why.contains("row 1, column 2")));
    }
}
