//! The record of an earlier run beside what is loaded now: which of its files are there, and which are not the same.
//! Tested natively.

use schema::{CandidateRow, Chosen, Reading, Recorded, Slot};

/// A file that is loaded.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    pub slot: Slot,
    pub name: String,
    /// None until it is known.
    pub sha256: Option<String>,
    pub reading: Reading,
}

/// How a file of the record stands to what is loaded.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// The very same bytes, used and read as they were.
    Same,
    /// The same bytes, but read in another way.
    ReadOtherwise(Slot),
    /// The same bytes, but used as something else.
    Elsewhere(Slot),
    /// Another file is in its place: its name.
    Differs(String),
    /// It may be the same, which is being found out.
    Checking,
    Missing,
}

impl Standing {
    /// The word for automation.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::ReadOtherwise(_) => "read-otherwise",
            Self::Elsewhere(_) => "elsewhere",
            Self::Differs(_) => "differs",
            Self::Checking => "checking",
            Self::Missing => "missing",
        }
    }

    /// In words, for the file of this name that was used so.
    pub fn words(&self, file: &Recorded) -> String {
        let Recorded { name, used_as, .. } = file;
        let place = if used_as.is_empty() { String::new() } else { format!(" ({used_as})") };
        match self {
            Self::Same => format!("{name}{place} is the same file."),
            Self::ReadOtherwise(_) => {
                format!("{name}{place} is the same file, but was read in another way then.")
            }
            Self::Elsewhere(slot) => format!("{name}{place} is loaded, but as {}.", slot.words()),
            Self::Differs(held) if held == name => {
                format!("{name}{place} is not the same file: its name is, its content differs.")
            }
            Self::Differs(held) => format!("{name}{place} is missing: {held} is in its place."),
            Self::Checking => format!("{name}{place} is being compared."),
            Self::Missing => format!("{name}{place} is missing: load it."),
        }
    }
}

/// How one file of the record stands to what is loaded.
pub fn standing(file: &Recorded, held: &[Held]) -> Standing {
    let in_place = |h: &&Held| file.used_as.is_empty() || h.slot.words() == file.used_as;
    let same = |h: &&Held| h.sha256.as_ref() == Some(&file.sha256);
    if let Some(found) = held.iter().filter(in_place).find(same) {
        let as_then = file.reading.as_ref().is_none_or(|reading| *reading == found.reading);
        return if as_then { Standing::Same } else { Standing::ReadOtherwise(found.slot) };
    }
    let beside = held.iter().find(|h| h.name == file.name || (!file.used_as.is_empty() && in_place(h)));
    match beside {
        Some(beside) if beside.sha256.is_none() => Standing::Checking,
        _ if held.iter().any(|h| same(&h)) => {
            held.iter().find(same).map_or(Standing::Missing, |found| Standing::Elsewhere(found.slot))
        }
        Some(beside) => Standing::Differs(beside.name.clone()),
        None => Standing::Missing,
    }
}

/// Whether the rows that the record's pairs speak of are loaded.
pub fn rows_are_there(files: &[Recorded], held: &[Held]) -> bool {
    let data = |file: &&Recorded| {
        file.used_as.is_empty()
            || file.used_as.starts_with("data set")
            || file.used_as.starts_with("distances")
    };
    let mut data = files.iter().filter(data).peekable();
    data.peek().is_some() && data.all(|file| standing(file, held) == Standing::Same)
}

/// Which of these candidates is the one that was on show when a run was recorded.
pub fn same_candidate(chosen: &Chosen, candidates: &[CandidateRow]) -> Option<usize> {
    let is = |at: &usize| candidates.get(*at).is_some_and(|row| row.origin == chosen.origin);
    let there = Some(chosen.candidate as usize).filter(is);
    there.or_else(|| (0..candidates.len()).find(is))
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::Side;

    const X: Slot = Slot::Features(Side::X);
    const Y: Slot = Slot::Features(Side::Y);

    fn recorded(name: &str, used_as: &str, sha256: &str) -> Recorded {
        Recorded {
            name: name.into(),
            used_as: used_as.into(),
            sha256: sha256.into(),
            reading: Some(Reading::default()),
        }
    }

    fn held(slot: Slot, name: &str, sha256: &str) -> Held {
        let sha256 = (!sha256.is_empty()).then(|| sha256.to_owned());
        Held { slot, name: name.into(), sha256, reading: Reading::default() }
    }

    #[test]
    fn a_file_is_known_by_its_content_and_its_use() {
        let file = recorded("x.npy", "data set X", "aa");
        let at = |held: &[Held]| standing(&file, held);
        assert_eq!(at(&[held(X, "x.npy", "aa")]), Standing::Same);
        assert_eq!(at(&[held(X, "renamed.npy", "aa")]), Standing::Same, "a name is only a name");
        assert_eq!(at(&[held(X, "x.npy", "bb")]), Standing::Differs("x.npy".into()));
        assert_eq!(at(&[held(X, "z.npy", "bb")]), Standing::Differs("z.npy".into()));
        assert_eq!(at(&[held(Y, "x.npy", "aa")]), Standing::Elsewhere(Y));
        assert_eq!(at(&[held(X, "x.npy", "")]), Standing::Checking);
        assert_eq!(at(&[held(Y, "y.npy", "cc")]), Standing::Missing);
        assert_eq!(at(&[]), Standing::Missing);
        let mut other = held(X, "x.npy", "aa");
        other.reading.choices.transpose = true;
        assert_eq!(at(&[other]), Standing::ReadOtherwise(X));
    }

    #[test]
    fn it_is_said_by_name() {
        let file = recorded("x.npy", "data set X", "aa");
        let words = |standing: Standing| standing.words(&file);
        assert_eq!(words(Standing::Missing), "x.npy (data set X) is missing: load it.");
        assert_eq!(
            words(Standing::Differs("z.npy".into())),
            "x.npy (data set X) is missing: z.npy is in its place."
        );
        assert!(words(Standing::Differs("x.npy".into())).contains("its content differs"));
        assert_eq!(words(Standing::Elsewhere(Y)), "x.npy (data set X) is loaded, but as data set Y.");
    }

    #[test]
    fn records_that_do_not_say_what_a_file_was_for_are_compared_too() {
        let file = Recorded { reading: None, ..recorded("x.npy", "", "aa") };
        assert_eq!(standing(&file, &[held(Y, "whatever", "aa")]), Standing::Same);
        assert_eq!(standing(&file, &[held(Y, "x.npy", "bb")]), Standing::Differs("x.npy".into()));
        assert_eq!(standing(&file, &[held(Y, "y.npy", "bb")]), Standing::Missing);
    }

    #[test]
    fn pairs_come_back_with_the_rows_they_speak_of() {
        let files = [
            recorded("x.npy", "data set X", "aa"),
            recorded("y.npy", "data set Y", "bb"),
            recorded("l.csv", "labels of X", "cc"),
        ];
        let both = [held(X, "x.npy", "aa"), held(Y, "y.npy", "bb")];
        assert!(rows_are_there(&files, &both), "labels name no rows");
        assert!(!rows_are_there(&files, &both[..1]));
        assert!(!rows_are_there(&[], &both));
    }

    #[test]
    fn a_candidate_is_known_by_where_it_comes_from() {
        let row = |origin: &str| CandidateRow {
            encoder: "linear".into(),
            origin: origin.into(),
            score: 0.5,
            nuclear_norm: None,
            third_moment: None,
            alternative: false,
            difference: 0.0,
        };
        let rows = [row("a"), row("b"), row("b")];
        let chosen = |candidate, origin: &str| Chosen { candidate, of: 3, origin: origin.into() };
        assert_eq!(same_candidate(&chosen(2, "b"), &rows), Some(2));
        assert_eq!(same_candidate(&chosen(0, "b"), &rows), Some(1), "another order");
        assert_eq!(same_candidate(&chosen(1, "c"), &rows), None);
    }
}
