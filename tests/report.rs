//! The figures of plans of which is known what they should be: at random, near their nulls, and far from them where
//! the plan is right.
#![cfg(not(target_arch = "wasm32"))]

use align::geometry::Dense;
use align::geometry::distance::{Metric, pairwise};
use align::metrics::plan::independent;
use align::metrics::readout::Readout;
use align::metrics::report::{Figure, Report, Truth, Within};
use align::scale::{Cancelled, Matching, NoWatch, Watch};
use compute::rng::Rng;
use pollster::block_on;

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
    let within = Within { rows: [&all, &all], distances: [&dx, &dy] };
    let truth_known = Truth { pairs: &pairs, labels: [&lx, &ly], votes: 1 };
    let plan = Matching::Held(plan(&truth, &random));
    let readout = block_on(Readout::new(&plan, &y, &mut NoWatch)).expect("read");
    block_on(Report::new(&plan, &readout, &within, Some(&truth_known), &mut NoWatch)).expect("reported")
}

/// Counts the looks, and ends the work at one of them.
struct Looks {
    seen: usize,
    end: usize,
}

impl Watch for Looks {
    async fn step(&mut self, _done: f64) -> Result<(), Cancelled> {
        self.seen += 1;
        if self.seen > self.end { Err(Cancelled) } else { Ok(()) }
    }
}

#[test]
fn a_report_on_many_rows_can_be_given_up() {
    let looks = |n: usize, end: usize| {
        let points = Dense::new(n, 3, Rng::new(4).fill(3 * n, -1.0, 1.0));
        let distances = pairwise(&points, Metric::Euclidean);
        let all: Vec<usize> = (0..n).collect();
        let within = Within { rows: [&all, &all], distances: [&distances, &distances] };
        let plan = Dense::from_fn(n, n, |i, j| if i == j { 1.0 / n as f32 } else { 0.0 });
        let plan = Matching::Held(plan);
        let readout = block_on(Readout::new(&plan, &points, &mut NoWatch)).expect("read");
        let mut looks = Looks { seen: 0, end };
        let report = block_on(Report::new(&plan, &readout, &within, None, &mut looks));
        assert_eq!(report.is_err(), end < usize::MAX, "after {end} looks");
        looks.seen
    };
    let [few, many] = [200, 800].map(|n| looks(n, usize::MAX));
    // Ranks of both sides, one correlation and one loss: 2 × 2 and 2 × 6.
    assert!(few <= 1 && many >= 14, "{few} and {many} looks");
    for end in [0, 1, 3, 6, many - 1] {
        assert_eq!(looks(800, end), end + 1, "nothing runs on");
    }
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
