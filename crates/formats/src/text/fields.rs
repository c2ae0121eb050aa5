//! Cuts text into fields: quotes, all the delimiters, all the line endings.
//!
//! A buffer may end in the middle of a record. Then nothing is returned, and the caller comes back with more.

use std::borrow::Cow;

/// What stands between two fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delimiter {
    Byte(u8),
    /// Any run of spaces and tabs.
    Blank,
}

impl Delimiter {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Byte(b',') => "comma",
            Self::Byte(b'\t') => "tab",
            Self::Byte(b';') => "semicolon",
            Self::Byte(b'|') => "bar",
            Self::Byte(_) => "character",
            Self::Blank => "space",
        }
    }

    #[inline]
    pub(crate) fn is(self, byte: u8) -> bool {
        match self {
            Self::Byte(own) => byte == own,
            Self::Blank => byte == b' ' || byte == b'\t',
        }
    }

    /// A blank that is no delimiter.
    fn pads(self, byte: u8) -> bool {
        (byte == b' ' || byte == b'\t') && !self.is(byte)
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct Field<'b> {
    pub(crate) text: Cow<'b, [u8]>,
    pub(crate) quoted: bool,
    /// Whether it is the last of its record.
    pub(crate) ends: bool,
    /// Where the next field or record begins.
    pub(crate) next: usize,
}

/// What comes next where a record may begin.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Start {
    Record(usize),
    /// A comment's place, and where the next line begins.
    Comment {
        from: usize,
        to: usize,
        next: usize,
    },
    /// The buffer ends first.
    End,
}

/// Skips empty lines. With `last` nothing follows the buffer.
pub(crate) fn start(buffer: &[u8], mut at: usize, delimiter: Delimiter, last: bool) -> Start {
    loop {
        let mut from = at;
        while buffer
            .get(from)
            .is_some_and(|b| delimiter.pads(*b) || (delimiter == Delimiter::Blank && delimiter.is(*b)))
        {
            from += 1;
        }
        match buffer.get(from) {
            None => return Start::End,
            Some(b'\n' | b'\r') => at = from + 1,
            // Spreadsheets of old end with this character.
            Some(0x1a) if last && from + 1 == buffer.len() => return Start::End,
            Some(b'#' | b'%') => {
                let length = buffer.iter().skip(from).position(|b| matches!(b, b'\n' | b'\r'));
                return match length {
                    Some(length) => Start::Comment { from, to: from + length, next: from + length + 1 },
                    None if last => Start::Comment { from, to: buffer.len(), next: buffer.len() },
                    None => Start::End,
                };
            }
            Some(_) => return Start::Record(if delimiter == Delimiter::Blank { from } else { at }),
        }
    }
}

/// The field at `at`; nothing if it may go on behind the buffer.
pub(crate) fn field(buffer: &[u8], at: usize, delimiter: Delimiter, last: bool) -> Option<Field<'_>> {
    let mut from = at;
    while buffer.get(from).is_some_and(|b| delimiter.pads(*b)) {
        from += 1;
    }
    if buffer.get(from) == Some(&b'"') {
        return quoted(buffer, from, delimiter, last);
    }
    let stop = |b: &u8| delimiter.is(*b) || *b == b'\n' || *b == b'\r';
    let end = match buffer.get(from..)?.iter().position(stop) {
        Some(length) => from + length,
        None if last => buffer.len(),
        None => return None,
    };
    let text = buffer.get(from..end)?.trim_ascii_end();
    let (ends, next) = after(buffer, end, delimiter, last)?;
    Some(Field { text: Cow::Borrowed(text), quoted: false, ends, next })
}

fn quoted(buffer: &[u8], from: usize, delimiter: Delimiter, last: bool) -> Option<Field<'_>> {
    let stop = |b: &u8| delimiter.is(*b) || *b == b'\n' || *b == b'\r';
    let mut text: Cow<'_, [u8]> = Cow::Borrowed(&[]);
    let mut at = from + 1;
    loop {
        let length = buffer.get(at..)?.iter().position(|b| *b == b'"')?;
        let piece = buffer.get(at..at + length)?;
        if text.is_empty() {
            text = Cow::Borrowed(piece);
        } else {
            text.to_mut().extend_from_slice(piece);
        }
        at += length + 1;
        match buffer.get(at) {
            Some(b'"') => {
                text.to_mut().push(b'"');
                at += 1;
            }
            None if !last => return None,
            // R may write a backslash before a quote; at a field's end, it is the text's last letter.
            Some(next) if text.ends_with(b"\\") && !stop(next) => {
                text.to_mut().pop();
                text.to_mut().push(b'"');
            }
            _ => break,
        }
    }
    // Nothing but blanks belongs between a closing quote and a delimiter; if something is there, it is text, too.
    let end = match buffer.get(at..)?.iter().position(stop) {
        Some(length) => at + length,
        None if last => buffer.len(),
        None => return None,
    };
    let extra = buffer.get(at..end)?.trim_ascii();
    if !extra.is_empty() {
        text.to_mut().extend_from_slice(extra);
    }
    let (ends, next) = after(buffer, end, delimiter, last)?;
    Some(Field { text, quoted: true, ends, next })
}

/// What follows a field that ends at `end`: whether its record ends too, and where to go on.
#[inline]
pub(crate) fn after(buffer: &[u8], end: usize, delimiter: Delimiter, last: bool) -> Option<(bool, usize)> {
    let mut at = end;
    if delimiter == Delimiter::Blank {
        while buffer.get(at).is_some_and(|b| delimiter.is(*b)) {
            at += 1;
        }
        return match buffer.get(at) {
            Some(b'\n' | b'\r') => Some((true, at + 1)),
            Some(_) => Some((false, at)),
            None => last.then_some((true, at)),
        };
    }
    match buffer.get(at) {
        Some(b'\n' | b'\r') => Some((true, at + 1)),
        Some(_) => Some((false, at + 1)),
        None => last.then_some((true, at)),
    }
}

/// A record's fields, and where the next record begins; nothing if the record may go on behind the buffer.
pub(crate) fn record(
    buffer: &[u8],
    mut at: usize,
    delimiter: Delimiter,
    last: bool,
) -> Option<(Vec<Field<'_>>, usize)> {
    let mut fields = Vec::new();
    loop {
        let field = field(buffer, at, delimiter, last)?;
        at = field.next;
        let ends = field.ends;
        fields.push(field);
        if ends {
            return Some((fields, at));
        }
    }
}

/// Text as it was meant: UTF-8, or else Latin-1 (as Windows has it).
pub(crate) fn text(bytes: &[u8]) -> String {
    const WINDOWS: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
        '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes
            .iter()
            .map(|b| match b {
                0x80..0xa0 => WINDOWS.get(usize::from(b - 0x80)).copied().unwrap_or('?'),
                _ => char::from(*b),
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, delimiter: Delimiter) -> Vec<Vec<String>> {
        let (buffer, mut at, mut out) = (text.as_bytes(), 0, Vec::new());
        loop {
            match start(buffer, at, delimiter, true) {
                Start::End => return out,
                Start::Comment { next, .. } => at = next,
                Start::Record(from) => {
                    let (fields, next) = record(buffer, from, delimiter, true).unwrap();
                    out.push(fields.iter().map(|f| super::text(&f.text)).collect());
                    at = next;
                }
            }
        }
    }

    #[test]
    fn quotes_line_endings_and_blanks_are_understood() {
        let comma = Delimiter::Byte(b',');
        assert_eq!(
            cut("a,\"b,\"\"c\"\"\nd\" , e\r\nf,g,\r\rh", comma),
            [vec!["a", "b,\"c\"\nd", "e"], vec!["f", "g", ""], vec!["h"]]
        );
        assert_eq!(
            cut("  1   2\t3  \n# no\n4 \"5 6\" 7\n", Delimiter::Blank),
            [["1", "2", "3"], ["4", "5 6", "7"]]
        );
        assert_eq!(cut("\t1\n", Delimiter::Byte(b'\t')), [["", "1"]]);
        assert_eq!(cut("\"a \\\"b\\\" c\",\"d\\\"\n", comma), [["a \"b\" c", "d\\"]]);
        assert_eq!(record(b"a,\"b", 0, comma, true), None, "a quote that is never closed");
        assert_eq!(record(b"a,b", 0, comma, false), None, "more may come");
        assert_eq!(text(b"caf\xe9 \x80"), "café €");
    }
}
