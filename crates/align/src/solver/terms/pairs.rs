//! Known pairs (semi-supervised alignment): `−1/K Σ log(Π_ij/a_i)` over the K pairs (i, j) that are known to
//! belong together, the mean surprise at finding j when starting from i.

use super::super::losses::{Graded, total_of_rows};
use compute::kernels::pair_rows::{self, PairRows};
use compute::plan::{Mat, Plan};

/// Records the term for [`weights`] and the marginal `a` of the rows: two dispatches.
pub fn record(plan: &mut Plan, weights: Mat, pi: Mat, a: Mat) -> Graded {
    let grad = plan.mats("gradient of the pairs", pi.batch, pi.rows, pi.cols);
    let sums = plan.mats("surprise at the pairs", pi.batch, pi.rows, 1);
    pair_rows::record(plan, &PairRows { w: weights, plan: pi, a, grad, sums });
    Graded { grad, value: total_of_rows(plan, 1.0, sums) }
}

/// The pairs of one fit as an n×m matrix that holds 1/K for each; a pair given twice counts twice, and without
/// pairs the term is zero.
pub fn weights(n: usize, m: usize, pairs: &[(usize, usize)]) -> Vec<f32> {
    let mut weights = vec![0f32; n * m];
    for &(i, j) in pairs {
        assert!(i < n && j < m, "the pair ({i}, {j}) of {n} and {m} points");
        weights[i * m + j] += 1.0 / pairs.len() as f32;
    }
    weights
}
