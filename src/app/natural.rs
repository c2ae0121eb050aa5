//! The order in which people expect names: numbers within them count as numbers.

use std::cmp::Ordering;

/// Compares names piece by piece, digits as numbers and everything else regardless of case.
pub fn order(a: &str, b: &str) -> Ordering {
    let (mut a_rest, mut b_rest) = (a, b);
    while !a_rest.is_empty() && !b_rest.is_empty() {
        let ((a_piece, a_after), (b_piece, b_after)) = (piece(a_rest), piece(b_rest));
        let numbers = a_piece.starts_with(is_digit) && b_piece.starts_with(is_digit);
        let ordered = if numbers {
            // As numbers of any length: fewer digits, without leading zeros, are less.
            let [x, y] = [a_piece, b_piece].map(|digits| digits.trim_start_matches('0'));
            x.len().cmp(&y.len()).then_with(|| x.cmp(y))
        } else {
            a_piece.to_lowercase().cmp(&b_piece.to_lowercase())
        };
        if ordered != Ordering::Equal {
            return ordered;
        }
        (a_rest, b_rest) = (a_after, b_after);
    }
    // The shorter first; names that differ in nothing else, in a fixed order.
    a_rest.len().cmp(&b_rest.len()).then_with(|| a.cmp(b))
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// The digits, or what is no digit, at the beginning of a name; and the rest.
fn piece(name: &str) -> (&str, &str) {
    let digits = name.starts_with(is_digit);
    let end = name.find(|c| is_digit(c) != digits).unwrap_or(name.len());
    name.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_within_names_count() {
        let sorted =
            ["", "7", "007x", "10", "2021-3", "2021-12", "b", "cell 2", "Cell 10", "cell 10b", "é1", "é02"];
        let mut names = sorted;
        names.reverse();
        names.sort_by(|a, b| order(a, b));
        assert_eq!(names, sorted);
        let long = ["x99999999999999999999999", "x100000000000000000000000"];
        assert_eq!(order(long[0], long[1]), Ordering::Less, "of any length");
        assert_eq!(order("a01", "a1"), Ordering::Less, "and equal ones have an order");
        assert_eq!(order("a1", "a01"), Ordering::Greater);
    }
}
