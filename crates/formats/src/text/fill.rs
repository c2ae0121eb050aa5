//! Reads records into columns, in one pass.
//!
//! A record that the buffer does not hold to its end is taken back and read again once there is more.

use std::collections::HashMap;

use super::fields::{self, Start};
use super::number::{self, Cell};
use super::plan::Plan;
use super::roles::Guess;
use crate::remainder::{Remainders, narrow};
use crate::{Kind, Labels, Trouble, Watch, Way};

/// A column of texts, each different one stored once.
#[derive(Default)]
pub(crate) struct Texts {
    pub(crate) column: usize,
    codes: Vec<u32>,
    known: HashMap<Box<[u8]>, u32>,
    /// About how much memory they take.
    bytes: u64,
    /// Whether one of them was not UTF-8.
    pub(crate) latin: bool,
}

impl Texts {
    /// What a text takes besides its letters: its place in the table of texts, and later in a list.
    const EACH: u64 = 64;

    fn push(&mut self, text: &[u8]) -> u32 {
        if let Some(code) = self.known.get(text) {
            self.codes.push(*code);
            return *code;
        }
        let code = self.known.len() as u32;
        self.bytes += text.len() as u64 + Self::EACH;
        self.latin |= std::str::from_utf8(text).is_err();
        self.known.insert(text.into(), code);
        self.codes.push(code);
        code
    }

    /// Whether there is a text in every row, and no text twice.
    pub(crate) fn all_differ(&self) -> bool {
        self.known.len() == self.codes.len() && !self.codes.contains(&Labels::MISSING)
    }

    pub(crate) fn different(&self) -> usize {
        self.known.len()
    }

    /// The different texts in order of appearance, and each row's.
    pub(crate) fn into_labels(self, name: String) -> Labels {
        let mut names = vec![String::new(); self.known.len()];
        for (text, code) in self.known {
            if let Some(name) = names.get_mut(code as usize) {
                *name = fields::text(&text);
            }
        }
        Labels { name, names, codes: self.codes }
    }

    /// Each row's text.
    pub(crate) fn into_rows(self) -> Vec<String> {
        let differ = self.all_differ();
        let labels = self.into_labels(String::new());
        if differ {
            return labels.names;
        }
        labels
            .codes
            .iter()
            .map(|code| labels.names.get(*code as usize).cloned().unwrap_or_default())
            .collect()
    }
}

/// What has been read.
pub(crate) struct Fill<'p> {
    plan: &'p Plan,
    pub(crate) rows: usize,
    /// How many columns of numbers there are.
    pub(crate) cols: usize,
    pub(crate) values: Vec<f32>,
    pub(crate) remainders: Remainders,
    pub(crate) texts: Vec<Texts>,
    pub(crate) comments: usize,
    pub(crate) empty: usize,
    /// Columns of which the sample held no value, and then came texts.
    pub(crate) late: Vec<usize>,
    /// Rows of texts where rows and columns will be exchanged: the name of each, and its cells.
    pub(crate) across: Vec<(String, Vec<String>)>,
    /// Records to skip yet, before the data.
    skip: usize,
}

/// So many rows of texts are taken for labels; a file with more is no table that lies on its side.
const ACROSS: usize = 50;

/// A record that could be read, or not yet.
enum Taken {
    Record(usize),
    More,
}

impl<'p> Fill<'p> {
    pub(crate) fn new(plan: &'p Plan, size: Option<u64>, watch: &impl Watch) -> Result<Self, Trouble> {
        let cols = plan.roles.iter().filter(|role| **role == Guess::Numbers).count();
        let is_text = |role: &Guess| matches!(role, Guess::Ids | Guess::Text | Guess::Labels);
        let texts = (0..plan.width)
            .filter(|column| plan.roles.get(*column).is_some_and(is_text))
            .map(|column| Texts { column, ..Texts::default() })
            .collect();
        let (skip, values) = (plan.skip, Vec::new());
        let (late, across) = (Vec::new(), Vec::new());
        let remainders = Remainders::new(cols);
        let mut fill = Self {
            plan,
            rows: 0,
            cols,
            values,
            remainders,
            texts,
            comments: 0,
            empty: 0,
            late,
            across,
            skip,
        };
        if let Some(size) = size {
            let rows = (size as f64 / plan.record_bytes * 1.01) as usize;
            fill.reserve(rows.saturating_add(16).saturating_mul(cols), watch)?;
        }
        Ok(fill)
    }

    fn reserve(&mut self, more: usize, watch: &impl Watch) -> Result<(), Trouble> {
        watch.room((self.values.len().saturating_add(more) as u64).saturating_mul(4))?;
        self.values.try_reserve_exact(more).map_err(|_| {
            Trouble::new(
                Kind::TooLarge,
                "There is not enough memory for this table.",
                "Take fewer rows or columns.",
            )
        })
    }

    /// Reads the whole records of the buffer and returns how many bytes they took. With `last` nothing follows.
    pub(crate) fn take(&mut self, buffer: &[u8], last: bool, watch: &impl Watch) -> Result<usize, Trouble> {
        let delimiter = self.plan.delimiter;
        let mut at = 0;
        let texts: u64 = self.texts.iter().map(|texts| texts.bytes + texts.codes.len() as u64 * 4).sum();
        watch.room(texts + self.values.len() as u64 * 4)?;
        loop {
            match fields::start(buffer, at, delimiter, last) {
                Start::End => return Ok(if last { buffer.len() } else { at }),
                Start::Comment { next, .. } => {
                    self.comments += 1;
                    at = next;
                }
                Start::Record(from) if self.skip > 0 => {
                    let Some((_, next)) = fields::record(buffer, from, delimiter, last) else {
                        return self.stop(from, last);
                    };
                    self.skip -= 1;
                    at = next;
                }
                Start::Record(from) => {
                    // A table grows by a quarter at a time: a doubling would need thrice its size for a moment.
                    if self.values.capacity() - self.values.len() < self.cols {
                        self.reserve(self.values.len() / 4 + self.cols * 64, watch)?;
                    }
                    match self.record(buffer, from, last)? {
                        Taken::Record(next) => at = next,
                        Taken::More => {
                            self.undo();
                            return self.stop(from, last);
                        }
                    }
                }
            }
        }
    }

    fn stop(&self, from: usize, last: bool) -> Result<usize, Trouble> {
        if last {
            return Err(Trouble::new(
                Kind::Broken,
                "A quote is opened here and never closed.",
                "Close the quote, or write it twice where it is part of a text.",
            )
            .at(format!("row {}", self.rows + 1)));
        }
        Ok(from)
    }

    fn undo(&mut self) {
        self.values.truncate(self.rows * self.cols);
        self.texts.iter_mut().for_each(|texts| texts.codes.truncate(self.rows));
    }

    fn record(&mut self, buffer: &[u8], mut at: usize, last: bool) -> Result<Taken, Trouble> {
        let Plan { delimiter, point, width, ref roles, .. } = *self.plan;
        let from = at;
        let (mut text, mut blank) = (0, true);
        // Where the decimal sign separates fields as well, only quotes tell which it is.
        let fast = !delimiter.is(point);
        for (column, role) in roles.iter().enumerate() {
            if buffer.get(at) == Some(&b' ') && buffer.get(at + 1).is_some_and(|b| *b != b' ') {
                at += 1;
            }
            if fast
                && *role == Guess::Numbers
                && let Some((value, length)) = number::plain(buffer.get(at..).unwrap_or_default(), point)
                && let Some(byte) = buffer.get(at + length)
                && (delimiter.is(*byte) || *byte == b'\n' || *byte == b'\r')
                && value.abs() <= f64::from(f32::MAX)
            {
                let Some((ends, next)) = fields::after(buffer, at + length, delimiter, last) else {
                    return Ok(Taken::More);
                };
                self.push(value);
                (at, blank) = (next, false);
                if ends {
                    return self.end(column + 1, blank, at);
                }
                continue;
            }
            let Some(field) = fields::field(buffer, at, delimiter, last) else { return Ok(Taken::More) };
            blank &= field.text.is_empty();
            match role {
                Guess::Numbers => {
                    let value = match self.value(&field.text, column) {
                        Err(trouble) if trouble.kind == Kind::NotANumber && self.is_late(column) => f64::NAN,
                        Err(trouble) if trouble.kind == Kind::NotANumber => {
                            let Some((record, next)) = fields::record(buffer, from, delimiter, last) else {
                                return Ok(Taken::More);
                            };
                            let cells: Vec<&[u8]> = record.iter().map(|field| &*field.text).collect();
                            return if self.takes_across(&cells) {
                                Ok(Taken::Record(next))
                            } else {
                                Err(self.not_a_number(trouble, &cells, column))
                            };
                        }
                        value => value?,
                    };
                    self.push(value);
                }
                Guess::Ignored => {}
                Guess::Ids | Guess::Text | Guess::Labels => {
                    self.text(text, &field.text, *role)?;
                    text += 1;
                }
            }
            at = field.next;
            if field.ends {
                return self.end(column + 1, blank, at);
            }
        }
        // More fields than columns: a delimiter at the end of the line is no field.
        let mut found = width;
        loop {
            let Some(field) = fields::field(buffer, at, delimiter, last) else { return Ok(Taken::More) };
            found += 1;
            at = field.next;
            if field.ends {
                let trailing = found == width + 1 && field.text.is_empty();
                return self.end(if trailing { width } else { found }, blank, at);
            }
        }
    }

    fn push(&mut self, value: f64) {
        if self.remainders.any() {
            let column = self.values.len() - self.rows * self.cols;
            self.remainders.note(column, self.rows, value);
        }
        self.values.push(narrow(value));
    }

    /// A record of `found` fields is complete.
    fn end(&mut self, found: usize, blank: bool, next: usize) -> Result<Taken, Trouble> {
        let width = self.plan.width;
        if blank && width > 1 {
            self.undo();
            self.empty += 1;
            return Ok(Taken::Record(next));
        }
        let spare = found + 1 == width && self.plan.roles.last() == Some(&Guess::Ignored);
        if found != width && !spare {
            return Err(Trouble::new(
                Kind::Ragged,
                format!("This row has {found} fields; {width} are expected."),
                "Give every row the same number of fields; put texts that contain the delimiter in quotes.",
            )
            .at(format!("row {}", self.rows + 1)));
        }
        self.rows += 1;
        Ok(Taken::Record(next))
    }

    /// Whether a column of missing values turns out to hold texts: a remark on a few rows, for example.
    fn is_late(&mut self, column: usize) -> bool {
        const MANY: usize = 100;
        let own = self.plan.roles.iter().take(column).filter(|role| **role == Guess::Numbers).count();
        let mut above = self.values.iter().take(self.rows * self.cols).skip(own).step_by(self.cols.max(1));
        if self.late.contains(&column) {
            return true;
        }
        let late = self.rows >= MANY && above.all(|value| value.is_nan());
        if late {
            self.late.push(column);
        }
        late
    }

    /// Whether most of a record's cells are texts where numbers are expected.
    fn is_worded(&self, cells: &[&[u8]]) -> bool {
        let numbers = || cells.iter().zip(&self.plan.roles).filter(|(_, role)| **role == Guess::Numbers);
        let texts = numbers().filter(|(cell, _)| number::cell(cell, self.plan.point) == Cell::Text).count();
        texts > 1 && texts * 2 > numbers().count()
    }

    /// Takes a record of texts as labels of what are columns yet, if that is how the file is read.
    fn takes_across(&mut self, cells: &[&[u8]]) -> bool {
        if !self.plan.turned
            || self.across.len() >= ACROSS
            || cells.len() != self.plan.width
            || !self.is_worded(cells)
        {
            return false;
        }
        self.undo();
        let mut name = None;
        for texts in &mut self.texts {
            // A name that only this record has is no row's.
            if let Some(cell) = cells.get(texts.column) {
                if texts.known.get(*cell).is_some_and(|code| !texts.codes.contains(code)) {
                    texts.known.remove(*cell);
                }
                name.get_or_insert_with(|| fields::text(cell));
            }
        }
        let own = cells.iter().zip(&self.plan.roles).filter(|(_, role)| **role == Guess::Numbers);
        let own = own.map(|(cell, _)| fields::text(cell)).collect();
        let count = self.across.len() + 1;
        self.across.push((name.unwrap_or_else(|| format!("labels {count}")), own));
        true
    }

    /// Text where a number belongs, with the ways round it.
    fn not_a_number(&self, trouble: Trouble, cells: &[&[u8]], column: usize) -> Trouble {
        if !self.plan.turned && self.is_worded(cells) {
            let fix = "Most of this row is text. If the points are columns in this file, swap rows and columns: \
                       then the row becomes labels. If not, remove the row.";
            return Trouble { fix: fix.into(), ..trouble }.round([Way::Transpose]);
        }
        let name = self.plan.name(column);
        let roles = self.plan.roles.iter().enumerate();
        let labels = roles.filter(|(at, role)| {
            *at == column || **role == Guess::Labels || (**role == Guess::Text && *at > 0)
        });
        let columns = labels.map(|(at, _)| at).collect();
        trouble.round([Way::LeaveOut { column, name: name.clone() }, Way::AsLabels { columns, name }])
    }

    fn value(&self, text: &[u8], column: usize) -> Result<f64, Trouble> {
        let plan = self.plan;
        match number::cell(text, plan.point) {
            Cell::Number(value) if value.abs() <= f64::from(f32::MAX) => Ok(value),
            Cell::Missing => Ok(f64::NAN),
            Cell::Number(_) | Cell::Infinite => Err(Trouble::new(
                Kind::Infinite,
                format!("'{}' is infinite, or too large for a number of 32 bits.", shown(text)),
                "Replace it by a finite number, or leave the cell empty if the value is missing.",
            )
            .at(plan.place(self.rows, column))
            .round([Way::LeaveOut { column, name: plan.name(column) }])),
            Cell::Text => {
                let digits: Vec<u8> = text.iter().copied().filter(|b| !b"., '".contains(b)).collect();
                let fix = match number::cell(&digits, plan.point) {
                    Cell::Number(_) => {
                        "Write all numbers with the same decimal sign and without thousands separators."
                    }
                    _ => {
                        "Write a number or leave the cell empty; or take the column as labels, or leave it out."
                    }
                };
                let what = format!("'{}' is not a number.", shown(text));
                Err(Trouble::new(Kind::NotANumber, what, fix).at(plan.place(self.rows, column)))
            }
        }
    }

    fn text(&mut self, index: usize, text: &[u8], role: Guess) -> Result<(), Trouble> {
        let row = self.rows;
        let Some(texts) = self.texts.get_mut(index) else { return Ok(()) };
        if role != Guess::Ids && number::is_missing(text) {
            texts.codes.push(Labels::MISSING);
            return Ok(());
        }
        let code = texts.push(text);
        // As long as all differ, an id's number is that of its row.
        if role == Guess::Ids && (code as usize) < row {
            return Err(Trouble::new(
                Kind::Duplicate,
                format!("The id '{}' is used twice, in rows {} and {}.", shown(text), code + 1, row + 1),
                "Make the ids unique, or choose that the file has no column of ids.",
            )
            .at(self.plan.place(row, texts.column))
            .round([
                Way::LeaveOut { column: texts.column, name: self.plan.name(texts.column) },
                Way::NoIds { name: self.plan.name(texts.column) },
            ]));
        }
        Ok(())
    }
}

/// A cell for a message: not all of it, if it is long.
fn shown(text: &[u8]) -> String {
    let text = fields::text(text);
    if text.chars().count() <= 40 { text } else { text.chars().take(40).chain(['…']).collect() }
}
