//! One side at one level: weighted points in the order of the tree, in leaves of some dozens.

use std::ops::Range;

use super::tree::Tree;
use crate::geometry::Dense;
use compute::kernels::{dot, sum_of};
use compute::rng::Rng;

/// The most groups in a leaf. A block of two leaves is what is visited or left out as a whole.
const LEAF: usize = 96;

/// A side seen through one point for each group of `group` neighbours, or through all of its points.
pub(super) struct Side {
    pub(super) dim: usize,
    pub(super) points: Vec<f32>,
    /// Squared lengths.
    pub(super) squares: Vec<f32>,
    /// Shares of the side's mass; they sum to one.
    pub(super) weights: Vec<f32>,
    /// Where each point's group starts in the order of the tree.
    places: Vec<usize>,
    /// Where each leaf starts among the points, and where the last one ends.
    starts: Vec<usize>,
    /// Where each leaf lies in the order of the tree.
    spans: Vec<Range<usize>>,
    /// What encloses the points of each leaf: a ball.
    pub(super) balls: Vec<Ball>,
}

pub(super) struct Ball {
    pub(super) centre: Vec<f32>,
    pub(super) radius: f32,
    /// Of all mass.
    pub(super) weight: f32,
}

impl Side {
    /// A group is represented by one of its points at random: a centre would be nearer to all others than its points
    /// are, in many dimensions by far.
    pub(super) fn new(all: &Dense, tree: &Tree, group: usize, rng: &mut Rng) -> Self {
        let dim = all.cols();
        let groups = tree.parts(group);
        let chosen = groups.iter().map(|g| tree.order[g.start + rng.below(g.len())] as usize);
        let points: Vec<f32> = chosen.flat_map(|i| all.row(i)).copied().collect();
        let places: Vec<usize> = groups.iter().map(|g| g.start).collect();
        let spans = tree.parts(LEAF * group);
        let start = |place: usize| places.partition_point(|&p| p < place);
        let starts: Vec<usize> = spans.iter().map(|s| start(s.start)).chain([groups.len()]).collect();
        let weights: Vec<f32> = groups.iter().map(|g| g.len() as f32 / all.rows() as f32).collect();
        let row = |i: usize| &points[i * dim..][..dim];
        let squares = (0..groups.len()).map(|i| dot(row(i), row(i))).collect();
        let balls = starts.windows(2).map(|at| Ball::around(at[0]..at[1], row, &weights)).collect();
        Self { dim, squares, weights, places, starts, spans, balls, points }
    }

    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn leaves(&self) -> usize {
        self.spans.len()
    }

    /// The points of some leaves in a row.
    pub(super) fn range(&self, leaves: Range<usize>) -> Range<usize> {
        self.starts[leaves.start]..self.starts[leaves.end]
    }

    pub(super) fn leaf(&self, leaf: usize) -> Range<usize> {
        self.range(leaf..leaf + 1)
    }

    pub(super) fn rows(&self, range: Range<usize>) -> &[f32] {
        &self.points[range.start * self.dim..range.end * self.dim]
    }

    /// The points of another level that lie in a leaf of this one.
    pub(super) fn within(&self, leaf: usize, finer: &Self) -> Range<usize> {
        let at = |place: usize| finer.places.partition_point(|&p| p < place);
        at(self.spans[leaf].start)..at(self.spans[leaf].end)
    }

    /// The largest of some values in each leaf.
    pub(super) fn tops(&self, values: &[f32]) -> Vec<f32> {
        let top = |range: Range<usize>| values[range].iter().copied().fold(f32::MIN, f32::max);
        (0..self.leaves()).map(|leaf| top(self.leaf(leaf))).collect()
    }
}

impl Ball {
    fn around<'a>(range: Range<usize>, row: impl Fn(usize) -> &'a [f32], weights: &[f32]) -> Self {
        let mut centre = vec![0.0; row(range.start).len()];
        let share = 1.0 / range.len() as f32;
        for i in range.clone() {
            centre.iter_mut().zip(row(i)).for_each(|(c, v)| *c += share * v);
        }
        let away = |i: usize| row(i).iter().zip(&centre).map(|(v, c)| (v - c) * (v - c)).sum::<f32>().sqrt();
        let radius = range.clone().map(away).fold(0.0, f32::max);
        Self { radius, weight: weights[range].iter().sum(), centre }
    }

    /// How far a point is from the centre.
    pub(super) fn distance(&self, point: &[f32]) -> f32 {
        sum_of(&self.centre, point, |c, v| (c - v) * (c - v)).sqrt()
    }
}
