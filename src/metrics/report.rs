//! Every figure of a plan with its null beside it, so that no caller reports one without the other.

use super::plan::{gw_loss, independent, marginal_error, matches, relative_entropy, spearman};
use super::truth::{exact_matches, foscttm_of_plan, label_null, label_transfer_of_plan};
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

/// The plan between some rows, with all its mass.
fn part(plan: &Dense, [x, y]: [&[usize]; 2]) -> Dense {
    let part = Dense::from_fn(x.len(), y.len(), |i, j| plan.at(x[i], y[j]));
    let mass: f64 = part.data().iter().map(|&p| f64::from(p)).sum();
    let whole = |p: f32| if mass > 0.0 { (f64::from(p) / mass) as f32 } else { p };
    Dense::from_fn(x.len(), y.len(), |i, j| whole(part.at(i, j)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::distance::{Metric, pairwise};
    use crate::rng::Rng;

    const N: usize = 300;

    /// A report on random points, aligned by a plan that is made of a random order and of the true one.
    fn report(plan: impl Fn(&[usize], &[usize]) -> Dense) -> Report {
        let mut rng = Rng::new(11);
        let x = Dense::new(N, 5, rng.fill(5 * N, -1.0, 1.0));
        let (truth, random) = (rng.sample(N, N), rng.sample(N, N));
        let mut y = x.clone();
        truth.iter().enumerate().for_each(|(i, &j)| y.row_mut(j).copy_from_slice(x.row(i)));
        let lx: Vec<u32> = (0..N).map(|_| [0, 0, 0, 1, 1, 2][rng.below(6)]).collect();
        let mut ly = lx.clone();
        truth.iter().enumerate().for_each(|(i, &j)| ly[j] = lx[i]);
        let pairs: Vec<(usize, usize)> = truth.iter().copied().enumerate().collect();
        let [dx, dy] = [&x, &y].map(|side| pairwise(side, Metric::Euclidean));
        let all: Vec<usize> = (0..N).collect();
        let uniform = [1.0 / N as f32; N];
        let within = Within { rows: [&all, &all], distances: [&dx, &dy] };
        let truth_known = Truth { pairs: &pairs, labels: [&lx, &ly], votes: 1 };
        Report::new(&plan(&truth, &random), [&uniform, &uniform], &within, Some(&truth_known))
    }

    fn permutation(order: &[usize]) -> Dense {
        Dense::from_fn(N, N, |i, j| if order[i] == j { 1.0 / N as f32 } else { 0.0 })
    }

    fn assert_near(figure: Figure, within: f64, what: &str) {
        assert!((figure.value - figure.null).abs() <= within, "{what}: {figure:?}");
    }

    #[test]
    fn the_figures_of_a_random_permutation_are_near_their_nulls() {
        let report = report(|_, random| permutation(random));
        // Any permutation carries the diagonal onto the diagonal, which is a few per cent of this loss.
        assert_near(report.gw_loss, 0.08 * report.gw_loss.null, "GW loss");
        assert_near(report.spearman, 0.02, "Spearman");
        assert_near(report.marginal_error, 1e-5, "marginal error");
        // A permutation is certain, rightly or not.
        assert!((report.relative_entropy.value - 0.5).abs() < 1e-4, "{:?}", report.relative_entropy);
        let known = report.known.expect("the truth was given");
        known.labels.into_iter().for_each(|labels| assert_near(labels, 0.08, "labels"));
        assert_near(known.exact, 0.015, "exact matches");
    }

    /// A permutation couples all other points equally, not at all, so it says nothing about which are closer: a plan
    /// that orders them is asked.
    #[test]
    fn foscttm_of_a_random_order_is_near_its_null() {
        let report = report(|_, random| {
            let apart = |i: usize, j: usize| (random[i] + N - j) % N;
            Dense::from_fn(N, N, |i, j| (2 * (N - apart(i, j))) as f32 / (N * N * (N + 1)) as f32)
        });
        assert_near(report.marginal_error, 1e-4, "marginal error");
        let known = report.known.expect("the truth was given");
        known.foscttm.into_iter().for_each(|closer| assert_near(closer, 0.05, "FOSCTTM"));
    }

    #[test]
    fn the_figures_of_the_truth_are_far_from_their_nulls() {
        let report = report(|truth, _| permutation(truth));
        assert!(report.gw_loss.value.abs() < 1e-3 * report.gw_loss.null, "{:?}", report.gw_loss);
        assert!(report.spearman.value > 0.999, "{:?}", report.spearman);
        let known = report.known.expect("the truth was given");
        assert!(known.foscttm.iter().all(|closer| closer.value == 0.0), "{:?}", known.foscttm);
        assert!(known.labels.iter().all(|labels| labels.value == 1.0), "{:?}", known.labels);
        assert_eq!(known.exact.value, 1.0);
    }

    #[test]
    fn the_independent_plan_knows_nothing() {
        let report = report(|_, random| independent(&permutation(random)));
        assert_near(report.relative_entropy, 1e-5, "entropy");
        assert_near(report.gw_loss, 1e-5, "GW loss");
        assert_near(report.spearman, 1e-5, "Spearman");
    }
}
