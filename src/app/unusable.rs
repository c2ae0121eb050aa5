//! Tables that cannot be aligned whatever the settings are, noticed as soon as they are loaded. Plain arithmetic, tested
//! natively.

use formats::Preview;

/// The least rows that a side needs.
const FEWEST: usize = 4;

/// Why a table cannot be aligned.
pub fn unusable(table: &Preview) -> Option<String> {
    let Preview { rows, cols, constant_columns, .. } = *table;
    if rows < FEWEST {
        let words = if rows == 1 { "There is 1 row".to_owned() } else { format!("There are {rows} rows") };
        return Some(format!(
            "{words}, and an alignment needs at least {FEWEST}. Every row is a point: if the points are columns in \
             this file, swap rows and columns."
        ));
    }
    (cols > 0 && constant_columns == cols).then(|| {
        format!(
            "All {rows} rows are the same, as far as numbers of 32 bits tell, so there is nothing to align. If they \
             differ in your file, subtract a constant from its columns before loading it."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_and_equal_rows_are_refused_at_once() {
        let table =
            |rows, cols, constant_columns| Preview { rows, cols, constant_columns, ..Preview::default() };
        assert!(unusable(&table(3, 5, 0)).is_some_and(|words| words.contains("3 rows")));
        assert!(unusable(&table(1, 5, 5)).is_some_and(|words| words.contains("1 row,")));
        assert!(unusable(&table(20, 5, 5)).is_some_and(|words| words.contains("the same")));
        assert_eq!(unusable(&table(4, 5, 4)), None);
    }
}
