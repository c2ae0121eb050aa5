//! Numbers in text, fast: a large table is mostly digits.

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell {
    Number(f64),
    Missing,
    Infinite,
    Text,
}

/// The powers of ten that a double holds exactly.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// A number at the beginning of `bytes`, and how many bytes it takes; nothing if there is none or if it is one of
/// the few that need more care. The mantissa fits 64 bits and the power of ten is exact, so that at most two
/// roundings of a double separate the result from the right one: less than half a unit in a float's last place.
#[inline]
pub(crate) fn plain(bytes: &[u8], point: u8) -> Option<(f64, usize)> {
    let mut at = 0;
    let negative = match bytes.first()? {
        b'-' => {
            at = 1;
            true
        }
        b'+' => {
            at = 1;
            false
        }
        _ => false,
    };
    let mut mantissa: u64 = 0;
    let start = at;
    at = digits(bytes, at, &mut mantissa);
    let mut count = at - start;
    let mut exponent = 0i32;
    if bytes.get(at) == Some(&point) {
        let after = at + 1;
        at = digits(bytes, after, &mut mantissa);
        count += at - after;
        exponent = after as i32 - at as i32;
    }
    // 19 digits always fit; more would wrap around.
    if count == 0 || count > 19 {
        return None;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let mut after = at + 1;
        let down = match bytes.get(after) {
            Some(b'-') => {
                after += 1;
                true
            }
            Some(b'+') => {
                after += 1;
                false
            }
            _ => false,
        };
        let mut power = 0u64;
        at = digits(bytes, after, &mut power);
        if at == after || at - after > 4 {
            return None;
        }
        exponent += if down { -(power as i32) } else { power as i32 };
    }
    let scale = *TENS.get(exponent.unsigned_abs() as usize)?;
    let size = if exponent < 0 { mantissa as f64 / scale } else { mantissa as f64 * scale };
    Some((if negative { -size } else { size }, at))
}

/// Takes digits from `at` on into `mantissa`; returns where they end.
#[inline]
fn digits(bytes: &[u8], mut at: usize, mantissa: &mut u64) -> usize {
    while let Some(byte) = bytes.get(at) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        *mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    at
}

/// What a whole cell is. Blanks around it count for nothing.
pub(crate) fn cell(bytes: &[u8], point: u8) -> Cell {
    match exact(bytes, point) {
        // Where points are decimal signs, nobody writes a comma for another one.
        Cell::Text if point == b'.' => grouped(bytes.trim_ascii(), point).map_or(Cell::Text, Cell::Number),
        cell => cell,
    }
}

/// A number whose thousands are set apart, as in `1,234,567.8`, or with a decimal comma in `1.234.567,8`.
pub(crate) fn grouped(bytes: &[u8], point: u8) -> Option<f64> {
    let mark = if point == b',' { b'.' } else { b',' };
    let unsigned = bytes.strip_prefix(b"-").or_else(|| bytes.strip_prefix(b"+")).unwrap_or(bytes);
    let (whole, fraction) = match unsigned.iter().position(|b| *b == point) {
        Some(at) => (&unsigned[..at], &unsigned[at + 1..]),
        None => (unsigned, &[][..]),
    };
    let mut groups = whole.split(|b| *b == mark);
    let first = groups.next().filter(|group| matches!(group.len(), 1..=3) && group[0] != b'0')?;
    let mut others = groups.peekable();
    others.peek()?;
    let is_digits = |group: &[u8]| group.iter().all(u8::is_ascii_digit);
    if !is_digits(first) || !is_digits(fraction) || !others.all(|group| group.len() == 3 && is_digits(group))
    {
        return None;
    }
    let plain = bytes.iter().filter(|b| **b != mark);
    let text: String = plain.map(|b| if *b == point { '.' } else { char::from(*b) }).collect();
    text.parse().ok()
}

/// Whether a grouped number may also be one with the other decimal sign: `1,234`.
fn is_ambiguous(bytes: &[u8]) -> bool {
    bytes.iter().filter(|b| b".,".contains(b)).count() == 1
}

/// As [`cell`], but for what may be another number with another decimal sign.
pub(crate) fn exact(bytes: &[u8], point: u8) -> Cell {
    let bytes = bytes.trim_ascii();
    match plain(bytes, point) {
        Some((value, length)) if length == bytes.len() => return Cell::Number(value),
        _ if is_missing(bytes) => return Cell::Missing,
        _ => {}
    }
    let is = |word: &[u8]| bytes.eq_ignore_ascii_case(word);
    if is(b"true") {
        return Cell::Number(1.0);
    }
    if is(b"false") {
        return Cell::Number(0.0);
    }
    let unsigned = bytes.strip_prefix(b"-").or_else(|| bytes.strip_prefix(b"+")).unwrap_or(bytes);
    if [&b"inf"[..], b"infinity", b"1.#inf"].iter().any(|word| unsigned.eq_ignore_ascii_case(word)) {
        return Cell::Infinite;
    }
    // The minus of typesetters.
    if let Some(size) = bytes.strip_prefix("−".as_bytes())
        && let Some((value, length)) = plain(size, point)
        && length == size.len()
    {
        return Cell::Number(-value);
    }
    if !is_ambiguous(bytes)
        && let Some(value) = grouped(bytes, point)
    {
        return Cell::Number(value);
    }
    // `parse` also takes words ("nan", "infinity"), which are dealt with above.
    if !unsigned.iter().all(|b| b.is_ascii_digit() || matches!(b, b'e' | b'E' | b'-' | b'+') || *b == point) {
        return Cell::Text;
    }
    let text: String = bytes.iter().map(|b| if *b == point { '.' } else { char::from(*b) }).collect();
    text.parse().map_or(Cell::Text, Cell::Number)
}

/// The usual ways to say that there is no value.
pub(crate) fn is_missing(bytes: &[u8]) -> bool {
    const WORDS: [&[u8]; 16] = [
        b"", b"na", b"nan", b"n/a", b"null", b"none", b"-", b".", b"?", b"<na>", b"#n/a", b"#na", b"-nan",
        b"+nan", b"nat", b"1.#qnan",
    ];
    bytes.len() <= 7 && WORDS.iter().any(|word| bytes.eq_ignore_ascii_case(word))
}

/// Whether a cell is a whole number written as one.
pub(crate) fn is_integer(bytes: &[u8]) -> bool {
    let bytes = bytes.trim_ascii();
    let digits = bytes.strip_prefix(b"-").unwrap_or(bytes);
    !digits.is_empty() && digits.len() <= 18 && digits.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_are_told_apart() {
        for (text, want) in [
            ("1.5", Cell::Number(1.5)),
            (" +1.5 ", Cell::Number(1.5)),
            ("-.5", Cell::Number(-0.5)),
            ("5.", Cell::Number(5.0)),
            ("1e5", Cell::Number(1e5)),
            ("1E-300", Cell::Number(1e-300)),
            ("123456789012345678901234567890", Cell::Number(123456789012345678901234567890.0)),
            ("TRUE", Cell::Number(1.0)),
            ("False", Cell::Number(0.0)),
            ("−2.5", Cell::Number(-2.5)),
            ("-inf", Cell::Infinite),
            ("NA", Cell::Missing),
            ("n/a", Cell::Missing),
            ("-", Cell::Missing),
            ("", Cell::Missing),
            ("e5", Cell::Text),
            ("1e", Cell::Text),
            ("1.2.3", Cell::Text),
            ("--1", Cell::Text),
            ("1 2", Cell::Text),
            ("1,5", Cell::Text),
            ("naan", Cell::Text),
        ] {
            assert_eq!(cell(text.as_bytes(), b'.'), want, "{text:?}");
        }
        assert_eq!(cell(b"1,5", b','), Cell::Number(1.5));
        assert_eq!(cell(b"1.5", b','), Cell::Text);
        for (text, point, want) in [
            ("1,234", b'.', Cell::Number(1234.0)),
            ("-12,345,678.5", b'.', Cell::Number(-12_345_678.5)),
            ("1.234,56", b',', Cell::Number(1234.56)),
            ("1.234.567", b',', Cell::Number(1_234_567.0)),
            // It may be one and a bit.
            ("1.234", b',', Cell::Text),
            ("0,123", b'.', Cell::Text),
            ("1,23", b'.', Cell::Text),
            ("1,2345", b'.', Cell::Text),
            ("1234,567", b'.', Cell::Text),
            ("1,,234", b'.', Cell::Text),
            (",234", b'.', Cell::Text),
            ("1,234.", b'.', Cell::Number(1234.0)),
            ("1,234e5", b'.', Cell::Text),
        ] {
            assert_eq!(cell(text.as_bytes(), point), want, "{text:?}");
        }
        assert_eq!(exact(b"1,234", b'.'), Cell::Text);
    }
}
