//! Short lists that go with a table: labels, and pairs of rows that are known to belong together.

use std::collections::{HashMap, HashSet};

use crate::arrays::header::{self, Header};
use crate::arrays::npy::{self, Array};
use crate::chunks::{Chunks, Packing};
use crate::sniff::{self, Format};
use crate::{Choices, Kind, Labels, Source, Trouble, Watch, read, text};

/// Known pairs of rows, and what was decided about them.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Pairs {
    /// Rows of the first and of the second table, from 0.
    pub pairs: Vec<(u32, u32)>,
    pub notes: Vec<String>,
}

/// A list's columns as texts, and the columns' names.
type Columns = (Vec<Vec<String>>, Option<Vec<String>>);

/// What a list says about the rows of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    pub labels: Vec<Labels>,
    /// Names of the rows, where the table has none and the list begins with some.
    pub ids: Option<Vec<String>>,
}

/// Reads labels for `rows` rows: columns of texts or of whole numbers, with or without a header. If a column holds
/// the table's `ids`, labels go where their ids are; if not, a first column without any text twice names the rows.
pub async fn labels<S: Source, W: Watch>(
    source: &S,
    ids: Option<&[String]>,
    rows: usize,
    watch: &mut W,
) -> Result<Listed, Trouble> {
    let inner = async {
        let (columns, names) = columns(source, watch).await?;
        arrange_labels(columns, names, ids, rows)
    };
    inner.await.map_err(|trouble| trouble.of(source.name()))
}

/// Reads pairs: two columns, of row numbers or of ids. Row numbers count from 0, or from 1 if none is 0 and the
/// largest can only be counted from 1.
pub async fn pairs<S: Source, W: Watch>(
    source: &S,
    x_ids: Option<&[String]>,
    y_ids: Option<&[String]>,
    n: usize,
    m: usize,
    watch: &mut W,
) -> Result<Pairs, Trouble> {
    let inner = async {
        let (columns, names) = columns(source, watch).await?;
        arrange_pairs(columns, names.is_some(), [(x_ids, n), (y_ids, m)])
    };
    inner.await.map_err(|trouble| trouble.of(source.name()))
}

async fn columns<S: Source, W: Watch>(source: &S, watch: &mut W) -> Result<Columns, Trouble> {
    let (mut chunks, mut format) = (Chunks::whole(source, Packing::Plain), read::format(source).await?);
    if format == Format::Gzip {
        chunks = Chunks::whole(source, Packing::Gzip);
        format = sniff::format(chunks.peek(sniff::HEAD, watch).await?)?;
    }
    match format {
        Format::Text => text::strings(chunks, &Choices::default(), watch).await,
        Format::Npy => {
            let header = Header::read(chunks.peek(header::LONGEST, watch).await?)?;
            Ok(match npy::array(&header, &mut chunks, watch).await? {
                Array::Texts(texts) => (vec![texts], None),
                Array::Numbers(table) => {
                    let column = |c: usize| {
                        table.values.iter().skip(c).step_by(table.cols).map(f32::to_string).collect()
                    };
                    ((0..table.cols).map(column).collect(), None)
                }
            })
        }
        _ => Err(Trouble::new(
            Kind::Format,
            "This is not a list of labels or pairs.",
            "Choose a text with one line for each row, or a .npy array.",
        )),
    }
}

fn arrange_labels(
    mut columns: Vec<Vec<String>>,
    mut names: Option<Vec<String>>,
    ids: Option<&[String]>,
    rows: usize,
) -> Result<Listed, Trouble> {
    let mut named = None;
    let known: HashSet<&String> = ids.unwrap_or_default().iter().collect();
    // A header above texts looks like any of them; one line too many gives it away.
    let longer = columns.first().is_some_and(|column| column.len() == rows + 1);
    if names.is_none()
        && longer
        && !columns.iter().filter_map(|column| column.first()).any(|text| known.contains(text))
    {
        names = Some(columns.iter_mut().map(|column| column.remove(0)).collect());
    }
    let mut names = names.unwrap_or_else(|| columns.iter().map(|_| "labels".to_owned()).collect());
    let found = columns.len();
    if let Some(own) = columns.iter().position(|column| column.iter().any(|id| known.contains(id))) {
        let order = order(&columns.remove(own), ids.unwrap_or_default())?;
        names.remove(own);
        for column in &mut columns {
            *column = order.iter().filter_map(|row| column.get(*row).cloned()).collect();
        }
    } else if found > 1 && columns.first().is_some_and(|first| names_rows(first)) {
        let first = columns.remove(0);
        names.remove(0);
        // Row numbers are no names.
        let counted = first.iter().all(|text| text.trim().parse::<f64>().is_ok());
        named = (ids.is_none() && !counted).then_some(first);
    }
    let length = columns.first().map_or(0, Vec::len);
    if length != rows {
        return Err(Trouble::new(
            Kind::Mismatch,
            format!("The list has {length} labels, the table has {rows} rows."),
            "List one label for each row, in the same order.",
        ));
    }
    let labels =
        names.iter().zip(columns).map(|(name, column)| npy::label(name, column.into_iter())).collect();
    Ok(Listed { labels, ids: named })
}

/// Whether a column seems to name rows: no text twice, and no measurements, which may all differ as well.
fn names_rows(column: &[String]) -> bool {
    let fraction = |text: &String| text.trim().parse::<f64>().is_ok_and(|v| v.fract() != 0.0);
    !column.iter().any(fraction) && column.iter().collect::<HashSet<_>>().len() == column.len()
}

/// For each of the table's `ids` the line of the list that has it.
fn order(list: &[String], ids: &[String]) -> Result<Vec<usize>, Trouble> {
    let mut place = HashMap::new();
    for (line, id) in list.iter().enumerate() {
        if place.insert(id.as_str(), line).is_some() {
            let what = format!("The list has the id '{id}' twice.");
            return Err(Trouble::new(Kind::Duplicate, what, "Give each row one label.")
                .at(format!("row {}", line + 1)));
        }
    }
    let find = |id: &String| {
        let what = || format!("The list has no label for the row '{id}'.");
        let fix = "Add it, or list labels without ids, in the order of the rows.";
        place.get(id.as_str()).copied().ok_or_else(|| Trouble::new(Kind::Mismatch, what(), fix))
    };
    ids.iter().map(find).collect()
}

fn arrange_pairs(
    columns: Vec<Vec<String>>,
    named: bool,
    sides: [(Option<&[String]>, usize); 2],
) -> Result<Pairs, Trouble> {
    let [left, right] = <[Vec<String>; 2]>::try_from(columns).map_err(|columns| {
        Trouble::new(
            Kind::Format,
            format!("A list of pairs has two columns; this one has {}.", columns.len()),
            "Write one pair a line: a row of the first table, a row of the second.",
        )
    })?;
    let mut notes = Vec::new();
    let mut indices = Vec::new();
    let mut texts = [left, right];
    // A header above two columns of ids looks like a pair of them.
    let is_number = |text: &String| text.trim().parse::<f64>().is_ok();
    let known = |text: &String, ids: Option<&[String]>| ids.is_some_and(|ids| ids.contains(text));
    let head = texts
        .iter()
        .zip(sides)
        .all(|(column, (ids, _))| column.first().is_some_and(|text| !is_number(text) && !known(text, ids)));
    let skipped = usize::from(!named && head);
    texts
        .iter_mut()
        .filter(|column| skipped == 1 && !column.is_empty())
        .for_each(|column| drop(column.remove(0)));
    for (side, (column, (ids, rows))) in texts.iter().zip(sides).enumerate() {
        let table = if side == 0 { "first" } else { "second" };
        indices.push(side_indices(column, ids, rows, table, &mut notes)?);
    }
    let [left, right] = <[Vec<u32>; 2]>::try_from(indices).unwrap_or_default();
    let mut seen = HashSet::new();
    for (line, pair) in left.iter().zip(&right).enumerate() {
        if !seen.insert(pair) {
            let [x, y] = [0, 1].map(|side| text_at(&texts, side, line));
            let what = format!("The pair ({x}, {y}) is listed twice.");
            return Err(
                Trouble::new(Kind::Duplicate, what, "List every pair once.").at(format!("pair {}", line + 1))
            );
        }
    }
    for (rows, table) in [(&left, "first"), (&right, "second")] {
        let different = rows.iter().collect::<HashSet<_>>().len();
        if different < rows.len() {
            notes.push(format!("Some rows of the {table} table are in several pairs."));
        }
    }
    notes.dedup();
    Ok(Pairs { pairs: left.into_iter().zip(right).collect(), notes })
}

fn text_at(texts: &[Vec<String>; 2], side: usize, line: usize) -> &str {
    texts.get(side).and_then(|column| column.get(line)).map_or("", String::as_str)
}

/// The rows that one column of a list of pairs means.
fn side_indices(
    column: &[String],
    ids: Option<&[String]>,
    rows: usize,
    table: &str,
    notes: &mut Vec<String>,
) -> Result<Vec<u32>, Trouble> {
    let place: HashMap<&str, u32> = ids.unwrap_or_default().iter().map(String::as_str).zip(0..).collect();
    let outside = |line: usize, what: String| {
        let fix = "Use rows counted from 0, or the ids that the table's file has.";
        Err(Trouble::new(Kind::Mismatch, what, fix).at(format!("pair {}", line + 1)))
    };
    if column.iter().all(|text| place.contains_key(text.trim())) {
        return Ok(column.iter().filter_map(|text| place.get(text.trim()).copied()).collect());
    }
    let mut numbers = Vec::with_capacity(column.len());
    for (line, text) in column.iter().enumerate() {
        match text.trim().parse::<f64>() {
            Ok(number) if number >= 0.0 && number.fract() == 0.0 && number < f64::from(u32::MAX) => {
                numbers.push(number as u32);
            }
            _ => {
                return outside(
                    line,
                    format!("'{}' is neither a row's number nor an id of the {table} table.", text.trim()),
                );
            }
        }
    }
    let (least, most) =
        (numbers.iter().min().copied().unwrap_or(0), numbers.iter().max().copied().unwrap_or(0));
    let from_one = least > 0 && most as usize == rows;
    if from_one {
        notes.push(format!(
            "Rows of the {table} table are counted from 1: the largest number is the number of rows."
        ));
        numbers.iter_mut().for_each(|number| *number -= 1);
    } else if least > 0 {
        notes.push(format!("Rows of the {table} table are taken as counted from 0, although no 0 occurs."));
    }
    if let Some(line) = numbers.iter().position(|number| *number as usize >= rows) {
        return outside(
            line,
            format!("Row {} is beyond the {table} table, which has {rows} rows.", text_or(column, line)),
        );
    }
    Ok(numbers)
}

fn text_or(column: &[String], line: usize) -> &str {
    column.get(line).map_or("", |text| text.trim())
}
