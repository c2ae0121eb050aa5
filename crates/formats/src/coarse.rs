//! Columns whose values are so large beside their differences that 32 bits do not tell them apart: times in seconds since
//! 1970, coordinates in millimetres. They are named, because what is lost in reading looks like equal values later.

use crate::extremes::short;
use crate::finish::Sums;
use crate::{Column, Remainder, Table};

/// Values of a column should be told apart in so many steps at least.
const STEPS: f32 = crate::remainder::STEPS as f32;
/// Whole numbers up to here are exact.
const EXACT: f32 = (1 << f32::MANTISSA_DIGITS) as f32;
/// Columns that are named one by one.
const NAMED: usize = 3;

/// Sentences about such columns.
pub(crate) fn coarse(table: &Table, sums: &Sums, name: impl Fn(usize) -> String) -> Vec<String> {
    let found: Vec<(usize, f32)> = sums
        .columns
        .iter()
        .enumerate()
        .filter_map(|(at, column)| Some((at, step(table, at, column)?)))
        .collect();
    let more = found.len().saturating_sub(NAMED);
    let mut said: Vec<String> = found
        .iter()
        .take(NAMED)
        .map(|&(at, step)| {
            let Column { min, max, .. } = &sums.columns[at];
            if let Some(left) = table.remainders.iter().find(|left| left.column == at) {
                return format!(
                    "Column '{}': values around {} lie only {} apart. Their differences are kept.",
                    name(at),
                    short(max.abs().max(min.abs())),
                    short(spread(table, left) as f32)
                );
            }
            format!(
                "Column '{}': values around {} are computed with 32 bits, in steps of {}, and these lie only {} apart at \
                 most. Smaller differences are lost: subtract a constant from the column before loading it.",
                name(at),
                short(max.abs().max(min.abs())),
                short(step),
                short(max - min)
            )
        })
        .collect();
    if more > 0 {
        said.push(format!("The same goes for {more} more columns."));
    }
    said
}

/// How far the values of a column lie apart, with what 32 bits leave over.
fn spread(table: &Table, left: &Remainder) -> f64 {
    let values = table.values.iter().skip(left.column).step_by(table.cols.max(1));
    let whole = values.zip(&left.values).filter(|(value, _)| !value.is_nan());
    let whole = whole.map(|(value, low)| f64::from(*value) + f64::from(*low));
    let (min, max) = whole.fold((f64::MAX, f64::MIN), |(min, max), v| (v.min(min), v.max(max)));
    (max - min).max(0.0)
}

/// The step in which values of a column are told apart, if that is too large.
fn step(table: &Table, at: usize, Column { min, max, .. }: &Column) -> Option<f32> {
    let size = max.abs().max(min.abs());
    if !(size.is_finite() && size > 0.0) {
        return None;
    }
    // The distance to the next number.
    let step = f32::from_bits(size.to_bits() + 1) - size;
    if max - min >= STEPS * step || table.rows < 2 {
        return None;
    }
    let mut values = table.values.iter().skip(at).step_by(table.cols.max(1));
    // One value in all rows may well be meant, and whole numbers are what they are.
    let exact = size <= EXACT && (min == max || values.all(|value| value.is_nan() || value.fract() == 0.0));
    (!exact).then_some(step)
}
