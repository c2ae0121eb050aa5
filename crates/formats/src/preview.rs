//! What is shown about a file before it is used: what was found, what was decided, and why.

use serde::{Deserialize, Serialize};

use crate::Table;

/// A file that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    pub table: Table,
    pub preview: Preview,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Preview {
    /// The format in words: "comma-separated text, gzipped".
    pub format: String,
    pub rows: usize,
    pub cols: usize,
    /// The arrays of a file that can hold several.
    pub parts: Vec<Part>,
    pub decisions: Vec<Decision>,
    /// The columns as they stand in the file, the first [`Preview::COLUMNS`] of them: [`crate::Choices`] counts these.
    pub fields: Vec<Field>,
    /// The table's columns, the first [`Preview::COLUMNS`] of them.
    pub columns: Vec<Column>,
    /// Over all columns.
    pub missing_total: usize,
    /// Over all columns.
    pub constant_columns: usize,
    /// The table's upper left corner.
    pub corner: Vec<Vec<String>>,
    pub looks: Looks,
    pub suggestions: Vec<Suggestion>,
    pub notices: Vec<String>,
}

impl Preview {
    /// How many columns are described one by one.
    pub const COLUMNS: usize = 200;
    /// The rows and columns of the corner that is shown.
    pub const CORNER: (usize, usize) = (8, 12);
}

/// An array inside a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    pub name: String,
    pub rows: usize,
    pub cols: usize,
    /// What it holds, in words: "float32", "text".
    pub kind: String,
}

/// Something the file left open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// "header", "ids", "labels", "delimiter", "decimal", "thousands", "encoding", "part".
    pub what: String,
    pub choice: String,
    pub why: String,
}

impl Decision {
    pub fn new(what: &str, choice: impl Into<String>, why: impl Into<String>) -> Self {
        Self { what: what.to_owned(), choice: choice.into(), why: why.into() }
    }
}

/// A column of the file and what it was taken for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    pub name: String,
    pub role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    Numbers,
    Ids,
    Labels,
    Ignored,
}

/// One column of the table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    pub missing: usize,
    pub constant: bool,
    pub min: f32,
    pub max: f32,
    pub mean: f32,
}

/// What sort of numbers these seem to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Looks {
    /// Whole numbers from 0, of different totals a row.
    Counts,
    /// Counts after a logarithm: many zeros, nothing negative, nothing large.
    Logged,
    /// Shares that add up to 1 (or 100) in every row.
    Proportions,
    /// Square, symmetric, zero on the diagonal.
    Distances,
    /// Every row has length 1, as embeddings often do.
    UnitRows,
    /// Every column has mean 0 and variance 1.
    Standardised,
    #[default]
    General,
}

/// A step worth taking before the table is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suggestion {
    pub kind: Step,
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    Log1pNormalise,
    SqrtShares,
    Pca(usize),
    ZScore,
    UseAsDistances,
    Transpose,
}
