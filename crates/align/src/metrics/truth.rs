//! Figures that need to know the truth: which row belongs to which, or labels on both sides.

use std::collections::BTreeMap;

use super::plan::exceeding;
use super::readout::Partners;
use crate::geometry::Dense;
use crate::geometry::distance::{Metric, between};
use crate::scale::{Cancelled, Matching, Watch};

/// A figure for each direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BothWays {
    /// Judged from X.
    pub xy: f64,
    /// Judged from Y.
    pub yx: f64,
}

/// FOSCTTM, the fraction of samples closer than the true match: for every true pair `(i, j)` the share
/// of all y that are closer to `x_i` than `y_j` is, averaged; and the same the other way round. 0 is
/// perfect; at random it is ½. Both sides must live in the same space.
pub fn foscttm(x: &Dense, y: &Dense, pairs: &[(usize, usize)]) -> BothWays {
    let distances = between(x, y, Metric::SquaredEuclidean);
    let (mut xy, mut yx) = (0.0, 0.0);
    for &(i, j) in pairs {
        let own = distances.at(i, j);
        let closer_y = distances.row(i).iter().filter(|d| **d < own).count();
        let closer_x = (0..x.rows()).filter(|&k| distances.at(k, j) < own).count();
        xy += closer_y as f64 / y.rows() as f64;
        yx += closer_x as f64 / x.rows() as f64;
    }
    let count = pairs.len().max(1) as f64;
    BothWays { xy: xy / count, yx: yx / count }
}

/// Pairs for which closer points are counted, at most: evenly drawn from more.
const COUNTED: usize = 5000;

/// What [`foscttm`] is the mean of, by the plan itself: for each true pair `(i, j)` the share of all y that are coupled more
/// strongly with `x_i` than `y_j` is, and the same the other way round. Of more than [`COUNTED`] pairs some are drawn.
///
/// The plan orders the points by `C_ij − f_i − g_j`, the cost less what it takes to reach either point at all, so
/// this is the distance of the aligned space without the points that are near to everything.
pub async fn closer_shares(
    plan: &Matching,
    pairs: &[(usize, usize)],
    watch: &mut impl Watch,
) -> Result<Vec<[f64; 2]>, Cancelled> {
    let count = pairs.len().min(COUNTED);
    let drawn: Vec<(usize, usize)> =
        (0..count as u32).map(|k| pairs[evenly(k, pairs.len() as u32, count as u32)]).collect();
    let [rows, cols] = [plan.rows(), plan.cols()].map(|count| (0..count as u32).collect::<Vec<u32>>());
    let mut shares = Vec::with_capacity(count);
    for pairs in drawn.chunks((plan.between_looks() / (rows.len() + cols.len()).max(1)).max(1)) {
        let of_x: Vec<u32> = pairs.iter().map(|(i, _)| *i as u32).collect();
        let of_y: Vec<u32> = pairs.iter().map(|(_, j)| *j as u32).collect();
        let (from_x, from_y) = (plan.order(&of_x, &cols), plan.order(&rows, &of_y));
        for (k, &(i, j)) in pairs.iter().enumerate() {
            let row = exceeding(from_x.row(k).iter().copied(), from_x.at(k, j));
            let column = exceeding((0..rows.len()).map(|i| from_y.at(i, k)), from_y.at(i, k));
            shares.push([row / cols.len() as f64, column / rows.len() as f64]);
        }
        watch.step(shares.len() as f64 / count as f64).await?;
    }
    Ok(shares)
}

/// The `k`-th of `count` places that are spread evenly over `all`. Their product may have no place in 32 bits.
fn evenly(k: u32, all: u32, count: u32) -> usize {
    (u64::from(k) * u64::from(all) / u64::from(count)) as usize
}

/// The share of x whose label is the commonest among their `k` nearest y. Of equally common labels the
/// one with the nearest representative wins. At random: [`label_null`].
pub fn label_transfer(x: &Dense, x_labels: &[u32], y: &Dense, y_labels: &[u32], k: usize) -> f64 {
    assert_eq!((x.rows(), y.rows()), (x_labels.len(), y_labels.len()), "a label for every row");
    label_majority(&between(x, y, Metric::SquaredEuclidean), x_labels, y_labels, k)
}

/// The label of a row whose label is missing.
pub const UNKNOWN: u32 = u32::MAX;

/// [`label_transfer`] by the plan itself: of the `k` y that are coupled most strongly those with a label vote. Only x with
/// a label count.
pub fn label_transfer_of_plan(partners: &Partners, x_labels: &[u32], y_labels: &[u32], k: usize) -> f64 {
    let asked: Vec<usize> = (0..x_labels.len()).filter(|&i| x_labels[i] != UNKNOWN).collect();
    let right = asked.iter().filter(|&&i| foretold(partners, i, y_labels, k) == Some(x_labels[i]));
    right.count() as f64 / asked.len().max(1) as f64
}

/// For every x what the labels of the `k` y that are coupled most strongly say its label is, if any of them has one.
pub fn predicted(partners: &Partners, y_labels: &[u32], k: usize) -> Vec<Option<u32>> {
    (0..partners.first().len()).map(|i| foretold(partners, i, y_labels, k)).collect()
}

fn foretold(partners: &Partners, i: usize, y_labels: &[u32], k: usize) -> Option<u32> {
    let nearest = partners.get(i).0.iter().take(k).map(|&j| y_labels[j as usize]);
    let nearest: Vec<u32> = nearest.filter(|label| *label != UNKNOWN).collect();
    voted(&nearest)
}

/// The share of rows whose label is the commonest among their `k` smallest columns.
fn label_majority(distances: &Dense, x_labels: &[u32], y_labels: &[u32], k: usize) -> f64 {
    let mut order: Vec<usize> = (0..distances.cols()).collect();
    let right = (0..distances.rows())
        .filter(|&i| {
            let row = distances.row(i);
            let nearer = |a: &usize, b: &usize| row[*a].total_cmp(&row[*b]).then(a.cmp(b));
            let k = k.min(order.len());
            if k < order.len() {
                order.select_nth_unstable_by(k, nearer);
            }
            order[..k].sort_by(nearer);
            let nearest: Vec<u32> = order[..k].iter().map(|&j| y_labels[j]).collect();
            voted(&nearest) == Some(x_labels[i])
        })
        .count();
    right as f64 / distances.rows().max(1) as f64
}

/// The commonest label, given the nearest first; of equally common ones the nearest.
fn voted(nearest: &[u32]) -> Option<u32> {
    let votes = |label: u32| nearest.iter().filter(|l| **l == label).count();
    // `max_by_key` takes the last of equals, so the nearest is put last.
    nearest.iter().rev().copied().max_by_key(|&l| votes(l))
}

/// What [`label_transfer`] gives when x and y are paired at random and one neighbour is asked:
/// `Σ_l share_x(l) · share_y(l)`.
pub fn label_null(x_labels: &[u32], y_labels: &[u32]) -> f64 {
    let shares = |labels: &[u32]| {
        let known: Vec<u32> = labels.iter().copied().filter(|label| *label != UNKNOWN).collect();
        let mut counts: BTreeMap<u32, f64> = BTreeMap::new();
        known.iter().for_each(|l| *counts.entry(*l).or_default() += 1.0 / known.len() as f64);
        counts
    };
    let (x, y) = (shares(x_labels), shares(y_labels));
    x.iter().map(|(label, share)| share * y.get(label).copied().unwrap_or(0.0)).sum()
}

/// The share of true pairs `(i, j)` for which `matches[i]` is `j`. At random: 1 over the number of y.
pub fn exact_matches(matches: &[usize], pairs: &[(usize, usize)]) -> f64 {
    let right = pairs.iter().filter(|(i, j)| matches[*i] == *j).count();
    right as f64 / pairs.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_transferred_by_the_nearest_majority() {
        let y = Dense::new(5, 1, vec![0.0, 1.0, 2.0, 10.0, 11.0]);
        let x = Dense::new(2, 1, vec![0.9, 10.4]);
        // x₀: among its three nearest (1.0, 0.0, 2.0) label 7 has two votes. x₁: 10, 11 against 2.
        assert_eq!(label_transfer(&x, &[7, 9], &y, &[7, 7, 8, 9, 9], 3), 1.0);
        assert_eq!(label_transfer(&x, &[8, 9], &y, &[7, 7, 8, 9, 9], 3), 0.5);
        // A tie between 8 (nearest) and 7: the nearest wins.
        assert_eq!(label_transfer(&x, &[8, 9], &y, &[7, 8, 5, 9, 9], 2), 1.0);
        assert!(
            (label_null(&[1, 1, 2], &[1, 2, 2, 2]) - (2.0 / 3.0 * 0.25 + 1.0 / 3.0 * 0.75)).abs() < 1e-12
        );
    }

    #[test]
    fn many_pairs_are_drawn_from_evenly() {
        assert_eq!([0, 1, 4999].map(|k| evenly(k, 3_000_000, 5000)), [0, 600, 2_999_400]);
        assert_eq!([0, 2].map(|k| evenly(k, 3, 3)), [0, 2]);
    }

    #[test]
    fn a_perfect_alignment_scores_perfectly_whatever_the_order() {
        let x = Dense::new(4, 2, vec![0.0, 0.0, 1.0, 0.0, 0.0, 3.0, 5.0, 5.0]);
        let order = [2, 0, 3, 1];
        let y = Dense::from_fn(4, 2, |i, j| x.at(order[i], j));
        let pairs: Vec<_> = order.iter().enumerate().map(|(j, &i)| (i, j)).collect();
        assert_eq!(foscttm(&x, &y, &pairs), BothWays { xy: 0.0, yx: 0.0 });
        assert_eq!(exact_matches(&[1, 3, 0, 2], &pairs), 1.0);
        assert_eq!(exact_matches(&[1, 3, 2, 0], &pairs), 0.5);
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn read(plan: &Matching) -> crate::metrics::readout::Readout {
        use crate::metrics::readout::Readout;
        let there = Dense::new(plan.cols(), 1, vec![0.0; plan.cols()]);
        pollster::block_on(Readout::new(plan, &there, &mut crate::scale::NoWatch)).expect("read")
    }

    #[test]
    #[cfg(not(target_arch = "wasm32"))]
    fn closer_points_are_those_that_the_plan_couples_more_strongly() {
        let order = [2, 0, 3, 1];
        let pairs: Vec<_> = order.iter().enumerate().map(|(j, &i)| (i, j)).collect();
        let shares = |plan: Dense| {
            let plan = Matching::Held(plan);
            pollster::block_on(closer_shares(&plan, &pairs, &mut crate::scale::NoWatch)).expect("counted")
        };
        let permutation = Dense::from_fn(4, 4, |i, j| if order[j] == i { 0.25 } else { 0.0 });
        assert_eq!(shares(permutation.clone()), [[0.0; 2]; 4]);
        let plan = Matching::Held(permutation.clone());
        assert_eq!(label_transfer_of_plan(&read(&plan).partners[0], &[0, 1, 2, 3], &[2, 0, 3, 1], 1), 1.0);
        // Exchange two columns: two of four rows now prefer one other y and are indifferent to the other two.
        let wrong = Dense::from_fn(4, 4, |i, j| permutation.at(i, [1, 0, 2, 3][j]));
        assert_eq!(shares(wrong), [[0.5; 2], [0.5; 2], [0.0; 2], [0.0; 2]]);
    }

    #[test]
    #[cfg(not(target_arch = "wasm32"))]
    fn rows_without_a_label_neither_vote_nor_count() {
        let plan = Dense::from_fn(3, 3, |i, j| if i == j { 0.2 } else { 0.06 - 0.01 * j as f32 });
        let partners = &read(&Matching::Held(plan)).partners[0];
        let x = [5, UNKNOWN, 6];
        assert_eq!(label_transfer_of_plan(partners, &x, &[5, 5, 6], 1), 1.0);
        // The second row has no label; the first's only partner has none either, and so has no vote.
        assert_eq!(label_transfer_of_plan(partners, &x, &[UNKNOWN, 5, 6], 1), 0.5);
        assert_eq!(label_null(&x, &[UNKNOWN, 5, 6]), 0.5);
    }
}
