//! Which table of a file is meant.

use super::{Flavour, Part, nothing};
use crate::{Kind, Trouble};

/// With more columns than this, principal components are preferred where they are stored.
const WIDE: usize = 2000;

/// The number of the part to read and the reason for it.
pub(super) fn choose(
    parts: &[Part],
    wanted: Option<&str>,
    flavour: Flavour,
) -> Result<(usize, String), Trouble> {
    let names = || parts.iter().map(|part| format!("'{}'", part.name)).collect::<Vec<_>>().join(", ");
    let called = |name: &str| parts.iter().position(|part| part.name == name);
    if parts.is_empty() {
        return Err(nothing());
    }
    if let Some(wanted) = wanted {
        let wanted = wanted.trim_matches('/');
        let short = |part: &Part| part.name.rsplit('/').next() == Some(wanted);
        let found = called(wanted).or_else(|| parts.iter().position(short));
        return match found {
            Some(number) => Ok((number, "It was asked for.".to_owned())),
            None => Err(Trouble::new(
                Kind::Mismatch,
                format!("The file has no table '{wanted}'."),
                format!("Choose one of {}.", names()),
            )),
        };
    }
    if let [only] = parts {
        return Ok((0, format!("'{}' is the only table in the file.", only.name)));
    }
    if let (Flavour::Loom, Some(main)) = (flavour, called("matrix")) {
        return Ok((main, "'matrix' is the file's main table; the others are layers.".to_owned()));
    }
    if flavour != Flavour::AnnData {
        return Err(Trouble::new(
            Kind::Ambiguous,
            format!("The file holds {} tables: {}.", parts.len(), names()),
            "Choose one of them by its name.",
        ));
    }
    let width = |number: usize| parts.get(number).map_or(0, |part| part.cols);
    let reduced = called("obsm/X_pca").or_else(|| parts.iter().position(is_reduced));
    match (called("X"), reduced) {
        (Some(all), Some(reduced)) if width(all) > WIDE => Ok((
            reduced,
            format!(
                "'X' has {} columns; its principal components are stored and have {}.",
                width(all),
                width(reduced)
            ),
        )),
        (Some(all), _) => Ok((all, format!("'X' is the file's main table and has {} columns.", width(all)))),
        (None, Some(reduced)) => {
            Ok((reduced, "The file has no 'X'; these are its principal components.".to_owned()))
        }
        (None, None) => Ok((0, "The file has no 'X'; this is the first of its other tables.".to_owned())),
    }
}

fn is_reduced(part: &Part) -> bool {
    part.name.strip_prefix("obsm/").is_some_and(|name| name.to_lowercase().contains("pca"))
}
