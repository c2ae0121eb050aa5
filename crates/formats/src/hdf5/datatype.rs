//! What the elements of a data set are, and what their bytes mean.

use super::broken;
use super::cursor::Cursor;
use crate::{Kind, Trouble};

/// No honest type is nested deeper.
const DEEPEST: u8 = 8;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Datatype {
    Number(Number),
    /// Text of a fixed number of bytes.
    Text {
        size: usize,
        spaces: bool,
    },
    /// Text of any length, in the global heap.
    LongText {
        size: usize,
    },
    /// Names for numbers; what numpy's booleans become.
    Names {
        base: Number,
        names: Vec<(String, f64)>,
    },
    /// Several fields an element.
    Fields {
        size: usize,
        fields: Vec<Field>,
    },
    /// A short array an element.
    Array {
        count: usize,
        base: Box<Datatype>,
    },
    /// Something that holds no data for us.
    Other {
        size: usize,
        what: &'static str,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) offset: usize,
    pub(crate) datatype: Datatype,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) size: usize,
    pub(crate) sort: Sort,
    pub(crate) big_endian: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Signed,
    Unsigned,
    Float,
    /// Two bytes with the exponent of a 32-bit float.
    BrainFloat,
}

impl Datatype {
    pub(crate) fn parse(body: &[u8]) -> Result<Self, Trouble> {
        Self::next(&mut Cursor::new(body), 0)
    }

    /// The bytes that an element takes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Number(number) | Self::Names { base: number, .. } => number.size,
            Self::Text { size, .. } | Self::LongText { size } => *size,
            Self::Fields { size, .. } | Self::Other { size, .. } => *size,
            Self::Array { count, base } => count.saturating_mul(base.size()),
        }
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(self, Self::Text { .. } | Self::LongText { .. })
    }

    /// The number that an element is, or why it is none.
    pub(crate) fn number(&self) -> Result<Number, Trouble> {
        let what = match self {
            Self::Number(number) | Self::Names { base: number, .. } => return Ok(*number),
            Self::Text { .. } | Self::LongText { .. } => "text",
            Self::Fields { fields, .. } if fields.len() == 2 => "complex numbers or pairs",
            Self::Fields { .. } => "records with several fields",
            Self::Array { .. } => "small arrays",
            Self::Other { what, .. } => what,
        };
        Err(Trouble::new(
            Kind::Unsupported,
            format!("The data are {what}, not numbers."),
            "Choose another array, or store it as 32-bit floats.",
        ))
    }

    fn next(cursor: &mut Cursor<'_>, depth: u8) -> Result<Self, Trouble> {
        if depth > DEEPEST {
            return Err(broken("a data type is nested too deeply"));
        }
        let first = cursor.u8()?;
        let (class, version) = (first & 15, first >> 4);
        let bits = cursor.uint(3)?;
        let size = cursor.u32()? as usize;
        let big_endian = bits & 1 != 0;
        let other = |what| Self::Other { size, what };
        Ok(match class {
            0 | 4 => {
                let (offset, precision) = (cursor.u16()?, usize::from(cursor.u16()?));
                let sort = if class == 0 && bits & 8 != 0 { Sort::Signed } else { Sort::Unsigned };
                if !(1..=8).contains(&size) || offset != 0 || precision != size * 8 {
                    other("integers of an unusual width")
                } else {
                    Self::Number(Number { size, sort, big_endian })
                }
            }
            1 => {
                cursor.skip(5)?;
                let exponent = cursor.u8()?;
                cursor.skip(1)?;
                let mantissa = cursor.u8()?;
                cursor.skip(4)?;
                let sort = match (size, exponent, mantissa) {
                    (2, 5, 10) | (4, 8, 23) | (8, 11, 52) => Sort::Float,
                    (2, 8, 7) => Sort::BrainFloat,
                    _ => return Ok(other("floating-point numbers of an unusual width")),
                };
                if bits & 64 != 0 {
                    return Ok(other("floating-point numbers in VAX byte order"));
                }
                Self::Number(Number { size, sort, big_endian })
            }
            2 => {
                cursor.skip(2)?;
                other("times")
            }
            3 => Self::Text { size, spaces: bits & 15 == 2 },
            5 => {
                cursor.skip((bits & 255) as usize)?;
                other("opaque bytes")
            }
            6 => Self::Fields {
                size,
                fields: Self::fields(cursor, (bits & 0xffff) as usize, size, version, depth)?,
            },
            7 => other("references"),
            8 => Self::names(cursor, (bits & 0xffff) as usize, version, depth)?,
            9 => {
                Self::next(cursor, depth + 1)?;
                if bits & 15 == 1 { Self::LongText { size } } else { other("arrays of differing lengths") }
            }
            10 => {
                let rank = usize::from(cursor.u8()?);
                cursor.skip(if version < 3 { 3 } else { 0 })?;
                let mut count = 1_usize;
                for _ in 0..rank {
                    count = count.saturating_mul(cursor.u32()? as usize);
                }
                cursor.skip(if version < 3 { 4 * rank } else { 0 })?;
                Self::Array { count, base: Box::new(Self::next(cursor, depth + 1)?) }
            }
            11 => other("complex numbers"),
            _ => other("of an unknown type"),
        })
    }

    fn fields(
        cursor: &mut Cursor<'_>,
        count: usize,
        size: usize,
        version: u8,
        depth: u8,
    ) -> Result<Vec<Field>, Trouble> {
        let mut fields = Vec::new();
        for _ in 0..count {
            let name = Self::name(cursor, version)?;
            let wide = if version < 3 { 4 } else { super::btree::bytes_for(size as u64) };
            let offset = cursor.size(wide)?;
            let mut repeated = 1_usize;
            if version == 1 {
                let rank = usize::from(cursor.u8()?).min(4);
                cursor.skip(11)?;
                for place in 0..4 {
                    let length = cursor.u32()? as usize;
                    repeated = repeated.saturating_mul(if place < rank { length } else { 1 });
                }
            }
            let datatype = Self::next(cursor, depth + 1)?;
            let datatype = match repeated {
                1 => datatype,
                count => Self::Array { count, base: Box::new(datatype) },
            };
            if offset.saturating_add(datatype.size()) > size {
                return Err(broken("a field lies outside its record"));
            }
            fields.push(Field { name, offset, datatype });
        }
        Ok(fields)
    }

    fn names(cursor: &mut Cursor<'_>, count: usize, version: u8, depth: u8) -> Result<Self, Trouble> {
        let base = Self::next(cursor, depth + 1)?.number()?;
        let mut texts = Vec::new();
        for _ in 0..count {
            texts.push(Self::name(cursor, version)?);
        }
        let mut names = Vec::new();
        for text in texts {
            names.push((text, base.get(cursor.take(base.size)?)));
        }
        Ok(Self::Names { base, names })
    }

    /// Before version 3 names are filled up to a multiple of eight bytes.
    fn name(cursor: &mut Cursor<'_>, version: u8) -> Result<String, Trouble> {
        let before = cursor.position();
        let name = cursor.text()?;
        let length = cursor.position() - before;
        cursor.skip(if version < 3 { length.next_multiple_of(8) - length } else { 0 })?;
        Ok(name)
    }
}

impl Number {
    pub(crate) fn is_whole(self) -> bool {
        matches!(self.sort, Sort::Signed | Sort::Unsigned)
    }

    /// The value of one element; `bytes` are exactly its own.
    pub(crate) fn get(self, bytes: &[u8]) -> f64 {
        let join = |sum: u64, &byte: &u8| sum << 8 | u64::from(byte);
        // The usual widths first: they are one load each.
        let bits = match (bytes, self.big_endian) {
            (&[a, b, c, d], false) => u64::from(u32::from_le_bytes([a, b, c, d])),
            (&[a, b, c, d, e, f, g, h], false) => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            (_, false) => bytes.iter().rev().fold(0, join),
            (_, true) => bytes.iter().fold(0, join),
        };
        match (self.sort, self.size) {
            (Sort::Unsigned, _) => bits as f64,
            (Sort::Signed, size) => {
                let unused = 64 - 8 * size.clamp(1, 8) as u32;
                ((bits << unused) as i64 >> unused) as f64
            }
            (Sort::BrainFloat, _) => f64::from(f32::from_bits((bits as u32) << 16)),
            (Sort::Float, 2) => half(bits as u16),
            (Sort::Float, 4) => f64::from(f32::from_bits(bits as u32)),
            (Sort::Float, _) => f64::from_bits(bits),
        }
    }
}

/// A 16-bit float.
fn half(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    sign * match exponent {
        0 => mantissa * 2_f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + mantissa) * 2_f64.powi(exponent - 25),
    }
}

/// A text of a fixed number of bytes, without what fills it up.
pub(crate) fn fixed_text(bytes: &[u8], spaces: bool) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let text = String::from_utf8_lossy(bytes.get(..end).unwrap_or_default());
    if spaces { text.trim_end_matches(' ').to_owned() } else { text.into_owned() }
}
