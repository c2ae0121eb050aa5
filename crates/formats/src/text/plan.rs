//! Everything that is decided about a text before it is read.

use super::fields::{self, Delimiter};
use super::layout::{self, Sample, Sign};
use super::number::{self, Cell};
use super::roles::{self, Guess};
use crate::{Choices, Decision, Kind, Trouble};

pub(crate) struct Plan {
    pub(crate) delimiter: Delimiter,
    /// The decimal sign.
    pub(crate) point: u8,
    /// How many fields a record has.
    pub(crate) width: usize,
    /// The names of the columns, one for each field.
    pub(crate) names: Option<Vec<String>>,
    /// How many records stand before the data.
    pub(crate) skip: usize,
    /// Whether a name is not UTF-8.
    pub(crate) latin: bool,
    pub(crate) roles: Vec<Guess>,
    pub(crate) why_ids: &'static str,
    /// Whether rows and columns will be exchanged: then a row of texts is a column of labels.
    pub(crate) turned: bool,
    /// About how many bytes a record takes.
    pub(crate) record_bytes: f64,
    pub(crate) decisions: Vec<Decision>,
    /// What may well be otherwise.
    pub(crate) notice: Option<String>,
}

impl Plan {
    /// Plans from the beginning of a text. With `last` that is all of it.
    pub(crate) fn new(sample: &[u8], last: bool, choices: &Choices) -> Result<Self, Trouble> {
        let (delimiter, decision) = layout::delimiter(sample, last, choices)?;
        let mut decisions = vec![decision];
        let mut cut = Sample::cut(sample, delimiter, last);
        if cut.records.is_empty() {
            return Err(if last && !sample.contains(&b'"') {
                Trouble::new(
                    Kind::Empty,
                    "There is no line of data in the file.",
                    "Choose a file with a table.",
                )
            } else {
                Trouble::new(
                    Kind::Broken,
                    "The first line does not end, or a quote that it opens is never closed.",
                    "Check the first line's quotes, and that the file is a table.",
                )
            });
        }
        let record_bytes = cut.bytes.max(1) as f64 / cut.records.len() as f64;
        let Sign { point, decision, notice } = layout::point(&cut, delimiter, choices);
        decisions.extend(decision);

        let mut width = cut.width();
        // A delimiter at the end of each line opens no further column.
        let trails = |record: &Vec<Vec<u8>>| record.len() < width || record.last().is_some_and(Vec::is_empty);
        let first_width = cut.records.first().map_or(0, Vec::len);
        if width > 1 && first_width + 1 == width && cut.records.iter().skip(1).all(trails) {
            width -= 1;
        }
        let (header, why) = layout::header(&cut, width, point, choices);
        decisions.push(Decision::new("header", if header { "yes" } else { "no" }, why));
        let mut names = None;
        let (mut short, mut latin) = (false, false);
        if header {
            let cells = cut.records.remove(0);
            latin = cells.iter().any(|cell| std::str::from_utf8(cell).is_err());
            let mut first: Vec<String> = cells.iter().map(|cell| fields::text(cell)).collect();
            if first.len() > width && first.last().is_some_and(String::is_empty) {
                first.pop();
            }
            if cut.records.is_empty() {
                width = first.len();
            }
            // Row names may be whole numbers, but other numbers are values whose column lacks a name.
            let is_name = |c: &Vec<u8>| number::is_integer(c) || number::cell(c, point) == Cell::Text;
            short = first.len() + 1 == width && cut.records.iter().filter_map(|r| r.first()).all(is_name);
            if short {
                first.insert(0, String::new());
            }
            // Then the first row will be found to be too short, or too long.
            width = if first.len() > width { first.len() } else { width };
            if first.len() < width {
                let what = format!("The header has {} fields, the rows below have {width}.", first.len());
                return Err(Trouble::new(
                    Kind::Ragged,
                    what,
                    "Give each column one name; begin a title above the table with #.",
                )
                .at("header"));
            }
            names = Some(first);
        } else if choices.header.is_none() {
            names = cut.comment.as_deref().and_then(|comment| named_by(comment, width, delimiter, point));
            if names.is_some() {
                decisions.pop();
                decisions.push(Decision::new(
                    "header",
                    "comment",
                    "The comment above the data names the columns.",
                ));
            }
        }
        let (roles, why_ids) = roles::guess(&cut, names.as_deref(), short, width, point, choices)?;
        let skip = usize::from(header) + usize::from(cut.hint);
        let turned = choices.transpose;
        Ok(Self {
            delimiter,
            point,
            notice,
            width,
            names,
            skip,
            latin,
            roles,
            why_ids,
            turned,
            record_bytes,
            decisions,
        })
    }

    /// A column's name for messages and tables.
    pub(crate) fn name(&self, column: usize) -> String {
        match self.names.as_ref().and_then(|names| names.get(column)) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("column {}", column + 1),
        }
    }

    /// "row 17, column 'age'": rows of data, counted from 1.
    pub(crate) fn place(&self, row: usize, column: usize) -> String {
        match self.names.as_ref().and_then(|names| names.get(column)) {
            Some(name) if !name.is_empty() => format!("row {}, column '{name}'", row + 1),
            _ => format!("row {}, column {}", row + 1, column + 1),
        }
    }
}

/// NumPy writes its header as a comment.
fn named_by(comment: &[u8], width: usize, delimiter: Delimiter, point: u8) -> Option<Vec<String>> {
    let text = comment.trim_ascii_start();
    let skip = text.iter().take_while(|b| matches!(b, b'#' | b'%' | b' ')).count();
    let (record, _) = fields::record(text.get(skip..)?, 0, delimiter, true)?;
    let words = record.iter().filter(|field| number::cell(&field.text, point) == Cell::Text).count();
    (width > 1 && record.len() == width && words * 2 > width)
        .then(|| record.iter().map(|field| fields::text(&field.text)).collect())
}
