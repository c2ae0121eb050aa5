//! Every figure of a plan with its null beside it, so that no caller reports one without the other.

use super::plan::{gw_losses, spearman_of};
use super::readout::Readout;
pub use super::truth::{UNKNOWN, predicted};
use super::truth::{closer_shares, exact_matches, label_null, label_transfer_of_plan};
use crate::geometry::Dense;
use crate::geometry::ranks::mid_ranks_watched;
use crate::scale::{Cancelled, Matching, Watch};

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
    /// A label for every row of both sides; [`UNKNOWN`] where it is missing.
    pub labels: [&'a [u32]; 2],
    /// Neighbours that vote on a label.
    pub votes: usize,
}

/// The figures of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Of the distances as they are given: scale them first. The null is the independent plan's.
    pub gw_loss: Figure,
    pub spearman: Figure,
    pub relative_entropy: Figure,
    pub marginal_error: Figure,
    pub known: Option<Known>,
}

/// The figures that need the truth; of two the first is judged from X.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    pub foscttm: [Figure; 2],
    /// For each true pair, or many of them, what FOSCTTM is the mean of, from both sides.
    pub closer: Vec<[f64; 2]>,
    pub labels: [Figure; 2],
    pub exact: Figure,
}

impl Report {
    /// Reports on a plan that was read.
    pub async fn new(
        plan: &Matching,
        readout: &Readout,
        within: &Within<'_>,
        truth: Option<&Truth<'_>>,
        watch: &mut impl Watch,
    ) -> Result<Self, Cancelled> {
        let [dx, dy] = within.distances;
        let part = part(plan, within.rows);
        watch.step(0.0).await?;
        let alike = |d: &Dense| vec![1.0 / d.cols() as f32; d.cols()];
        let rx = mid_ranks_watched(dx, &alike(dx), watch).await?;
        let ry = mid_ranks_watched(dy, &alike(dy), watch).await?;
        let all: Vec<usize> = (0..part.rows()).collect();
        let spearman = spearman_of(&all, &rx, &ry, &part, watch).await?;
        let [loss, null] = gw_losses(dx, dy, &part, watch).await?;
        let known = match truth {
            Some(truth) => Some(Known::new(plan, readout, truth, watch).await?),
            None => None,
        };
        Ok(Self {
            gw_loss: Figure { value: loss, null },
            spearman: Figure { value: spearman, null: 0.0 },
            relative_entropy: Figure { value: readout.relative_entropy(), null: 1.0 },
            marginal_error: Figure { value: readout.marginal_error(), null: 0.0 },
            known,
        })
    }
}

impl Known {
    async fn new(
        plan: &Matching,
        readout: &Readout,
        truth: &Truth<'_>,
        watch: &mut impl Watch,
    ) -> Result<Self, Cancelled> {
        let closer = closer_shares(plan, truth.pairs, watch).await?;
        let mean = |way: usize| closer.iter().map(|both| both[way]).sum::<f64>() / closer.len().max(1) as f64;
        let [lx, ly] = truth.labels;
        let null = label_null(lx, ly);
        let [px, py] = &readout.partners;
        let labels = [
            label_transfer_of_plan(px, lx, ly, truth.votes),
            label_transfer_of_plan(py, ly, lx, truth.votes),
        ];
        Ok(Self {
            foscttm: [0, 1].map(|way| Figure { value: mean(way), null: 0.5 }),
            closer,
            labels: labels.map(|value| Figure { value, null }),
            exact: Figure {
                value: exact_matches(&px.first(), truth.pairs),
                null: 1.0 / plan.cols().max(1) as f64,
            },
        })
    }
}

/// The plan between some rows, with all its mass.
fn part(plan: &Matching, rows: [&[usize]; 2]) -> Dense {
    let [x, y] = rows.map(|rows| rows.iter().map(|&row| row as u32).collect::<Vec<u32>>());
    let part = plan.part(&x, &y);
    let mass: f64 = part.data().iter().map(|&p| f64::from(p)).sum();
    let whole = |p: f32| if mass > 0.0 { (f64::from(p) / mass) as f32 } else { p };
    Dense::from_fn(x.len(), y.len(), |i, j| whole(part.at(i, j)))
}
