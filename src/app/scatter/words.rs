//! A point in words, for tooltips and for those who listen.

use leptos::prelude::*;

use crate::app::state::{Results, Shown};
use schema::Side;

/// A point and its match in words.
pub(super) fn words(results: Results, shown: &Shown, side: Side, row: usize) -> (String, Option<String>) {
    let partner = shown.partner(side, row).map(|partner| {
        let other = Side::BOTH[1 - side.index()];
        let at = |values: &[Vec<f32>; 2]| values[side.index()].get(row).copied().filter(|v| v.is_finite());
        let sure = match (at(&shown.confidence), at(&shown.share)) {
            (Some(sure), _) => format!(", confidence {sure:.2}"),
            (None, Some(share)) => format!(", share {share:.2}"),
            (None, None) => String::new(),
        };
        let name = describe(&results, shown, other, partner);
        if shown.lacks_partner(side, row) {
            let kept = shown.retained[side.index()].get(row).copied().unwrap_or(f32::NAN);
            return format!("no partner: keeps {kept:.2} of its weight, nearest is {name}");
        }
        format!("matched with {name}{sure}")
    });
    (describe(&results, shown, side, row), partner)
}

/// A point in words: its side, its id or row, its label.
fn describe(results: &Results, shown: &Shown, side: Side, row: usize) -> String {
    let letter = side.letter().to_uppercase();
    let id = results.ids.with(|ids| ids[side.index()].get(&(row as u32)).cloned());
    let name = id.unwrap_or_else(|| format!("row {}", row + 1));
    match shown.label(side, row) {
        Some(label) if label != name => format!("{letter}: {name} ({label})"),
        _ => format!("{letter}: {name}"),
    }
}
