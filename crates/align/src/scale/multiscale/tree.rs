//! An order of points in which neighbours in space are neighbours in memory.

use std::ops::Range;

use super::pace::{Cancelled, Pace, Watch};
use crate::geometry::Dense;
use compute::kernels::dot;

/// Sets of at most this many points are not cut further.
pub(super) const SMALLEST: usize = 4;
/// Points from which the axis of a cut is estimated.
const SAMPLE: usize = 512;
/// Rounds of the power iteration. The axis need not be exact: any cut is a valid one.
const ROUNDS: usize = 6;
/// What cutting a set takes for each of its points, in pairs of points.
const EACH: usize = 24;

/// Points cut in two again and again, across the direction in which they vary most.
pub(super) struct Tree {
    /// The points' numbers in the order of the tree: every node is a range of it.
    pub(super) order: Vec<u32>,
    nodes: Vec<Node>,
}

struct Node {
    range: Range<usize>,
    /// How many points the node has of which this is a half.
    above: usize,
}

impl Tree {
    pub(super) async fn grow<W: Watch>(points: &Dense, pace: &mut Pace<'_, W>) -> Result<Self, Cancelled> {
        let n = points.rows();
        let mut order: Vec<u32> = (0..n as u32).collect();
        let mut nodes = Vec::new();
        let mut todo = vec![Node { range: 0..n, above: usize::MAX }];
        let mut keys = Vec::new();
        // The left half first, so that nodes come in the order of their points.
        while let Some(node) = todo.pop() {
            let range = node.range.clone();
            if range.len() > SMALLEST {
                let middle = range.start + cut(points, &mut order[range.clone()], &mut keys);
                todo.push(Node { range: middle..range.end, above: range.len() });
                todo.push(Node { range: range.start..middle, above: range.len() });
                pace.spend(EACH * range.len()).await?;
            }
            nodes.push(node);
        }
        Ok(Self { order, nodes })
    }

    /// The largest nodes of at most `most` points, in order: together they are all points.
    pub(super) fn parts(&self, most: usize) -> Vec<Range<usize>> {
        if most < SMALLEST {
            return (0..self.order.len()).map(|i| i..i + 1).collect();
        }
        let parts = self.nodes.iter().filter(|node| node.range.len() <= most && node.above > most);
        parts.map(|node| node.range.clone()).filter(|range| !range.is_empty()).collect()
    }
}

/// Orders a set along its principal axis and says where to cut: at the widest gap near the middle.
fn cut(points: &Dense, set: &mut [u32], keys: &mut Vec<(f32, u32)>) -> usize {
    let axis = axis(points, set);
    keys.clear();
    keys.extend(set.iter().map(|&i| (dot(points.row(i as usize), &axis), i)));
    keys.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    set.iter_mut().zip(keys.iter()).for_each(|(to, key)| *to = key.1);
    let half = set.len() / 2;
    let gap = |at: usize| keys[at].0 - keys[at - 1].0;
    let (mut best, mut widest) = (half, gap(half));
    for at in half - set.len() / 8..=half + set.len() / 8 {
        if gap(at) > widest {
            (best, widest) = (at, gap(at));
        }
    }
    best
}

/// About the direction of the largest variance.
fn axis(points: &Dense, set: &[u32]) -> Vec<f32> {
    let dim = points.cols();
    let sample = || set.iter().step_by(set.len().div_ceil(SAMPLE)).map(|&i| points.row(i as usize));
    let mut mean = vec![0.0; dim];
    sample().for_each(|row| mean.iter_mut().zip(row).for_each(|(m, v)| *m += v));
    let count = sample().count() as f32;
    mean.iter_mut().for_each(|m| *m /= count);
    let centred: Vec<f32> = sample().flat_map(|row| row.iter().zip(&mean).map(|(v, m)| v - m)).collect();
    // From the point that is farthest out: it cannot be across the axis unless there is hardly one.
    let length = |row: &[f32]| dot(row, row);
    let rows = || centred.chunks_exact(dim.max(1));
    let far = rows().max_by(|a, b| length(a).total_cmp(&length(b)));
    let mut axis = far.map_or_else(|| vec![0.0; dim], <[f32]>::to_vec);
    for _ in 0..ROUNDS {
        let scale = length(&axis).sqrt();
        if scale.is_nan() || scale < 1e-30 {
            break;
        }
        let mut next = vec![0.0; dim];
        for row in rows() {
            let share = dot(row, &axis) / scale;
            next.iter_mut().zip(row).for_each(|(n, v)| *n += share * v);
        }
        axis = next;
    }
    axis
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::multiscale::pace::tests::at_once;
    use compute::rng::Rng;

    /// All points once, parts of every size nested in larger ones, and smaller in space.
    #[test]
    fn parts_are_all_points() {
        let mut rng = Rng::new(3);
        for (n, distinct) in [(0, 1), (1, 1), (5, 5), (300, 300), (1000, 7), (777, 1)] {
            let base = rng.fill(3 * distinct, -1.0, 1.0);
            let points = Dense::from_fn(n, 3, |i, j| base[i % distinct * 3 + j]);
            let tree = at_once(async |pace| Tree::grow(&points, pace).await);
            let mut order = tree.order.clone();
            order.sort_unstable();
            assert!(order.iter().enumerate().all(|(i, &at)| i == at as usize));
            let mut cuts = Vec::new();
            for most in [1, SMALLEST, 3 * SMALLEST, 100, 5000] {
                let parts = tree.parts(most);
                assert!(parts.iter().all(|part| !part.is_empty() && part.len() <= most));
                let ends = parts.iter().scan(0, |end, part| {
                    assert_eq!(part.start, *end);
                    *end = part.end;
                    Some(*end)
                });
                let ends: Vec<usize> = ends.collect();
                assert_eq!(ends.last().copied().unwrap_or(0), n);
                assert!(cuts.is_empty() || ends.iter().all(|end| cuts.contains(end)), "nested");
                cuts = ends;
            }
        }
    }

    #[test]
    fn a_gap_is_found() {
        let mut rng = Rng::new(4);
        let points = Dense::from_fn(100, 4, |i, _| f32::from(i % 20 < 9) * 5.0 + rng.unit());
        let tree = at_once(async |pace| Tree::grow(&points, pace).await);
        let parts = tree.parts(60);
        assert_eq!(parts.len(), 2);
        for part in parts {
            let kinds: Vec<bool> = tree.order[part].iter().map(|i| i % 20 < 9).collect();
            assert!(kinds.iter().all(|kind| *kind == kinds[0]));
        }
    }
}
