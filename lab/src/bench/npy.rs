//! NumPy's files on disk: read as the app reads them, written for the peers.

use std::path::Path;

use concord::data::npy;
use concord::geometry::Dense;

const MAGIC: &[u8] = b"\x93NUMPY";

pub fn read(path: &Path) -> Result<Dense, String> {
    let at = path.display();
    let bytes = std::fs::read(path).map_err(|error| format!("{at} cannot be read: {error}"))?;
    let numbers = npy::read(&bytes).map_err(|error| format!("{at}: {error}"))?;
    Ok(Dense::new(numbers.rows, numbers.cols, numbers.values))
}

pub fn write(path: &Path, matrix: &Dense) -> Result<(), String> {
    std::fs::write(path, bytes(matrix))
        .map_err(|error| format!("{} cannot be written: {error}", path.display()))
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
        let read = npy::read(&written).expect("readable");
        assert_eq!(Dense::new(read.rows, read.cols, read.values), matrix);
    }
}
