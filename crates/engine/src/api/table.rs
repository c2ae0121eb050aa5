//! Numbers that a caller gives as a table, looked at before anything is computed with them.

use formats::{Remainder, Remainders};

/// A table of finite numbers, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    pub rows: usize,
    pub cols: usize,
    pub values: Vec<f32>,
    /// What 32 bits leave over of some columns.
    pub remainders: Vec<Remainder>,
}

/// Fewer rows cannot be matched.
pub const FEWEST: usize = 4;

impl Cells {
    /// `name` is what the caller calls it. Rows and columns are counted from 0, as in the caller's program.
    pub fn new(
        name: &str,
        (rows, cols): (usize, usize),
        count: usize,
        numbers: impl Iterator<Item = f64>,
    ) -> Result<Self, String> {
        if rows.checked_mul(cols) != Some(count) {
            return Err(format!(
                "{name}.data has {count} numbers, but {rows} rows of {cols} columns take {}. Give all rows one after \
                 the other, and how many there are.",
                rows as f64 * cols as f64
            ));
        }
        if rows < FEWEST || cols == 0 {
            return Err(format!(
                "{name} has {rows} rows and {cols} columns. Give at least {FEWEST} rows and 1 column."
            ));
        }
        let mut values = Vec::new();
        if values.try_reserve_exact(count).is_err() {
            return Err(format!(
                "{name} has {count} numbers, more than there is memory for in this page. Give fewer rows, and match the \
                 others with apply."
            ));
        }
        let mut remainders = Remainders::new(cols);
        for (at, number) in numbers.enumerate() {
            let place = || format!("at row {}, column {} (counted from 0)", at / cols, at % cols);
            if number.is_nan() {
                return Err(format!(
                    "{name} has no number {}, but NaN. Fill in missing values, or leave such rows out.",
                    place()
                ));
            }
            let value = number as f32;
            if !value.is_finite() {
                return Err(format!(
                    "{name} is {number} {}, beyond what a 32-bit number holds. Scale that column, or leave the row out.",
                    place()
                ));
            }
            if remainders.any() {
                remainders.note(at % cols, at / cols, number);
            }
            values.push(value);
        }
        let remainders = remainders.finish(rows);
        if remainders.is_empty() && values.chunks_exact(cols).all(|row| row == &values[..cols]) {
            return Err(format!("All rows of {name} are the same, so nothing tells one from another."));
        }
        Ok(Self { rows, cols, values, remainders })
    }
}

/// Pairs of rows: `(row of x, row of y)`.
pub type Pairs = Vec<(u32, u32)>;

/// Pairs of rows that exist. `name` is what the caller calls them.
pub fn pairs(name: &str, given: &[[f64; 2]], rows: [usize; 2]) -> Result<Pairs, String> {
    let row = |number: f64, count: usize| {
        let whole = number.is_finite() && number.fract() == 0.0;
        (whole && number >= 0.0 && number < count as f64).then_some(number as u32)
    };
    let pair = |(at, [x, y]): (usize, &[f64; 2])| match (row(*x, rows[0]), row(*y, rows[1])) {
        (Some(x), Some(y)) => Ok((x, y)),
        _ => Err(format!(
            "options.{name}[{at}] is [{x}, {y}]. Give a row of x from 0 to {} and a row of y from 0 to {}.",
            rows[0] - 1,
            rows[1] - 1
        )),
    };
    given.iter().enumerate().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(shape: (usize, usize), numbers: &[f64]) -> Result<Cells, String> {
        Cells::new("x", shape, numbers.len(), numbers.iter().copied())
    }

    #[test]
    fn numbers_become_a_table() {
        let table = cells((4, 2), &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.5]).expect("a table");
        assert_eq!((table.rows, table.cols, table.values[7]), (4, 2, 8.5));
    }

    #[test]
    fn times_keep_their_differences() {
        let numbers = [1.7e9, 1.0, 1.7e9 + 1.5, 2.0, 1.7e9 + 2.0, 3.0, 1.7e9 + 4.25, 4.0];
        let table = cells((4, 2), &numbers).expect("a table");
        assert_eq!((table.remainders.len(), table.remainders[0].column), (1, 0));
        for (row, time) in numbers.iter().step_by(2).enumerate() {
            let whole = f64::from(table.values[2 * row]) + f64::from(table.remainders[0].values[row]);
            assert_eq!(whole, *time);
        }
        let only = cells((4, 1), &[1.7e9, 1.7e9 + 1.0, 1.7e9 + 2.0, 1.7e9 + 3.0]).expect("rows that differ");
        assert!(only.values.iter().all(|value| *value == only.values[0]) && only.remainders.len() == 1);
    }

    #[test]
    fn what_is_no_table_is_refused_with_its_place() {
        let refused = |shape, numbers: &[f64]| cells(shape, numbers).expect_err("refused");
        let numbers = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        assert!(refused((4, 3), &numbers).contains("8 numbers, but 4 rows of 3 columns take 12"));
        assert!(refused((usize::MAX, 2), &numbers).contains("8 numbers"));
        assert!(refused((2, 4), &numbers).contains("at least 4 rows"));
        assert!(refused((4, 0), &[]).contains("0 columns"));
        let with = |value: f64| {
            let mut numbers = numbers;
            numbers[5] = value;
            refused((4, 2), &numbers)
        };
        assert!(with(f64::NAN).contains("row 2, column 1"));
        assert!(with(1e300).contains("32-bit") && with(f64::NEG_INFINITY).contains("-inf"));
        assert!(refused((4, 2), &[3.0; 8]).contains("the same"));
    }

    #[test]
    fn pairs_are_of_rows_that_exist() {
        assert_eq!(pairs("known_pairs", &[[0.0, 4.0], [2.0, 0.0]], [3, 5]), Ok(vec![(0, 4), (2, 0)]));
        for wrong in [[3.0, 0.0], [0.0, 5.0], [-1.0, 0.0], [0.5, 0.0], [f64::NAN, 0.0]] {
            let words = pairs("known_pairs", &[[0.0, 0.0], wrong], [3, 5]).expect_err("refused");
            assert!(words.contains("options.known_pairs[1]") && words.contains("0 to 2"), "{words}");
        }
    }
}
