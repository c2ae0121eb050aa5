//! Comma-separated text for spreadsheets and data frames.
//!
//! Numbers have as many digits as it takes to read the same number again, and no more. Lines end with `\n` alone,
//! which every reader takes.

use std::io::Write as _;

use crate::{Labels, Table};

/// What one cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A name; quoted where it has to be.
    Text(&'a str),
    /// Any real number; NaN becomes an empty cell.
    Number(f32),
    /// The same for results that were computed more finely.
    Fine(f64),
    /// A count or an index.
    Whole(u64),
    /// Nothing is known.
    Missing,
}

/// Adds one line.
pub fn row<'a>(sink: &mut Vec<u8>, cells: impl IntoIterator<Item = Cell<'a>>) {
    for (at, cell) in cells.into_iter().enumerate() {
        if at > 0 {
            sink.push(b',');
        }
        put(sink, cell);
    }
    sink.push(b'\n');
}

/// A whole table: ids first, then labels, then numbers, under their names.
pub fn table(table: &Table) -> Vec<u8> {
    let Table { rows, cols, values, remainders, columns, ids, labels } = table;
    let remainder: Vec<_> = (0..*cols).map(|j| remainders.iter().find(|left| left.column == j)).collect();
    let names: Vec<String> = match columns {
        Some(names) => names.clone(),
        None => (1..=*cols).map(|j| format!("column {j}")).collect(),
    };
    let mut file = Vec::new();
    let id = ids.iter().map(|_| Cell::Text("id"));
    let of_labels = labels.iter().map(|labels| Cell::Text(&labels.name));
    row(&mut file, id.chain(of_labels).chain(names.iter().map(|name| Cell::Text(name))));
    for i in 0..*rows {
        let id = ids.iter().map(|ids| ids.get(i).map_or(Cell::Missing, |id| Cell::Text(id)));
        let of_labels = labels.iter().map(|labels| label(labels, i));
        let numbers = values.iter().skip(i * cols).take(*cols).zip(&remainder);
        let numbers = numbers.map(|(v, left)| match left.and_then(|left| left.values.get(i)) {
            Some(low) => Cell::Fine(f64::from(*v) + f64::from(*low)),
            None => Cell::Number(*v),
        });
        row(&mut file, id.chain(of_labels).chain(numbers));
    }
    file
}

fn label(labels: &Labels, row: usize) -> Cell<'_> {
    let code = labels.codes.get(row).copied().unwrap_or(Labels::MISSING);
    labels.names.get(code as usize).map_or(Cell::Missing, |name| Cell::Text(name))
}

fn put(sink: &mut Vec<u8>, cell: Cell<'_>) {
    // Writing to memory cannot fail.
    let _ = match cell {
        Cell::Text(text) => {
            put_text(sink, text);
            Ok(())
        }
        Cell::Number(v) if v.is_nan() => Ok(()),
        // Far from 1 the plain form would be a row of zeros.
        Cell::Number(v) if plain(f64::from(v)) => write!(sink, "{v}"),
        Cell::Number(v) => write!(sink, "{v:e}"),
        Cell::Fine(v) if v.is_nan() => Ok(()),
        Cell::Fine(v) if plain(v) => write!(sink, "{v}"),
        Cell::Fine(v) => write!(sink, "{v:e}"),
        Cell::Whole(v) => write!(sink, "{v}"),
        Cell::Missing => Ok(()),
    };
}

fn plain(value: f64) -> bool {
    value == 0.0 || value.is_infinite() || (1e-5..1e15).contains(&value.abs())
}

/// Quotes text that would otherwise be taken for something else: for two cells, for two lines, for text without
/// its outer spaces, or for nothing at all.
fn put_text(sink: &mut Vec<u8>, text: &str) {
    let special = |c: char| matches!(c, ',' | '"' | '\n' | '\r');
    if !text.is_empty() && !text.contains(special) && text.trim() == text {
        return sink.extend(text.as_bytes());
    }
    sink.push(b'"');
    sink.extend(text.replace('"', "\"\"").as_bytes());
    sink.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(cells: &[Cell<'_>]) -> String {
        let mut sink = Vec::new();
        row(&mut sink, cells.iter().copied());
        String::from_utf8_lossy(&sink).into_owned()
    }

    #[test]
    fn numbers_are_short_and_come_back_the_same() {
        let texts = ["0.1", "16777216", "-0.0001", "1e-30", "-3.4028235e38", "inf"];
        for text in texts {
            let value: f32 = text.parse().unwrap_or(f32::NAN);
            assert_eq!(line(&[Cell::Number(value)]), format!("{text}\n"));
        }
        assert_eq!(
            line(&[Cell::Fine(0.1 + 0.2), Cell::Fine(5e-324), Cell::Whole(u64::MAX)]),
            "0.30000000000000004,5e-324,18446744073709551615\n"
        );
        assert_eq!(line(&[Cell::Number(f32::NAN), Cell::Missing, Cell::Fine(f64::NAN)]), ",,\n");
    }

    #[test]
    fn text_is_quoted_where_it_has_to_be() {
        let texts = ["T cell", "a,b", "say \"no\"", "two\nlines", " padded", "", "Zürich"].map(Cell::Text);
        assert_eq!(
            line(&texts),
            "T cell,\"a,b\",\"say \"\"no\"\"\",\"two\nlines\",\" padded\",\"\",Zürich\n"
        );
    }

    #[test]
    fn a_table_has_its_names_and_missing_labels_stay_empty() {
        let whole = Table {
            rows: 3,
            cols: 2,
            values: vec![1.0, f32::NAN, 2.5, -1.0, 0.0, 1.0],
            remainders: Vec::new(),
            columns: None,
            ids: Some(vec!["a".into(), "b".into()]),
            labels: vec![Labels {
                name: "kind".into(),
                names: vec!["k,1".into()],
                codes: vec![Labels::MISSING, 0],
            }],
        };
        let text = String::from_utf8_lossy(&table(&whole)).into_owned();
        assert_eq!(text, "id,kind,column 1,column 2\na,,1,\nb,\"k,1\",2.5,-1\n,,0,1\n");
    }
}
