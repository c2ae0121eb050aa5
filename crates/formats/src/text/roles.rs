//! Which columns of a text are numbers, which name the rows, and which are labels.

use super::layout::Sample;
use super::number::{self, Cell};
use crate::{Choices, ColumnChoice, Kind, Role, Trouble};

/// What a column was taken for from the sample, before all of it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guess {
    Numbers,
    /// Row names for sure: a second row of the same name is an error.
    Ids,
    /// Row names if all differ, labels if not.
    Text,
    /// Labels even if all differ.
    Labels,
    Ignored,
}

impl Guess {
    pub(crate) fn role(self) -> Role {
        match self {
            Self::Numbers => Role::Numbers,
            Self::Ids => Role::Ids,
            Self::Text | Self::Labels => Role::Labels,
            Self::Ignored => Role::Ignored,
        }
    }
}

/// The roles of all columns, told from records that do not include the header, and why the column of row names is one.
pub(crate) fn guess(
    sample: &Sample,
    header: Option<&[String]>,
    short_header: bool,
    width: usize,
    point: u8,
    choices: &Choices,
) -> Result<(Vec<Guess>, &'static str), Trouble> {
    let chosen = choices.labels.iter().flatten().chain(&choices.ignore).chain(match &choices.ids {
        Some(ColumnChoice::Column(column)) => Some(column),
        _ => None,
    });
    for column in chosen {
        if *column >= width {
            return Err(Trouble::new(
                Kind::Mismatch,
                format!("Column {} was chosen, but the file has {width}.", column + 1),
                "Choose the columns again.",
            ));
        }
    }
    let name = |column: usize| header.and_then(|names| names.get(column)).map(String::as_str);
    let mut roles: Vec<Guess> = Vec::with_capacity(width);
    for column in 0..width {
        let cells = || sample.records.iter().filter_map(|record| record.get(column)).map(Vec::as_slice);
        let present = || cells().filter(|cell| !number::is_missing(cell));
        let (all, texts) =
            (present().count(), present().filter(|c| number::cell(c, point) == Cell::Text).count());
        let unnamed = name(column).is_none_or(str::is_empty);
        let trailing = column > 0 && column + 1 == width && unnamed && cells().all(<[u8]>::is_empty);
        let coded = choices.labels.is_none()
            && all > 0
            && name(column).is_some_and(|name| is_label_name(name.as_bytes()))
            && present().all(|cell| number::is_integer(cell) || number::cell(cell, point) == Cell::Text)
            && few(present());
        roles.push(if choices.ignore.contains(&column) || trailing {
            Guess::Ignored
        } else if choices.labels.as_ref().is_some_and(|labels| labels.contains(&column)) || coded {
            Guess::Labels
        } else if texts * 2 > all {
            // A text that was not chosen when labels were is no number either.
            if choices.labels.is_some() && column > 0 { Guess::Ignored } else { Guess::Text }
        } else {
            Guess::Numbers
        });
    }
    let why = match choices.ids {
        Some(ColumnChoice::Column(column)) => {
            if let Some(role) = roles.get_mut(column) {
                *role = Guess::Ids;
            }
            "You chose it."
        }
        Some(ColumnChoice::None) => {
            // What is a text stays one; it is only no name any more.
            roles.iter_mut().filter(|role| **role == Guess::Text).for_each(|role| *role = Guess::Labels);
            "You chose it."
        }
        None => find_ids(&mut roles, sample, name, short_header, header.is_some()),
    };
    Ok((roles, why))
}

/// Marks the column that names the rows by its header, if there is one.
fn find_ids<'n>(
    roles: &mut [Guess],
    sample: &Sample,
    name: impl Fn(usize) -> Option<&'n str>,
    short_header: bool,
    has_header: bool,
) -> &'static str {
    let free = |role: &Guess| matches!(role, Guess::Numbers | Guess::Text);
    let whole = |column: usize| {
        let data = || sample.records.iter().filter_map(|record| record.get(column));
        data().all(|cell| number::is_integer(cell) || number::cell(cell, b'.') == Cell::Text)
    };
    let several = roles.len() > 1;
    if let Some(first) = roles.first_mut()
        && free(first)
        && several
    {
        if short_header {
            *first = Guess::Ids;
            return "The header has no name for it, as R writes row names.";
        }
        let unnamed = has_header && name(0).is_some_and(|n| n.trim().is_empty() || n.starts_with("Unnamed:"));
        if unnamed && whole(0) {
            *first = Guess::Ids;
            return "It is the first column and has no name, as pandas and R write row names.";
        }
    }
    for (column, role) in roles.iter_mut().enumerate() {
        if several && free(role) && name(column).is_some_and(|n| is_id_name(n.as_bytes())) && whole(column) {
            *role = Guess::Ids;
            return "Its name says so.";
        }
    }
    "It is the first column of texts that are all different."
}

/// Whether there are few different cells for their number, as with labels.
fn few<'c>(cells: impl Iterator<Item = &'c [u8]>) -> bool {
    let all: Vec<&[u8]> = cells.collect();
    let different: std::collections::HashSet<&[u8]> = all.iter().copied().collect();
    different.len() <= 30 || different.len() * 2 <= all.len()
}

/// The words of a name: "Cell_Type.2" has "cell", "type" and "2"; "cellType" has "cell" and "type", too.
fn words(name: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(name);
    let (mut words, mut small) = (vec![String::new()], false);
    for c in text.chars() {
        if !c.is_alphanumeric() || (small && c.is_uppercase()) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        small = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Names of columns that hold labels, even if those are numbers.
pub(crate) fn is_label_name(name: &[u8]) -> bool {
    const WORDS: [&str; 20] = [
        "label",
        "labels",
        "cluster",
        "clusters",
        "class",
        "classes",
        "type",
        "types",
        "celltype",
        "celltypes",
        "group",
        "groups",
        "batch",
        "species",
        "category",
        "target",
        "leiden",
        "louvain",
        "annotation",
        "condition",
    ];
    words(name).iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Names of columns that name the rows.
pub(crate) fn is_id_name(name: &[u8]) -> bool {
    const NAMES: [&str; 22] = [
        "id",
        "ids",
        "index",
        "idx",
        "rowname",
        "rownames",
        "row names",
        "row name",
        "cell",
        "cells",
        "cell id",
        "cellid",
        "cell name",
        "cell names",
        "barcode",
        "barcodes",
        "cell barcode",
        "uuid",
        "sample id",
        "gene id",
        "obs names",
        "object id",
    ];
    NAMES.contains(&words(name).join(" ").as_str())
}
