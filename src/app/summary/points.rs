//! Points in words: how many, of which labels, whether these lie together, and how far matches lie apart.

use std::collections::BTreeMap;

use super::percent;
use crate::app::scatter::{Frame, Span};
use schema::Side;

/// The points of one side with their labels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cloud<'a> {
    /// Rows of two.
    pub points: &'a [f32],
    /// Codes, −1 for missing; empty without labels.
    pub labels: &'a [f32],
    pub names: &'a [String],
}

/// So many points are asked for their nearest neighbour.
const ASKED: usize = 200;
/// So many labels are named.
const NAMED: usize = 6;

impl Cloud<'_> {
    fn count(&self) -> usize {
        self.points.len() / 2
    }

    fn label(&self, row: usize) -> Option<usize> {
        self.labels.get(row).filter(|code| **code >= 0.0).map(|code| *code as usize)
    }

    /// How many points each label has, the largest first.
    fn sizes(&self) -> Vec<(&str, usize)> {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        (0..self.count())
            .filter_map(|row| self.label(row))
            .for_each(|code| *counts.entry(code).or_default() += 1);
        let name = |code: usize| self.names.get(code).map_or("without a name", String::as_str);
        let mut sizes: Vec<(&str, usize)> =
            counts.into_iter().map(|(code, count)| (name(code), count)).collect();
        sizes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        sizes
    }

    /// The labels in a sentence.
    fn told(&self) -> Option<String> {
        let sizes = self.sizes();
        if sizes.is_empty() {
            return None;
        }
        let named: Vec<String> =
            sizes.iter().take(NAMED).map(|(name, count)| format!("{name} {count}")).collect();
        let rest = sizes.len().saturating_sub(NAMED);
        let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        let labels = if sizes.len() == 1 { "1 label".into() } else { format!("{} labels", sizes.len()) };
        Some(format!("{labels}: {}{rest}.", named.join(", ")))
    }

    /// The share of points whose nearest neighbour in the picture has the same label, of those that were asked.
    fn together(&self) -> Option<f64> {
        if self.sizes().len() < 2 {
            return None;
        }
        let every = self.count().div_ceil(ASKED).max(1);
        let (mut same, mut asked) = (0, 0);
        for row in (0..self.count()).step_by(every) {
            let Some(label) = self.label(row) else { continue };
            let far = |other: &usize| {
                let apart = |axis: usize| self.points[2 * other + axis] - self.points[2 * row + axis];
                apart(0).powi(2) + apart(1).powi(2)
            };
            let others = (0..self.count()).filter(|other| *other != row);
            let Some(other) = others.min_by(|a, b| far(a).total_cmp(&far(b))) else { continue };
            asked += 1;
            same += usize::from(self.label(other) == Some(label));
        }
        (asked > 0).then(|| f64::from(same as u32) / f64::from(asked as u32))
    }
}

/// One side by itself.
pub fn alone(side: Side, cloud: Cloud) -> String {
    let letter = side.letter().to_uppercase();
    let mut told = format!("{} points of {letter} along its two principal axes.", cloud.count());
    if let Some(labels) = cloud.told() {
        told += &format!(" {labels}");
    }
    if let Some(share) = cloud.together() {
        told +=
            &format!(" {} of the points have a nearest neighbour of their own label here.", percent(share));
    }
    told
}

/// What is known of the matches of X.
#[derive(Clone, Copy, Debug, Default)]
pub struct Matched<'a> {
    /// The row of Y that each row of X is matched with; negative for none.
    pub rows: &'a [f32],
    /// How sure the matches are; empty where that was not measured.
    pub confidence: &'a [f32],
    /// The share of each row's mass that its match gets.
    pub share: &'a [f32],
}

fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.retain(|value| value.is_finite());
    if values.is_empty() {
        return None;
    }
    values.sort_by(f64::total_cmp);
    Some(values[values.len() / 2])
}

/// Both sides in the common space.
pub fn aligned(x: Cloud, y: Cloud, matched: Matched) -> String {
    let mut told = format!(
        "{} points of X, as discs, and {} of Y, as diamonds, in the common space.",
        x.count(),
        y.count()
    );
    if let Some(labels) = x.told() {
        told += &format!(" X has {labels}");
    }
    let pairs = || {
        let rows = matched.rows.iter().enumerate().filter(|(_, to)| **to >= 0.0);
        rows.map(|(row, to)| (row, *to as usize)).filter(|(row, to)| *row < x.count() && *to < y.count())
    };
    let frame = Frame::around(&Span::of(&[x.points, y.points]), 1.0, 1.0, 0.0);
    let place = |cloud: &Cloud, row: usize| frame.place(cloud.points[2 * row], cloud.points[2 * row + 1]);
    let far = pairs().map(|(row, to)| {
        let (from, to) = (place(&x, row), place(&y, to));
        (from.0 - to.0).hypot(from.1 - to.1)
    });
    if let Some(far) = middle(far.collect()) {
        told += &format!(
            " Half of the matches lie within {} of the picture's width of each other.",
            percent(far)
        );
    }
    let known: Vec<bool> = pairs().filter_map(|(row, to)| Some(x.label(row)? == y.label(to)?)).collect();
    if !known.is_empty() {
        let same = known.iter().filter(|same| **same).count() as f64 / known.len() as f64;
        told += &format!(" {} of them have the same label on both sides.", percent(same));
    }
    let typical = |values: &[f32]| middle(values.iter().map(|v| f64::from(*v)).collect());
    match (typical(matched.confidence), typical(matched.share)) {
        (Some(sure), _) => told += &format!(" The middle confidence is {sure:.2}."),
        (None, Some(share)) => told += &format!(" The middle share of mass is {share:.2}."),
        (None, None) => {}
    }
    told
}
