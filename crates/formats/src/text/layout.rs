//! How a text is laid out: its delimiter, its decimal sign, its header. Told from a sample of it.

use super::fields::{self, Delimiter, Start};
use super::number::{self, Cell};
use crate::{Choices, Decision, Kind, Trouble};

/// How many records are looked at.
const RECORDS: usize = 400;

/// A sample, cut into cells.
pub(crate) struct Sample {
    pub(crate) records: Vec<Vec<Vec<u8>>>,
    /// The last comment before the first record.
    pub(crate) comment: Option<Vec<u8>>,
    /// The bytes of these records.
    pub(crate) bytes: usize,
    /// Whether a line before them names the delimiter, as Excel has it.
    pub(crate) hint: bool,
}

impl Sample {
    pub(crate) fn cut(sample: &[u8], delimiter: Delimiter, last: bool) -> Self {
        let (mut records, mut comment, mut at, mut hint) = (Vec::new(), None, 0, false);
        while records.len() < RECORDS {
            match fields::start(sample, at, delimiter, last) {
                Start::End => break,
                Start::Comment { from, to, next } => {
                    if records.is_empty() {
                        comment = sample.get(from..to).map(<[u8]>::to_vec);
                    }
                    at = next;
                }
                Start::Record(from) => {
                    let Some((record, next)) = fields::record(sample, from, delimiter, last) else { break };
                    let cells: Vec<Vec<u8>> =
                        record.into_iter().map(|field| field.text.into_owned()).collect();
                    at = next;
                    if records.is_empty() && !hint && cells.first().is_some_and(|c| c.starts_with(b"sep=")) {
                        hint = true;
                    } else if cells.len() == 1 || cells.iter().any(|cell| !cell.is_empty()) {
                        records.push(cells);
                    }
                }
            }
        }
        Self { records, comment, bytes: at, hint }
    }

    /// The most frequent width of a record but the first. Among equals that of the first wins, then the larger.
    pub(crate) fn width(&self) -> usize {
        let first = self.records.first().map_or(0, Vec::len);
        let mut widths: Vec<usize> = self.records.iter().skip(1).map(Vec::len).collect();
        if widths.is_empty() {
            return first;
        }
        widths.sort_unstable();
        let count = |width: usize| widths.iter().filter(|w| **w == width).count();
        let best = |width: &usize| (count(*width), *width == first, *width);
        widths.iter().copied().max_by_key(best).unwrap_or(first)
    }

    fn cells(&self) -> impl Iterator<Item = &[u8]> {
        self.records.iter().skip(usize::from(self.records.len() > 1)).flatten().map(Vec::as_slice)
    }

    /// The share of cells that are numbers or missing, of the records but the first. Cells that another delimiter
    /// would cut count against it.
    fn numeric(&self, point: u8) -> f64 {
        let (mut all, mut numbers) = (0usize, 0.0);
        for cell in self.cells() {
            all += 1;
            numbers += match number::cell(cell, point) {
                Cell::Text if cell.iter().any(|b| b";|\t".contains(b)) => -0.5,
                Cell::Text => 0.0,
                _ => 1.0,
            };
        }
        numbers / all.max(1) as f64
    }
}

/// Finds the delimiter: the one with which records have the same width, and most cells are numbers.
pub(crate) fn delimiter(
    sample: &[u8],
    last: bool,
    choices: &Choices,
) -> Result<(Delimiter, Decision), Trouble> {
    if let Some(chosen) = choices.delimiter {
        let delimiter = match u8::try_from(chosen) {
            Ok(b' ') => Delimiter::Blank,
            Ok(byte) if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"\r\n.-+".contains(&byte) => {
                Delimiter::Byte(byte)
            }
            _ => {
                return Err(Trouble::new(
                    Kind::Unsupported,
                    format!("'{chosen}' cannot separate fields."),
                    "Choose a comma, a tab, a semicolon, a bar or a space.",
                ));
            }
        };
        return Ok((delimiter, Decision::new("delimiter", delimiter.words(), "You chose it.")));
    }
    let line = sample.split(|b| matches!(b, b'\n' | b'\r')).next().unwrap_or_default();
    if let Some([byte]) = line.strip_prefix(b"sep=") {
        let delimiter = Delimiter::Byte(*byte);
        return Ok((delimiter, Decision::new("delimiter", delimiter.words(), "The first line names it.")));
    }
    let mut best = (0.0, None);
    for byte in [Some(b','), Some(b'\t'), Some(b';'), Some(b'|'), None] {
        let candidate = byte.map_or(Delimiter::Blank, Delimiter::Byte);
        let cut = Sample::cut(sample, candidate, last);
        let width = cut.width();
        if width < 2 {
            continue;
        }
        let numeric = cut.numeric(b'.').max(if byte == Some(b',') { 0.0 } else { cut.numeric(b',') });
        // Words of a text are apart by spaces as well: only numbers make those delimiters.
        if byte.is_none() && numeric < 0.3 {
            continue;
        }
        let even = cut.records.iter().filter(|record| record.len() == width).count() as f64;
        let score = even / cut.records.len().max(1) as f64 * (0.3 + numeric);
        if score > best.0 + 1e-9 {
            best = (score, Some((candidate, width)));
        }
    }
    Ok(match best.1 {
        Some((delimiter, width)) => (
            delimiter,
            Decision::new(
                "delimiter",
                delimiter.words(),
                format!("It cuts the lines into {width} fields each."),
            ),
        ),
        None => (Delimiter::Byte(b','), Decision::new("delimiter", "none", "Each line holds one field.")),
    })
}

/// The decimal sign, and what there is to say about it.
pub(crate) struct Sign {
    pub(crate) point: u8,
    pub(crate) decision: Option<Decision>,
    /// Where it may well be otherwise, and then all numbers are others.
    pub(crate) notice: Option<String>,
}

impl Sign {
    const POINT: Self = Self { point: b'.', decision: None, notice: None };
}

/// Whether the comma is the decimal sign, or sets thousands apart.
pub(crate) fn point(sample: &Sample, delimiter: Delimiter, choices: &Choices) -> Sign {
    if let Some(comma) = choices.decimal_comma {
        let (point, name) = if comma { (b',', "comma") } else { (b'.', "point") };
        return Sign { point, decision: Some(Decision::new("decimal", name, "You chose it.")), notice: None };
    }
    if delimiter == Delimiter::Byte(b',') && !sample.cells().any(|cell| cell.contains(&b',')) {
        return Sign::POINT;
    }
    let is_exact = |c: &[u8], point: u8| matches!(number::exact(c, point), Cell::Number(_));
    let commas = || sample.cells().filter(|c| c.contains(&b',') && is_number(c, b','));
    let first = commas().next().map(|cell| String::from_utf8_lossy(cell.trim_ascii()).into_owned());
    // Each of them could be a number of thousands.
    let grouped = commas().all(|c| number::grouped(c.trim_ascii(), b'.').is_some());
    if let Some(first) = first.as_ref().filter(|_| grouped && groups_thousands(sample, delimiter)) {
        let why = format!(
            "{} of the first cells are numbers with three digits behind each comma.",
            commas().count()
        );
        let notice = format!(
            "Commas are read as setting thousands apart, as in {first}. If they are decimal signs, choose that."
        );
        let decision = Some(Decision::new("thousands", "comma", why));
        return Sign { decision, notice: Some(notice), ..Sign::POINT };
    }
    let only = |own: u8, other: u8| {
        let fits =
            |c: &&[u8]| c.contains(&own) && !number::is_missing(c) && is_exact(c, own) && !is_exact(c, other);
        sample.cells().filter(fits).count()
    };
    let (commas, points) = (only(b',', b'.'), only(b'.', b','));
    if commas > points {
        let why = format!("{commas} of the first cells are numbers with a comma, {points} with a point.");
        let notice = first.filter(|_| grouped && delimiter != Delimiter::Byte(b';')).map(|first| {
            format!(
                "Commas are read as decimal signs: {first} is {}. If they set thousands apart, choose the point as \
                 the decimal sign.",
                first.replace(',', ".")
            )
        });
        return Sign { point: b',', decision: Some(Decision::new("decimal", "comma", why)), notice };
    }
    Sign::POINT
}

/// Whether commas that could set thousands apart do. Whoever separates fields by commas rarely writes one for the decimal
/// sign, but often one for thousands; whoever does so by semicolons has commas for decimal signs. With other delimiters
/// the same columns tell, if their whole numbers without a comma are all below a thousand.
fn groups_thousands(sample: &Sample, delimiter: Delimiter) -> bool {
    match delimiter {
        Delimiter::Byte(b',') => true,
        Delimiter::Byte(b';') => false,
        _ => {
            let rows = || sample.records.iter().skip(usize::from(sample.records.len() > 1));
            let column = |at: usize| rows().filter_map(move |row| row.get(at));
            let with_commas = |at: &usize| column(*at).any(|c| c.contains(&b',') && is_number(c, b','));
            let mut plain = (0..sample.width()).filter(with_commas).flat_map(|at| {
                column(at).filter(|c| !c.contains(&b',')).filter_map(|c| match number::cell(c, b'.') {
                    Cell::Number(value) => Some(value),
                    _ => None,
                })
            });
            let first = plain.next();
            let is_small = |value: f64| value.fract() == 0.0 && value.abs() < 1000.0;
            first.is_some_and(is_small) && plain.all(is_small)
        }
    }
}

fn is_number(cell: &[u8], point: u8) -> bool {
    matches!(number::cell(cell, point), Cell::Number(_))
}

/// Whether the first record names the columns, and why. The records behind it have `width` fields.
pub(crate) fn header(sample: &Sample, width: usize, point: u8, choices: &Choices) -> (bool, String) {
    if let Some(header) = choices.header {
        return (header, "You chose it.".into());
    }
    let Some((first, rest)) = sample.records.split_first() else {
        return (false, "The file is empty.".into());
    };
    if rest.is_empty() {
        let words = first.iter().any(|cell| number::cell(cell, point) == Cell::Text);
        let numbers = first.iter().filter(|cell| is_number(cell, point)).count();
        return (words && numbers == 0, "There is a single line.".into());
    }
    if first.len() + 1 == width {
        return (true, "The first line has one field fewer than the others, as R writes it.".into());
    }
    let (mut numeric, mut words, mut gaps) = (0, 0, false);
    for (column, cell) in first.iter().enumerate() {
        let below = || rest.iter().filter_map(|record| record.get(column)).filter(|c| !number::is_missing(c));
        let (all, numbers) =
            (below().count(), below().filter(|c| number::cell(c, point) != Cell::Text).count());
        if all > 0 && numbers * 2 > all {
            numeric += 1;
            words += usize::from(number::cell(cell, point) == Cell::Text);
        }
        gaps |= column == 0 && cell.is_empty() && all == rest.len();
    }
    if words > 0 && words * 2 >= numeric {
        return (true, "It holds words above columns of numbers.".into());
    }
    // pandas numbers columns that have no name.
    let counted = |from: usize, skip: usize| {
        first.len() > skip + 1
            && first
                .iter()
                .skip(skip)
                .enumerate()
                .all(|(i, cell)| *cell == (i + from).to_string().into_bytes())
    };
    let named = || {
        let mut ids = rest.iter().filter_map(|record| record.first());
        ids.clone().all(|id| number::cell(id, point) == Cell::Text)
            || (0..).zip(&mut ids).all(|(i, id)| *id == i.to_string().into_bytes())
    };
    if gaps && (words > 0 || counted(0, 1) || counted(1, 1) || named()) {
        return (true, "Its first field is empty, as pandas and R leave it above the row names.".into());
    }
    let fractions = rest.iter().flatten().any(|cell| is_number(cell, point) && !number::is_integer(cell));
    if first.len() > 2 && fractions && (counted(0, 0) || counted(1, 0)) {
        return (true, "It counts the columns.".into());
    }
    if numeric == 0
        && first.iter().any(|cell| super::roles::is_label_name(cell) || super::roles::is_id_name(cell))
    {
        return (true, "It holds usual names of columns.".into());
    }
    (false, "The first line looks like the others.".into())
}
