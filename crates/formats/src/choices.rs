//! What a person may decide about a file. Whatever is left open is decided from the content.

use serde::{Deserialize, Serialize};

/// The default decides everything from the content. Columns are counted from 0, as they stand in the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Choices {
    /// Which array, of a file that holds several.
    pub part: Option<String>,
    /// What separates the fields of a text; a space stands for any run of spaces and tabs.
    pub delimiter: Option<char>,
    /// Whether 1,5 is one and a half.
    pub decimal_comma: Option<bool>,
    /// Whether the first line names the columns.
    pub header: Option<bool>,
    /// The column that names the rows.
    pub ids: Option<ColumnChoice>,
    /// The columns that are labels, and no others.
    pub labels: Option<Vec<usize>>,
    /// Columns to leave out.
    pub ignore: Vec<usize>,
    /// Whether rows and columns change places.
    pub transpose: bool,
    pub missing: MissingChoice,
}

/// A column, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ColumnChoice {
    None,
    Column(usize),
}

/// What becomes of missing values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MissingChoice {
    /// They stay, as NaN: somebody has to decide later.
    #[default]
    Keep,
    DropRows,
    DropColumns,
    /// The mean of what the column does have.
    Mean,
    Zero,
}
