//! Rows that encoders have never seen, brought into the form of those they were trained on: columns are matched by their
//! names, and missing values are treated as they were in training. What was done is said; what cannot be done is refused
//! with the names of the columns.

use std::collections::{HashMap, HashSet};

use formats::write::model::Side;
use formats::{MissingChoice, Remainder, Table};

use super::prepare::means;
use align::geometry::Dense;

/// Fewer rows than this are not matched: that is the least that a side can have.
pub const FEWEST: usize = 4;
/// Columns that a message names.
const NAMED: usize = 5;

/// How the rows of a table follow those of training.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// For every column of training the one of the table.
    order: Vec<usize>,
    missing: Missing,
    /// What people should know, in sentences.
    pub said: Vec<String>,
}

/// What becomes of missing values.
#[derive(Clone, Debug, PartialEq)]
enum Missing {
    /// There are none.
    None,
    DropRows,
    /// What is filled in, for every column of training.
    Fill(Vec<f32>),
}

/// How this table follows the one a side of a model was trained on, or why it cannot. `choice` is what somebody has
/// decided about its missing values, if anybody has.
pub fn fit(side: &Side, table: &Table, choice: MissingChoice) -> Result<Fit, String> {
    let mut said = Vec::new();
    let order = order(side, table, &mut said)?;
    let rows = || table.values.chunks_exact(table.cols.max(1));
    let gaps = |row: &[f32]| order.iter().filter(|at| row[**at].is_nan()).count();
    let (count, torn) = rows().map(gaps).fold((0, 0), |(all, torn), n| (all + n, torn + usize::from(n > 0)));
    let (choice, why) =
        if choice == MissingChoice::Keep { (side.missing, ", as in training") } else { (choice, "") };
    let mut left = table.rows;
    let missing = match choice {
        _ if count == 0 => Missing::None,
        MissingChoice::DropRows => {
            left -= torn;
            said.push(format!("{} left out for missing values{why}.", counted(torn, "row is", "rows are")));
            Missing::DropRows
        }
        MissingChoice::Zero => {
            said.push(format!(
                "{} filled with 0{why}.",
                counted(count, "missing value is", "missing values are")
            ));
            Missing::Fill(vec![0.0; order.len()])
        }
        MissingChoice::Mean => {
            let (values, whose) = match &side.means {
                Some(means) => (means.clone(), "in training"),
                None => {
                    let own = means(rows(), table.cols);
                    (order.iter().map(|at| own[*at] as f32).collect(), "in this file")
                }
            };
            said.push(format!(
                "{} filled with the column's mean {whose}{why}.",
                counted(count, "missing value is", "missing values are")
            ));
            Missing::Fill(values)
        }
        MissingChoice::Keep | MissingChoice::DropColumns => {
            return Err(format!(
                "{} missing in {}. The encoders need every value: decide what becomes of them.",
                counted(count, "value is", "values are"),
                counted(torn, "row", "rows")
            ));
        }
    };
    if left < FEWEST {
        return Err(format!(
            "{} left to match, and at least {FEWEST} are needed.",
            counted(left, "row is", "rows are")
        ));
    }
    Ok(Fit { order, missing, said })
}

impl Fit {
    /// The rows in the form of training, and which rows of the table they are, where some were left out.
    pub fn rows(&self, table: &Table) -> (Dense, Option<Vec<usize>>) {
        let mut values = Vec::with_capacity(table.rows * self.order.len());
        let mut kept = Vec::new();
        for (at, row) in table.values.chunks_exact(table.cols.max(1)).enumerate() {
            if self.missing == Missing::DropRows && self.order.iter().any(|col| row[*col].is_nan()) {
                continue;
            }
            kept.push(at);
            values.extend(self.order.iter().enumerate().map(|(place, col)| match &self.missing {
                Missing::Fill(fill) if row[*col].is_nan() => fill[place],
                _ => row[*col],
            }));
        }
        let points = Dense::new(kept.len(), self.order.len(), values);
        (points, (self.missing == Missing::DropRows).then_some(kept))
    }
}

impl Fit {
    /// What 32 bits leave over of the rows that [`Fit::rows`] kept, in the order of training.
    pub fn remainders(&self, table: &Table, kept: Option<&[usize]>) -> Vec<Remainder> {
        let found = self.order.iter().enumerate().filter_map(|(place, column)| {
            let left = table.remainders.iter().find(|left| left.column == *column)?;
            let values = match kept {
                Some(kept) => kept.iter().map(|row| left.values[*row]).collect(),
                None => left.values.clone(),
            };
            Some(Remainder { column: place, values })
        });
        found.collect()
    }
}

/// Which column of the table each column of training is: by name, or by position where one of them has no names.
fn order(side: &Side, table: &Table, said: &mut Vec<String>) -> Result<Vec<usize>, String> {
    let in_place = || (0..side.inputs).collect::<Vec<usize>>();
    let (Some(known), Some(given)) = (&side.columns, &table.columns) else {
        if table.cols != side.inputs {
            return Err(format!(
                "These rows have {} of numbers, the encoders were trained on {}. Give the same columns, in the same order.",
                counted(table.cols, "column", "columns"),
                side.inputs
            ));
        }
        return Ok(in_place());
    };
    if known == given {
        return Ok(in_place());
    }
    for (names, whose) in [(known, "In training"), (given, "In this file")] {
        let mut seen = HashSet::new();
        if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(format!(
                "{whose} several columns are called '{twice}', so the columns cannot be matched by name. Give every \
                 column a name of its own, or the same columns in the same order."
            ));
        }
    }
    let places: HashMap<&str, usize> =
        given.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    let lacking: Vec<&str> =
        known.iter().map(String::as_str).filter(|name| !places.contains_key(name)).collect();
    let wanted: HashSet<&str> = known.iter().map(String::as_str).collect();
    let extra: Vec<&str> = given.iter().map(String::as_str).filter(|name| !wanted.contains(name)).collect();
    if !lacking.is_empty() {
        let unknown = if extra.is_empty() {
            String::new()
        } else {
            format!(
                " It has {} that were not there in training: {}.",
                counted(extra.len(), "column", "columns"),
                list(&extra)
            )
        };
        return Err(format!(
            "{} of training not in this file: {}.{unknown} Add or rename them; a file without names is taken in the \
             order of training.",
            counted(lacking.len(), "column is", "columns are"),
            list(&lacking)
        ));
    }
    let order: Vec<usize> = known.iter().map(|name| places[name.as_str()]).collect();
    if !order.is_sorted() {
        said.push(
            "The columns come in another order than in training and are matched by their names.".into(),
        );
    }
    if !extra.is_empty() {
        said.push(format!(
            "{} left out, because training did not have {}: {}.",
            counted(extra.len(), "column is", "columns are"),
            if extra.len() == 1 { "it" } else { "them" },
            list(&extra)
        ));
    }
    Ok(order)
}

/// Pairs of rows after some were left out: those of rows that are gone go with them.
pub fn moved(pairs: Vec<(usize, usize)>, kept: [Option<&[usize]>; 2]) -> Vec<(usize, usize)> {
    let now = |kept: Option<&[usize]>, row: usize| match kept {
        Some(kept) => kept.binary_search(&row).ok(),
        None => Some(row),
    };
    pairs.into_iter().filter_map(|(x, y)| Some((now(kept[0], x)?, now(kept[1], y)?))).collect()
}

/// The first row whose embedding is not finite: its values are too far from those of training.
pub fn lost(embedded: &Dense) -> Option<usize> {
    (0..embedded.rows()).find(|row| embedded.row(*row).iter().any(|v| !v.is_finite()))
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn list(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(NAMED).map(|name| format!("'{name}'")).collect();
    match names.len().saturating_sub(NAMED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: f32 = f32::NAN;

    fn side(names: &[&str], missing: MissingChoice) -> Side {
        let columns = (!names.is_empty()).then(|| names.iter().map(|name| (*name).to_owned()).collect());
        Side { columns, missing, means: Some(vec![7.0, 8.0, 9.0]), ..Side::new(3, Vec::new()) }
    }

    fn table(names: &[&str], cols: usize, values: &[f32]) -> Table {
        let columns = (!names.is_empty()).then(|| names.iter().map(|name| (*name).to_owned()).collect());
        Table { rows: values.len() / cols, cols, values: values.to_vec(), columns, ..Table::default() }
    }

    fn numbers(count: usize) -> Vec<f32> {
        (0..count).map(|v| v as f32).collect()
    }

    #[test]
    fn columns_in_another_order_are_matched_by_name_and_that_is_said() {
        let side = side(&["a", "b", "c"], MissingChoice::Keep);
        let new = table(&["c", "a", "b"], 3, &numbers(12));
        let fit = fit(&side, &new, MissingChoice::Keep).expect("follows");
        assert!(fit.said[0].contains("another order"), "{:?}", fit.said);
        let (points, kept) = fit.rows(&new);
        assert_eq!(points.row(0), [1.0, 2.0, 0.0]);
        assert_eq!(points.row(3), [10.0, 11.0, 9.0]);
        assert_eq!(kept, None);
        let same = table(&["a", "b", "c"], 3, &numbers(12));
        assert!(super::fit(&side, &same, MissingChoice::Keep).expect("follows").said.is_empty());
    }

    #[test]
    fn columns_that_training_did_not_have_are_left_out_and_lacking_ones_are_named() {
        let side = side(&["a", "b", "c"], MissingChoice::Keep);
        // What is missing in a column that nobody needs is no trouble.
        let mut values = numbers(16);
        values[1] = GAP;
        let new = table(&["a", "batch", "b", "c"], 4, &values);
        let fit = fit(&side, &new, MissingChoice::Keep).expect("follows");
        assert!(fit.said.len() == 1 && fit.said[0].contains("'batch'"), "{:?}", fit.said);
        assert_eq!(fit.rows(&new).0.row(1), [4.0, 6.0, 7.0]);
        let refused = super::fit(&side, &table(&["a", "B", "d"], 3, &numbers(12)), MissingChoice::Keep);
        let words = refused.expect_err("b and c are lacking");
        assert!(words.contains("'b', 'c'") && words.contains("'B', 'd'"), "{words}");
        let twice = super::fit(&side, &table(&["a", "a", "b"], 3, &numbers(12)), MissingChoice::Keep);
        assert!(twice.expect_err("which a?").contains("'a'"));
    }

    #[test]
    fn without_names_columns_go_by_position_and_are_counted() {
        for (known, given) in [(&["a", "b", "c"][..], &[][..]), (&[], &["x", "y", "z"]), (&[], &[])] {
            let side = side(known, MissingChoice::Keep);
            let new = table(given, 3, &numbers(12));
            assert_eq!(
                fit(&side, &new, MissingChoice::Keep).expect("follows").rows(&new).0.data(),
                numbers(12)
            );
        }
        let refused = fit(
            &side(&["a", "b", "c"], MissingChoice::Keep),
            &table(&[], 2, &numbers(12)),
            MissingChoice::Keep,
        );
        let words = refused.expect_err("two of three columns");
        assert!(words.contains("2 columns") && words.contains("trained on 3"), "{words}");
    }

    #[test]
    fn missing_values_are_treated_as_in_training_unless_somebody_decides_otherwise() {
        let names = ["b", "a", "c"];
        let mut values = numbers(18);
        (values[3], values[4], values[11]) = (GAP, GAP, GAP);
        let new = table(&names, 3, &values);
        let followed = |before, now| {
            let side = side(&["a", "b", "c"], before);
            fit(&side, &new, now).map(|fit| (fit.rows(&new), fit.said.join(" ")))
        };
        let ((points, kept), said) = followed(MissingChoice::Mean, MissingChoice::Keep).expect("filled");
        assert_eq!((points.row(1), points.row(3)), (&[7.0, 8.0, 5.0][..], &[10.0, 9.0, 9.0][..]));
        assert!(kept.is_none() && said.contains("mean in training, as in training"), "{said}");
        let ((points, kept), said) =
            followed(MissingChoice::DropRows, MissingChoice::Keep).expect("left out");
        assert_eq!((points.rows(), kept), (4, Some(vec![0, 2, 4, 5])));
        assert!(said.contains("2 rows are left out"), "{said}");
        let ((points, _), said) = followed(MissingChoice::DropRows, MissingChoice::Zero).expect("filled");
        assert_eq!((points.row(1), points.rows()), (&[0.0, 0.0, 5.0][..], 6));
        assert!(!said.contains("as in training"), "{said}");
        let words = followed(MissingChoice::Keep, MissingChoice::Keep).expect_err("nobody has decided");
        assert!(words.contains("3 values are missing in 2 rows"), "{words}");
    }

    #[test]
    fn too_few_rows_are_refused_before_anything_is_matched() {
        let mut values = numbers(12);
        values[0] = GAP;
        let refused = fit(&side(&[], MissingChoice::DropRows), &table(&[], 3, &values), MissingChoice::Keep);
        assert!(refused.expect_err("three are left").contains("3 rows are left"));
    }

    #[test]
    fn pairs_follow_the_rows_that_stay() {
        let pairs = vec![(0, 1), (1, 0), (2, 2)];
        assert_eq!(moved(pairs.clone(), [Some(&[0, 2]), None]), [(0, 1), (1, 2)]);
        assert_eq!(moved(pairs.clone(), [None, Some(&[1, 2])]), [(0, 0), (2, 1)]);
        assert_eq!(moved(pairs.clone(), [None, None]), pairs);
    }

    #[test]
    fn embeddings_that_are_no_numbers_are_noticed() {
        assert_eq!(lost(&Dense::new(2, 2, vec![1.0, 2.0, 3.0, f32::INFINITY])), Some(1));
        assert_eq!(lost(&Dense::new(1, 2, vec![1.0, 2.0])), None);
    }

    #[test]
    fn what_is_left_over_follows_its_column_and_the_rows_that_stay() {
        let mut values = numbers(15);
        values[4] = GAP;
        let low = vec![0.1, 0.2, 0.3, 0.4, 0.5];
        let remainders = vec![Remainder { column: 0, values: low }];
        let new = Table { remainders, ..table(&["c", "a", "b"], 3, &values) };
        let fit = fit(&side(&["a", "b", "c"], MissingChoice::DropRows), &new, MissingChoice::Keep);
        let fit = fit.expect("follows");
        let (_, kept) = fit.rows(&new);
        let left = fit.remainders(&new, kept.as_deref());
        assert_eq!(left, [Remainder { column: 2, values: vec![0.1, 0.3, 0.4, 0.5] }]);
    }
}
