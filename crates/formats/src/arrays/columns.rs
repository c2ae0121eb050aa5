//! An array's columns are all numbers; what they mean is for a person to say.

use std::collections::HashMap;

use super::npy::label;
use crate::finish::keep_columns;
use crate::{Choices, ColumnChoice, Field, Kind, Preview, Role, Table, Trouble};

/// Takes the chosen columns out of the numbers: as ids, as labels, or to leave them out.
pub(crate) fn assign(table: &mut Table, choices: &Choices) -> Result<Vec<Field>, Trouble> {
    let ids = match choices.ids {
        Some(ColumnChoice::Column(column)) => Some(column),
        _ => None,
    };
    let labels = choices.labels.as_deref().unwrap_or_default();
    if let Some(column) =
        choices.ignore.iter().chain(labels).chain(&ids).find(|column| **column >= table.cols)
    {
        return Err(Trouble::new(
            Kind::Mismatch,
            format!("Column {} was chosen, but the array has {}.", column + 1, table.cols),
            "Choose the columns again.",
        ));
    }
    let role = |column: usize| match column {
        _ if choices.ignore.contains(&column) => Role::Ignored,
        _ if ids == Some(column) => Role::Ids,
        _ if labels.contains(&column) => Role::Labels,
        _ => Role::Numbers,
    };
    let name = |column: usize| format!("column {}", column + 1);
    let texts = |table: &Table, column: usize| -> Vec<String> {
        table.values.iter().skip(column).step_by(table.cols).map(f32::to_string).collect()
    };
    for column in labels.iter().copied().filter(|column| role(*column) == Role::Labels) {
        let labels = label(&name(column), texts(table, column).into_iter());
        table.labels.push(labels);
    }
    if let Some(column) = ids.filter(|column| role(*column) == Role::Ids) {
        let ids = texts(table, column);
        let mut seen = HashMap::new();
        for (row, id) in ids.iter().enumerate() {
            if let Some(first) = seen.insert(id, row) {
                return Err(Trouble::new(
                    Kind::Duplicate,
                    format!("The id '{id}' is used twice, in rows {} and {}.", first + 1, row + 1),
                    "Choose another column of ids, or none.",
                )
                .at(format!("row {}, column {}", row + 1, column + 1)));
            }
        }
        table.ids = Some(ids);
    }
    let cols = table.cols;
    let gone: Vec<bool> = (0..cols).map(|column| role(column) != Role::Numbers).collect();
    if gone.contains(&true) {
        keep_columns(table, &gone);
    }
    Ok((0..cols.min(Preview::COLUMNS))
        .map(|column| Field { name: name(column), role: role(column) })
        .collect())
}
