//! Bytes of files become tables of numbers. No mathematics.

pub mod npy;

/// A table of numbers, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    pub rows: usize,
    pub cols: usize,
    pub values: Vec<f32>,
}
