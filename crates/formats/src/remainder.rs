//! What 32 bits leave over of values that lie close together far from zero: times in seconds since 1970, coordinates in
//! millimetres. A table holds its values in 32 bits; of such columns it holds beside them what was rounded away, so that
//! differences are those of the file once a constant is subtracted.
//!
//! Which columns these are is seen while they are read: a column that moves far from its first value needs no more bits.

/// Values of a column should be told apart in so many steps at least.
pub(crate) const STEPS: f64 = 1000.0;

/// One column's part below 32 bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remainder {
    pub column: usize,
    /// For every row what is to be added to its value; 0 where that is missing.
    pub values: Vec<f32>,
}

/// Collects remainders while values are read, row by row within each column.
#[derive(Default)]
pub struct Remainders {
    /// Those of which there was a value: how many there will be is a mere claim of the file.
    columns: Vec<Column>,
    /// Columns that may still need one.
    open: usize,
}

#[derive(Clone)]
struct Column {
    open: bool,
    /// The first value that is there.
    first: f64,
    /// None as long as 32 bits have held every value.
    values: Option<Vec<f32>>,
}

impl Remainders {
    pub fn new(columns: usize) -> Self {
        Self { columns: Vec::new(), open: columns }
    }

    /// Whether there is a column left that may need one: if not, nothing has to be told any more.
    pub fn any(&self) -> bool {
        self.open > 0
    }

    /// A value of a column, the `row`-th.
    pub fn note(&mut self, column: usize, row: usize, value: f64) {
        if self.columns.len() <= column {
            self.columns.resize(column + 1, Column { open: true, first: f64::NAN, values: None });
        }
        let Some(column) = self.columns.get_mut(column).filter(|column| column.open) else { return };
        let mut low = 0.0;
        if value.is_finite() {
            if column.first.is_nan() {
                column.first = value;
            }
            let step = step(value.abs().max(column.first.abs()));
            if (value - column.first).abs() >= STEPS * step {
                (column.open, column.values) = (false, None);
                self.open -= 1;
                return;
            }
            low = (value - f64::from(value as f32)) as f32;
        }
        match &mut column.values {
            Some(values) => {
                // A record may be taken back and read again.
                values.resize(row, 0.0);
                values.push(low);
            }
            None if low != 0.0 => {
                let mut values = vec![0.0; row];
                values.push(low);
                column.values = Some(values);
            }
            None => {}
        }
    }

    /// What was collected over so many rows.
    pub fn finish(self, rows: usize) -> Vec<Remainder> {
        let found = self.columns.into_iter().enumerate();
        let found = found.filter_map(|(column, Column { values, .. })| {
            let mut values = values?;
            values.resize(rows, 0.0);
            // A single value in all rows has no differences.
            let varied = values.windows(2).any(|pair| pair.first() != pair.last());
            varied.then_some(Remainder { column, values })
        });
        found.collect()
    }
}

/// A number in 32 bits. One that is too small for them becomes the smallest there is instead of zero, so that it can be
/// counted among those that are too small.
pub(crate) fn narrow(value: f64) -> f32 {
    let narrow = value as f32;
    if narrow == 0.0 && value != 0.0 { f32::from_bits(1).copysign(narrow) } else { narrow }
}

/// The step between numbers of 32 bits of this size.
fn step(size: f64) -> f64 {
    let size = size as f32;
    f64::from(f32::from_bits(size.to_bits() + 1)) - f64::from(size)
}

/// Drops the marked columns.
pub(crate) fn keep_columns(remainders: &mut Vec<Remainder>, gone: &[bool]) {
    let is_gone = |column: usize| gone.get(column).copied().unwrap_or(false);
    remainders.retain(|remainder| !is_gone(remainder.column));
    for remainder in remainders {
        remainder.column -= (0..remainder.column).filter(|column| is_gone(*column)).count();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(columns: &[&[f64]]) -> Vec<Remainder> {
        let mut all = Remainders::new(columns.len());
        let rows = columns.first().map_or(0, |column| column.len());
        for row in 0..rows {
            columns.iter().enumerate().for_each(|(at, column)| all.note(at, row, column[row]));
        }
        all.finish(rows)
    }

    #[test]
    fn only_columns_that_need_more_bits_get_them() {
        let times = [1.7e9, 1.7e9 + 1.0, f64::NAN, 1.7e9 + 200.25];
        let (spread, whole, constant) = ([0.1, 9.7, 0.3, 0.2], [3.0, 3.0, 4.0, 3.0], [0.1; 4]);
        let got = collected(&[&spread, &times, &whole, &constant]);
        assert_eq!(got.len(), 1, "{got:?}");
        assert_eq!(got[0].column, 1);
        for (value, low) in times.iter().zip(&got[0].values).filter(|(value, _)| value.is_finite()) {
            assert_eq!(f64::from(*value as f32) + f64::from(*low), *value);
        }
    }

    #[test]
    fn a_column_that_moves_far_needs_none_after_all() {
        let mut all = Remainders::new(1);
        (0..5).for_each(|row| all.note(0, row, 1.7e9 + row as f64));
        assert!(all.any());
        all.note(0, 5, 1.2e9);
        assert!(!all.any() && all.finish(6).is_empty());
    }

    #[test]
    fn a_row_that_is_read_again_counts_once() {
        let mut all = Remainders::new(1);
        for (row, value) in [(0, 1.0), (1, 3.0), (1, 5.0), (2, 7.0)] {
            all.note(0, row, 1.7e9 + value);
        }
        let lows: Vec<f64> = all.finish(3)[0].values.iter().map(|low| f64::from(*low)).collect();
        let want = [1.0, 5.0, 7.0].map(|v: f64| 1.7e9 + v).map(|v| v - f64::from(v as f32));
        assert_eq!(lows, want);
    }
}
