//! NumPy's `.npy`: the format that Python opens in one line.

use crate::{Kind, Trouble};

/// A number that an array may hold.
pub trait Element: Copy {
    /// NumPy's name of the type.
    const DESCR: &'static str;

    /// Adds its bytes, the lowest first.
    fn put(self, sink: &mut Vec<u8>);
}

macro_rules! element {
    ($($kind:ty => $descr:literal),+) => {$(
        impl Element for $kind {
            const DESCR: &'static str = $descr;

            fn put(self, sink: &mut Vec<u8>) {
                sink.extend(self.to_le_bytes());
            }
        }
    )+};
}

element!(f32 => "<f4", u32 => "<u4", i64 => "<i8");

/// A file of one dimension.
pub fn vector<T: Element>(values: &[T]) -> Vec<u8> {
    let mut file = header::<T>(&format!("({},)", values.len()));
    push(&mut file, values);
    file
}

/// A file of two dimensions, from values row by row.
pub fn matrix<T: Element>(rows: usize, cols: usize, values: &[T]) -> Result<Vec<u8>, Trouble> {
    if rows.checked_mul(cols) != Some(values.len()) {
        return Err(Trouble::new(
            Kind::Mismatch,
            format!("{} values do not make {rows} rows of {cols} columns.", values.len()),
            "Give a value for every row and column.",
        ));
    }
    let mut file = begin::<T>(rows, cols);
    push(&mut file, values);
    Ok(file)
}

/// The start of a file of two dimensions, for values that come in pieces: [`push`] them until all are there.
pub fn begin<T: Element>(rows: usize, cols: usize) -> Vec<u8> {
    header::<T>(&format!("({rows}, {cols})"))
}

/// Adds values, row by row.
pub fn push<T: Element>(sink: &mut Vec<u8>, values: &[T]) {
    sink.reserve(size_of_val(values));
    values.iter().for_each(|value| value.put(sink));
}

/// Values begin at a multiple of this, so that the file can be mapped into memory.
const ALIGNED: usize = 64;

/// Version 1.0: its 16-bit length is plenty for two dimensions.
fn header<T: Element>(shape: &str) -> Vec<u8> {
    let mut text = format!("{{'descr': '{}', 'fortran_order': False, 'shape': {shape}, }}", T::DESCR);
    let magic = b"\x93NUMPY\x01\x00";
    let bare = magic.len() + 2 + text.len() + 1;
    text.push_str(&" ".repeat(bare.next_multiple_of(ALIGNED) - bare));
    text.push('\n');
    let mut file = magic.to_vec();
    file.extend((text.len() as u16).to_le_bytes());
    file.extend(text.as_bytes());
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_follow_a_header_of_a_multiple_of_64_bytes() -> Result<(), Trouble> {
        let file = matrix(2, 3, &[0.0f32, 1.0, 2.0, 3.0, 4.0, 5.5])?;
        let text = String::from_utf8_lossy(&file[10..128]);
        assert_eq!(file.len(), 128 + 6 * 4);
        assert_eq!(usize::from(u16::from_le_bytes([file[8], file[9]])), 128 - 10);
        assert!(text.starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"), "{text}");
        assert!(text.ends_with(" \n"));
        assert_eq!(file[file.len() - 4..], 5.5f32.to_le_bytes());
        assert_eq!(vector(&[-2i64])[128..], (-2i64).to_le_bytes());
        Ok(())
    }

    #[test]
    fn a_shape_that_does_not_fit_is_refused() {
        assert_eq!(matrix(2, 2, &[1u32]).map_err(|trouble| trouble.kind), Err(Kind::Mismatch));
        assert!(matrix(usize::MAX, 2, &[1u32]).is_err());
    }
}
