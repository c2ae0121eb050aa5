//! Other ways to read a file that could not be read as it was: each a change of choices, to be made with one click.

use serde::{Deserialize, Serialize};

use crate::{Choices, ColumnChoice};

/// One way round a trouble. Columns are counted from 0, as they stand in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Way {
    /// Without this column.
    LeaveOut { column: usize, name: String },
    /// With this column as labels, beside those that are labels already.
    AsLabels { columns: Vec<usize>, name: String },
    /// As a file in which no column names the rows.
    NoIds { name: String },
    /// With rows and columns exchanged.
    Transpose,
}

impl Way {
    /// Changes how the file is read.
    pub fn take(&self, choices: &mut Choices) {
        match self {
            Self::LeaveOut { column, .. } => {
                if !choices.ignore.contains(column) {
                    choices.ignore.push(*column);
                }
                if choices.ids == Some(ColumnChoice::Column(*column)) {
                    choices.ids = None;
                }
                choices.labels.iter_mut().for_each(|labels| labels.retain(|label| label != column));
            }
            Self::AsLabels { columns, .. } => choices.labels = Some(columns.clone()),
            Self::NoIds { .. } => choices.ids = Some(ColumnChoice::None),
            Self::Transpose => choices.transpose = !choices.transpose,
        }
    }

    /// Its name for automation.
    pub fn key(&self) -> &'static str {
        match self {
            Self::LeaveOut { .. } => "leave-out",
            Self::AsLabels { .. } => "labels",
            Self::NoIds { .. } => "no-ids",
            Self::Transpose => "transpose",
        }
    }

    /// What it does, in the words of a button.
    pub fn words(&self) -> String {
        match self {
            Self::LeaveOut { name, .. } => format!("Leave out '{name}'"),
            Self::AsLabels { name, .. } => format!("Take '{name}' as labels"),
            Self::NoIds { name } => format!("'{name}' holds no ids"),
            Self::Transpose => "Swap rows and columns".into(),
        }
    }
}
