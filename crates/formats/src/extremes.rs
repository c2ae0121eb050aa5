//! Single values that are so much larger than the rest that they would decide every distance: a slip of the keyboard, a
//! code for "missing", a unit that differs. They are named with their place, and the file stays usable.

use crate::Table;

/// A value this many times larger than what is usual, in its column and in the whole table, is named.
const FAR: f32 = 1e5;
/// Values that are looked at to tell what is usual.
const LOOKED: usize = 20_000;
/// Values that are named one by one.
const NAMED: usize = 3;

/// Sentences about the values that stand out; `largest` has the largest absolute value of each column.
pub(crate) fn extremes(
    table: &Table,
    largest: impl Iterator<Item = f32>,
    name: impl Fn(usize) -> String,
) -> Vec<String> {
    let step = table.values.len().div_ceil(LOOKED).max(1);
    // Every row has its turn in every column, whatever their number is.
    let step = if table.cols > 1 && step.is_multiple_of(table.cols) { step + 1 } else { step };
    let Some(usual) = median(table.values.iter().step_by(step)) else { return Vec::new() };
    let mut found = Vec::new();
    for (column, largest) in largest.enumerate() {
        if !(largest.is_finite() && largest > usual * FAR) {
            continue;
        }
        let values = || table.values.iter().skip(column).step_by(table.cols.max(1));
        let within = median(values()).unwrap_or(0.0).max(usual);
        let far = values().enumerate().filter(|(_, value)| value.abs() > within * FAR);
        found.extend(far.map(|(row, value)| (row, column, *value, within)));
    }
    let more = found.len().saturating_sub(NAMED);
    let mut said: Vec<String> = found
        .iter()
        .take(NAMED)
        .map(|(row, column, value, within)| {
            format!(
                "Row {}, column '{}': {} is {} times larger than what is usual there ({}). Such a value decides every \
                 distance; correct it, or leave out the row or column, if it is an error.",
                row + 1,
                name(*column),
                short(*value),
                short(value.abs() / within),
                short(*within)
            )
        })
        .collect();
    if more > 0 {
        said.push(format!("{more} more values stand out in the same way."));
    }
    said
}

/// The median of the absolute values that are neither missing nor zero: sparse tables are mostly zeros.
fn median<'v>(values: impl Iterator<Item = &'v f32>) -> Option<f32> {
    let mut sizes: Vec<f32> = values.map(|value| value.abs()).filter(|size| *size > 0.0).collect();
    if sizes.is_empty() {
        return None;
    }
    let middle = (sizes.len() - 1) / 2;
    let (_, median, _) = sizes.select_nth_unstable_by(middle, f32::total_cmp);
    Some(*median)
}

/// Few digits, and never a row of zeros.
pub(crate) fn short(value: f32) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e6).contains(&size) {
        let text = format!("{value:.1e}");
        text.replace(".0e", "e")
    } else if size < 10.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.0}")
    }
}
