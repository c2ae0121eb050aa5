//! Pictures in words: what each view, chart and plan of the page shows at the moment.

use super::training::Curve;
use crate::app::state::{History, Shown};
use crate::app::summary::points::{Cloud, Matched};
use crate::app::summary::{self, points};
use schema::Side;

fn cloud<'a>(shown: &'a Shown, side: Side, points: &'a [f32]) -> Cloud<'a> {
    let at = side.index();
    Cloud { points, labels: &shown.labels[at], names: &shown.outcome.labels[at].names }
}

/// One side by itself.
pub(super) fn alone(shown: &Shown, side: Side) -> String {
    points::alone(side, cloud(shown, side, &shown.alone[side.index()]))
}

/// Both sides in the common space, and the figures.
pub(super) fn aligned(shown: &Shown) -> String {
    let [x, y] = Side::BOTH.map(|side| cloud(shown, side, &shown.aligned[side.index()]));
    let [rows, confidence, share] =
        [&shown.matches, &shown.confidence, &shown.share].map(|both| both[0].as_slice());
    let told = points::aligned(x, y, Matched { rows, confidence, share });
    let alone = match Side::BOTH.map(|side| shown.without_partner(side)) {
        [Some(x), Some(y)] => format!(" {x} points of X and {y} of Y have no partner."),
        _ => String::new(),
    };
    format!("{told}{alone} {}", figures(shown))
}

/// The figures that say most, each beside chance.
const TOLD: [&str; 4] = ["spearman", "foscttm", "exact-match", "label-transfer"];

/// These in a line, as far as they are known.
pub(super) fn figures(shown: &Shown) -> String {
    let find = |key: &&str| shown.outcome.figures.iter().find(|figure| figure.key == *key);
    let each = TOLD
        .iter()
        .filter_map(find)
        .map(|figure| format!("{} {:.3}, by chance {:.3}.", figure.name, figure.value, figure.null));
    each.collect::<Vec<_>>().join(" ")
}

pub(super) fn plan(shown: &Shown) -> String {
    summary::plan(shown.outcome.picture as usize, &shown.plan)
}

pub(super) fn closer(shown: &Shown) -> String {
    summary::closer(&shown.curve)
}

pub(super) fn curve(history: &History, curve: Curve) -> String {
    summary::curves(curve.subject(), &curve.named(history), history.steps)
}
