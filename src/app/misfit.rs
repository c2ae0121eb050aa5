//! Files that do not fit together, noticed as soon as they are loaded. Plain arithmetic, tested natively.

use schema::{Side, Slot};

/// What does not fit, given the rows and columns of the tables that are loaded.
pub fn misfit(size: &impl Fn(Slot) -> Option<(usize, usize)>) -> Option<String> {
    for side in Side::BOTH {
        let letter = side.letter().to_uppercase();
        let rows = size(Slot::Features(side)).map(|(rows, _)| rows);
        if let Some((n, m)) = size(Slot::Distances(side)) {
            if n != m {
                return Some(format!(
                    "The distances of {letter} have {n} rows and {m} columns. They have to be square: a row and a \
                     column for every point."
                ));
            }
            if let Some(rows) = rows.filter(|rows| *rows != n) {
                return Some(format!(
                    "The distances of {letter} are between {n} points, but {letter} has {rows} rows. Give both for \
                     the same points, or remove one."
                ));
            }
        }
        let points = rows.or_else(|| size(Slot::Distances(side)).map(|(n, _)| n));
        if let (Some((n, _)), Some(points)) = (size(Slot::Shared(side)), points)
            && n != points
        {
            return Some(format!(
                "The shared columns of {letter} have {n} rows, but {letter} has {points}. Every row needs its own."
            ));
        }
    }
    match Side::BOTH.map(|side| size(Slot::Shared(side))) {
        [Some(_), None] => Some(one_sided("X", "Y")),
        [None, Some(_)] => Some(one_sided("Y", "X")),
        [Some((_, x)), Some((_, y))] if x != y => Some(format!(
            "{x} shared columns are given for X and {y} for Y. Give the same columns, in the same order, on both sides."
        )),
        _ => None,
    }
}

fn one_sided(has: &str, lacks: &str) -> String {
    format!(
        "Shared columns are given for {has} only. Add the same columns of {lacks} under More files, or remove them."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(tables: &[(Slot, (usize, usize))]) -> String {
        misfit(&|slot| tables.iter().find(|(known, _)| *known == slot).map(|(_, size)| *size))
            .unwrap_or_default()
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let (x, y) = ((Slot::Features(Side::X), (90, 6)), (Slot::Features(Side::Y), (80, 5)));
        let distances = |side, size| (Slot::Distances(side), size);
        let shared = |side, size| (Slot::Shared(side), size);
        assert_eq!(said(&[x, y]), "");
        assert!(said(&[x, y, distances(Side::X, (90, 89))]).contains("90 rows and 89 columns"));
        assert!(said(&[x, y, distances(Side::Y, (90, 90))]).contains("Y has 80 rows"));
        assert_eq!(said(&[x, distances(Side::Y, (70, 70))]), "", "distances alone are enough");
        assert!(said(&[x, y, shared(Side::Y, (80, 2))]).contains("given for Y only"));
        assert!(
            said(&[x, y, shared(Side::X, (90, 2)), shared(Side::Y, (80, 3))]).contains("2 shared columns")
        );
        assert!(said(&[x, y, shared(Side::X, (9, 2)), shared(Side::Y, (80, 2))]).contains("have 9 rows"));
        assert_eq!(said(&[x, y, shared(Side::X, (90, 2)), shared(Side::Y, (80, 2))]), "");
    }
}
