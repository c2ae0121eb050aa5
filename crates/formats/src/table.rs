//! What a file is once it is read.

use crate::Remainder;

/// A table of numbers with what else its file said about the rows and columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub rows: usize,
    pub cols: usize,
    /// Row by row. A missing value is NaN.
    pub values: Vec<f32>,
    /// What 32 bits leave over of some columns' values.
    pub remainders: Vec<Remainder>,
    /// Names of the columns.
    pub columns: Option<Vec<String>>,
    /// Names of the rows.
    pub ids: Option<Vec<String>>,
    /// Columns that are not numbers to compute with: cell types, groups, batches.
    pub labels: Vec<Labels>,
}

/// One label a row, of a few different ones.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Labels {
    /// The column's name.
    pub name: String,
    /// The different labels.
    pub names: Vec<String>,
    /// For each row an index into `names`, or [`Labels::MISSING`].
    pub codes: Vec<u32>,
}

impl Labels {
    pub const MISSING: u32 = u32::MAX;
}
