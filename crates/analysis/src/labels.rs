//! Labels of both sides under one numbering, so that the same name has the same code, and with it the same colour,
//! on either side, while a run is under way and when it is done.

use std::collections::HashMap;

use super::rows::Rows;
use schema::LabelColumn;

/// Label codes of both sides, the same for the same name, and the names by their codes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coded {
    /// One a row, −1 where it is missing; without labels all the same.
    pub codes: [Vec<f32>; 2],
    pub columns: [LabelColumn; 2],
    /// Whether both sides have labels.
    pub both: bool,
}

impl Coded {
    /// Numbers the labels of so many rows a side in the order of their first appearance, X before Y.
    pub fn new(rows: &[Rows; 2], counts: [usize; 2]) -> Self {
        let mut seen: HashMap<&str, f32> = HashMap::new();
        let mut names: Vec<String> = Vec::new();
        let codes = [0, 1].map(|side| {
            let rows = &rows[side];
            let code = |i: usize| {
                let label = rows.label(i);
                if rows.labels.is_some() && label.is_empty() {
                    return -1.0;
                }
                *seen.entry(label).or_insert_with(|| {
                    names.push(label.to_owned());
                    (names.len() - 1) as f32
                })
            };
            (0..counts[side]).map(code).collect()
        });
        let columns = rows.each_ref().map(|rows| LabelColumn {
            name: rows.labels.as_ref().map(|labels| labels.name.clone()).unwrap_or_default(),
            names: if rows.labels.is_some() { names.clone() } else { Vec::new() },
        });
        Self { codes, columns, both: rows.iter().all(|rows| rows.labels.is_some()) }
    }

    /// The codes of some rows of a side, as they are shown: none unless both sides have labels.
    pub fn shown(&self, side: usize, rows: impl IntoIterator<Item = usize>) -> Vec<f32> {
        if !self.both {
            return Vec::new();
        }
        rows.into_iter().filter_map(|row| self.codes[side].get(row).copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use formats::Labels;

    /// A side whose own numbering is that of `names`.
    fn side(names: &[&str], codes: &[u32]) -> Rows {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Rows { ids: None, labels: Some(Labels { name: "kind".into(), names, codes: codes.to_vec() }) }
    }

    #[test]
    fn the_same_name_has_the_same_code_on_both_sides() {
        let x = side(&["root", "leaf"], &[0, 1, 1, Labels::MISSING]);
        let y = side(&["flower", "leaf", "root"], &[0, 1, 2]);
        let coded = Coded::new(&[x, y], [4, 3]);
        assert_eq!(coded.columns[0].names, ["root", "leaf", "flower"]);
        assert_eq!(coded.columns[1].names, coded.columns[0].names);
        assert_eq!(coded.codes, [vec![0.0, 1.0, 1.0, -1.0], vec![2.0, 1.0, 0.0]]);
        // A part of the rows, as it is seen while a run is under way, has the codes of the whole.
        assert_eq!(coded.shown(0, [3, 0]), [-1.0, 0.0]);
        assert_eq!(coded.shown(1, [2, 1]), [0.0, 1.0]);
        assert!(coded.both);
    }

    #[test]
    fn labels_of_one_side_alone_are_not_shown() {
        let coded = Coded::new(&[side(&["a"], &[0, 0]), Rows::default()], [2, 2]);
        assert!(!coded.both && coded.columns[1].names.is_empty());
        assert!(coded.shown(0, 0..2).is_empty());
        assert_eq!(coded.codes[1].len(), 2);
    }
}
