//! The elements of a `.npy` array, read as they come.

use super::columns;
use super::header::{self, Element, Header};
use crate::chunks::Chunks;
use crate::finish::{self, Opened};
use crate::remainder::{Remainders, narrow};
use crate::{Choices, Kind, Labels, Source, Table, Trouble, Watch};

/// An array: of numbers or of texts.
pub(crate) enum Array {
    Numbers(Table),
    Texts(Vec<String>),
}

/// A single array as a table.
pub(crate) async fn read<S: Source, W: Watch>(
    mut chunks: Chunks<'_, S>,
    choices: &Choices,
    watch: &mut W,
) -> Result<Opened, Trouble> {
    let header = Header::read(chunks.peek(header::LONGEST, watch).await?)?;
    match array(&header, &mut chunks, watch).await? {
        Array::Numbers(mut table) => {
            let fields = columns::assign(&mut table, choices)?;
            let format = format!("NumPy array of {}", header.element.words());
            Ok(Opened { table, format, fields, ..Opened::default() })
        }
        Array::Texts(_) => Err(Trouble::new(
            Kind::NotANumber,
            "The array holds texts, not numbers.",
            "Choose an array of numbers; load this one where labels are asked for.",
        )),
    }
}

/// Reads what the header announces.
pub(crate) async fn array<S: Source, W: Watch>(
    header: &Header,
    chunks: &mut Chunks<'_, S>,
    watch: &mut W,
) -> Result<Array, Trouble> {
    let (rows, cols) = header.table()?;
    if rows == 0 || cols == 0 || header.element.size() == 0 {
        return Err(Trouble::new(
            Kind::Empty,
            format!("The array is empty: its shape is {rows} × {cols}."),
            "Choose an array with rows and columns.",
        ));
    }
    let size = header.element.size();
    let turn = header.fortran && rows > 1 && cols > 1;
    let impossible = || header::broken("a possible shape");
    let count = (rows as u64)
        .checked_mul(cols as u64)
        .filter(|count| *count < u64::MAX >> 24)
        .ok_or_else(impossible)?;
    let announced = header.body as u64 + count * size as u64;
    let short = |found: u64| {
        Trouble::new(
            Kind::Truncated,
            format!("The array ends early: {announced} bytes are announced, {found} are there."),
            "Copy or download the file again.",
        )
    };
    // Unpacked sizes are only known once they are unpacked; before that, the header is a mere claim.
    let known = chunks.size();
    if let Some(found) = known.filter(|found| *found < announced) {
        return Err(short(found));
    }
    if header.element.is_text() && cols > 1 {
        return Err(Trouble::new(
            Kind::NotANumber,
            "The array is a table of texts.",
            "Save columns of numbers and columns of texts as separate arrays.",
        ));
    }
    watch.room(count * 4 * if turn { 2 } else { 1 })?;
    let count = usize::try_from(count).map_err(|_| impossible())?;
    // Numbers of 32 bits and fewer leave nothing over.
    let remainders = Remainders::new(if header.element.is_wide() { cols } else { 0 });
    let shape = (rows, cols);
    let mut body = Body { header, shape, left: count, values: Vec::new(), remainders, texts: Vec::new() };
    if known.is_some() && !header.element.is_text() {
        body.values.try_reserve_exact(count).map_err(|_| {
            Trouble::new(
                Kind::TooLarge,
                "There is not enough memory for this array.",
                "Take fewer rows or columns.",
            )
        })?;
    }
    let (mut skip, mut rest, mut found) = (header.body, Vec::new(), 0u64);
    while body.left > 0 {
        let chunk = chunks.next(watch).await?;
        if chunk.is_empty() {
            return Err(short(found));
        }
        let taken = chunk.len();
        found += taken as u64;
        let chunk = chunk.get(skip.min(chunk.len())..).unwrap_or_default();
        skip = skip.saturating_sub(taken);
        // An element that a chunk cuts in two is completed by the next.
        if !rest.is_empty() {
            let wanted = (size - rest.len()).min(chunk.len());
            rest.extend_from_slice(chunk.get(..wanted).unwrap_or_default());
            if rest.len() < size {
                continue;
            }
            body.take(&rest, watch)?;
            rest.clear();
            rest.extend(body.take(chunk.get(wanted..).unwrap_or_default(), watch)?);
        } else {
            rest.extend(body.take(chunk, watch)?);
        }
    }
    let Body { mut values, remainders, texts, .. } = body;
    if header.element.is_text() {
        return Ok(Array::Texts(texts));
    }
    if turn {
        values = finish::turned(&values, cols, rows);
    }
    if let Some(at) = values.iter().position(|value| value.is_infinite()) {
        return Err(Trouble::new(
            Kind::Infinite,
            "A value is infinite, or too large for a number of 32 bits.",
            "Replace infinite values, for example with numpy.nan_to_num(array).",
        )
        .at(format!("row {}, column {}", at / cols + 1, at % cols + 1)));
    }
    let remainders = remainders.finish(rows);
    Ok(Array::Numbers(Table { rows, cols, values, remainders, ..Table::default() }))
}

struct Body<'h> {
    header: &'h Header,
    /// Rows and columns.
    shape: (usize, usize),
    /// Elements to come.
    left: usize,
    values: Vec<f32>,
    remainders: Remainders,
    texts: Vec<String>,
}

impl Body<'_> {
    /// Takes whole elements and returns what is left over.
    fn take<'b>(&mut self, bytes: &'b [u8], watch: &impl Watch) -> Result<&'b [u8], Trouble> {
        let size = self.header.element.size();
        let count = (bytes.len() / size).min(self.left);
        let (whole, rest) = bytes.split_at_checked(count * size).unwrap_or((bytes, &[]));
        self.left -= count;
        let big = self.header.big_endian;
        if self.header.element.is_text() {
            watch.room((self.texts.len() + count) as u64 * 32)?;
            self.texts
                .extend(whole.chunks_exact(size).map(|text| decode_text(text, self.header.element, big)));
        } else {
            if self.values.capacity() - self.values.len() < count {
                self.values.reserve_exact(count + self.values.len() / 4);
            }
            watch.room(self.values.capacity() as u64 * 4)?;
            let (from, (rows, cols)) = (self.values.len(), self.shape);
            let Self { values, remainders, .. } = self;
            extend(values, whole, self.header.element, big, |at, value| {
                if remainders.any() {
                    let place = from + at;
                    // Column after column, or row after row.
                    let (row, column) = if self.header.fortran {
                        (place % rows, place / rows)
                    } else {
                        (place / cols, place % cols)
                    };
                    remainders.note(column, row, value);
                }
            });
        }
        Ok(if self.left == 0 { &[] } else { rest })
    }
}

/// Appends the elements in `bytes`. Those of more bits than 32 are also told as they are, with their places.
fn extend(
    values: &mut Vec<f32>,
    bytes: &[u8],
    element: Element,
    big: bool,
    mut wide: impl FnMut(usize, f64),
) {
    fn each<const N: usize>(
        values: &mut Vec<f32>,
        bytes: &[u8],
        big: bool,
        mut decode: impl FnMut([u8; N]) -> f32,
    ) {
        let (elements, _) = bytes.as_chunks::<N>();
        values.extend(elements.iter().map(|element| {
            let mut element = *element;
            if big {
                element.reverse();
            }
            decode(element)
        }));
    }
    let mut at = 0;
    let mut told = |value: f64| {
        wide(at, value);
        at += 1;
        narrow(value)
    };
    match element {
        Element::Float(2) => each(values, bytes, big, |b| half(u16::from_le_bytes(b))),
        Element::Float(4) => each(values, bytes, big, f32::from_le_bytes),
        Element::Float(_) => each(values, bytes, big, |b| told(f64::from_le_bytes(b))),
        Element::Signed(1) => each(values, bytes, big, |b| f32::from(i8::from_le_bytes(b))),
        Element::Signed(2) => each(values, bytes, big, |b| f32::from(i16::from_le_bytes(b))),
        Element::Signed(4) => each(values, bytes, big, |b| told(f64::from(i32::from_le_bytes(b)))),
        Element::Signed(_) => each(values, bytes, big, |b| told(i64::from_le_bytes(b) as f64)),
        Element::Unsigned(1) => each(values, bytes, big, |[b]| f32::from(b)),
        Element::Unsigned(2) => each(values, bytes, big, |b| f32::from(u16::from_le_bytes(b))),
        Element::Unsigned(4) => each(values, bytes, big, |b| told(f64::from(u32::from_le_bytes(b)))),
        Element::Unsigned(_) => each(values, bytes, big, |b| told(u64::from_le_bytes(b) as f64)),
        Element::Bool => each(values, bytes, big, |[b]| f32::from(u8::from(b != 0))),
        Element::Unicode(_) | Element::Ascii(_) => {}
    }
}

fn decode_text(bytes: &[u8], element: Element, big: bool) -> String {
    if let Element::Ascii(_) = element {
        let end = bytes.iter().rposition(|b| *b != 0).map_or(0, |at| at + 1);
        return crate::text::fields::text(bytes.get(..end).unwrap_or_default());
    }
    let (letters, _) = bytes.as_chunks::<4>();
    let code = |b: &[u8; 4]| if big { u32::from_be_bytes(*b) } else { u32::from_le_bytes(*b) };
    let text: String = letters.iter().map(|b| char::from_u32(code(b)).unwrap_or('\u{fffd}')).collect();
    text.trim_end_matches('\0').to_owned()
}

/// IEEE half precision.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let fraction = f32::from(bits & 0x3ff) / 1024.0;
    sign * match (bits >> 10) & 0x1f {
        0 => fraction * 2f32.powi(-14),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        exponent => (1.0 + fraction) * 2f32.powi(i32::from(exponent) - 15),
    }
}

/// Texts as labels. An empty one is missing.
pub(crate) fn label(name: &str, texts: impl Iterator<Item = String>) -> Labels {
    let mut known = std::collections::HashMap::new();
    let mut labels = Labels { name: name.to_owned(), names: Vec::new(), codes: Vec::new() };
    for text in texts {
        if crate::text::number::is_missing(text.trim().as_bytes()) {
            labels.codes.push(Labels::MISSING);
            continue;
        }
        let code = *known.entry(text.clone()).or_insert_with(|| {
            labels.names.push(text);
            labels.names.len() as u32 - 1
        });
        labels.codes.push(code);
    }
    labels
}
