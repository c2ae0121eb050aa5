//! One iteration of Sinkhorn's algorithm over the blocks that matter.
//!
//! A few rows of the plan are computed over all their columns, normalised, and added to the columns' sums while they
//! are still in the cache. So each entry is computed once in an iteration, not once for the rows and again for the columns.

use super::blocks::Blocks;
use super::pace::{Cancelled, Pace, Watch};
use super::side::Side;
use super::strip::{Strip, offsets};
use crate::kernels::transposed_product;

/// How near the rows' potential is to what it will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// Anywhere: exponents are first reduced by their row's largest.
    Cold,
    /// The last sweep's, for almost the same columns' potential.
    Warm,
}

/// What a sweep finds besides the rows' potential.
pub(super) struct Swept {
    /// What the columns receive when every row gives exactly its weight.
    pub(super) sums: Vec<f64>,
    /// The blocks whose density is at least what was asked for.
    pub(super) dense: Blocks,
}

/// Sets `φ_i = −ε log Σ_j b_j exp((γ_j − |x_i − y_j|²)/ε)` and sums the columns of the plan that φ and γ make.
pub(super) async fn sweep<W: Watch>(
    [rows, cols]: [&Side; 2],
    eps: f32,
    phi: &mut [f32],
    gamma: &[f32],
    blocks: &Blocks,
    least_density: f32,
    start: Start,
    pace: &mut Pace<'_, W>,
) -> Result<Swept, Cancelled> {
    let offsets = offsets(cols, gamma, eps);
    let mut sums = vec![0.0; cols.len()];
    let mut dense = Blocks::none();
    let mut strip = Strip::default();
    let (mut band, mut shares, mut given, mut received) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for leaf in 0..rows.leaves() {
        let columns = strip.gather(cols, &offsets, blocks.of(leaf));
        received.clear();
        received.resize(columns.len(), 0.0f32);
        given.resize(columns.len(), 0.0f32);
        let range = rows.leaf(leaf);
        for first in range.clone().step_by(columns.band()) {
            let part = first..range.end.min(first + columns.band());
            columns.products(rows.rows(part.clone()), rows.dim, eps, &mut band);
            shares.clear();
            for (row, i) in band.chunks_exact_mut(columns.len().max(1)).zip(part.clone()) {
                if start == Start::Cold {
                    phi[i] = rows.squares[i] - eps * columns.top(row);
                }
                let sum = columns.exponentials(row, (phi[i] - rows.squares[i]) / eps);
                phi[i] -= eps * sum.ln();
                shares.push(rows.weights[i] / sum);
            }
            transposed_product(&band, &shares, &mut given);
            received.iter_mut().zip(&given).for_each(|(sum, given)| *sum += given);
            pace.spend(part.len() * columns.len()).await?;
        }
        let mut rest = &received[..];
        dense.push(blocks.leaves(leaf).filter(|&column| {
            let (own, after) = rest.split_at(cols.leaf(column).len());
            rest = after;
            let masses = sums[cols.leaf(column)].iter_mut().zip(own);
            let mass: f32 = masses
                .map(|(sum, own)| {
                    *sum += f64::from(*own);
                    *own
                })
                .sum();
            mass >= least_density * rows.balls[leaf].weight * cols.balls[column].weight
        }));
    }
    Ok(Swept { sums, dense })
}
