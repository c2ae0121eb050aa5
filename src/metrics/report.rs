//! Every figure of a plan with its null beside it, so that no caller reports one without the other.

use super::plan::{gw_loss, independent, marginal_error, matches, relative_entropy, spearman};
use super::truth::{BothWays, exact_matches, foscttm_of_plan, label_null, label_transfer_of_plan};
use crate::geometry::Dense;
use crate::geometry::ranks::mid_ranks;

/// A figure, and what it would be if nothing were known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    pub value: f64,
    pub null: f64,
}

/// Distances within some rows of each side: figures over all pairs of pairs cannot be had on all of them.
#[derive(Clone, Copy, Debug)]
pub struct Within<'a> {
    pub rows: [&'a [usize]; 2],
    pub distances: [&'a Dense; 2],
}

/// What is known of the right answer.
#[derive(Clone, Copy, Debug)]
pub struct Truth<'a> {
    pub pairs: &'a [(usize, usize)],
    /// A label for every row of both sides.
    pub labels: [&'a [u32]; 2],
    /// Neighbours that vote on a label.
    pub votes: usize,
}

/// The figures of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Of the distances as they are given: scale them first. The null is the independent plan's.
    pub gw_loss: Figure,
    pub spearman: Figure,
    pub relative_entropy: Figure,
    pub marginal_error: Figure,
    pub known: Option<Known>,
}

/// The figures that need the truth; of two the first is judged from X.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    pub foscttm: [Figure; 2],
    pub labels: [Figure; 2],
    pub exact: Figure,
}

impl Report {
    /// Reports on a plan with these marginals.
    pub fn new(plan: &Dense, marginals: [&[f32]; 2], within: &Within<'_>, truth: Option<&Truth<'_>>) -> Self {
        let [dx, dy] = within.distances;
        let part = part(plan, within.rows);
        let [rx, ry] = within.distances.map(|d| mid_ranks(d, &vec![1.0 / d.cols() as f32; d.cols()]));
        let null = gw_loss(dx, dy, &independent(&part));
        Self {
            gw_loss: Figure { value: gw_loss(dx, dy, &part), null },
            spearman: Figure { value: spearman(&rx, &ry, &part), null: 0.0 },
            relative_entropy: Figure { value: relative_entropy(plan), null: 1.0 },
            marginal_error: Figure { value: marginal_error(plan, marginals[0], marginals[1]), null: 0.0 },
            known: truth.map(|truth| Known::new(plan, truth)),
        }
    }
}

impl Known {
    fn new(plan: &Dense, truth: &Truth<'_>) -> Self {
        let closer = foscttm_of_plan(plan, truth.pairs);
        let back = Dense::from_fn(plan.cols(), plan.rows(), |i, j| plan.at(j, i));
        let [lx, ly] = truth.labels;
        let null = label_null(lx, ly);
        let labels = [
            label_transfer_of_plan(plan, lx, ly, truth.votes),
            label_transfer_of_plan(&back, ly, lx, truth.votes),
        ];
        Self {
            foscttm: [closer.xy, closer.yx].map(|value| Figure { value, null: 0.5 }),
            labels: labels.map(|value| Figure { value, null }),
            exact: Figure {
                value: exact_matches(&matches(plan), truth.pairs),
                null: 1.0 / plan.cols().max(1) as f64,
            },
        }
    }
}

/// For every pair the share of points that are closer by the plan, from both sides and averaged: what
/// FOSCTTM is the mean of.
pub fn closer_shares(plan: &Dense, pairs: &[(usize, usize)]) -> Vec<f64> {
    pairs
        .iter()
        .map(|&pair| {
            let BothWays { xy, yx } = foscttm_of_plan(plan, &[pair]);
            0.5 * (xy + yx)
        })
        .collect()
}

/// The plan between some rows, with all its mass.
fn part(plan: &Dense, [x, y]: [&[usize]; 2]) -> Dense {
    let part = Dense::from_fn(x.len(), y.len(), |i, j| plan.at(x[i], y[j]));
    let mass: f64 = part.data().iter().map(|&p| f64::from(p)).sum();
    let whole = |p: f32| if mass > 0.0 { (f64::from(p) / mass) as f32 } else { p };
    Dense::from_fn(x.len(), y.len(), |i, j| whole(part.at(i, j)))
}
