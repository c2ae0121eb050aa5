//! One iteration of Sinkhorn's algorithm over the blocks that matter.
//!
//! A few rows of the plan are computed over all their columns, normalised, and added to the columns' sums while they
//! are still in the cache. So each entry is computed once in an iteration, not once for the rows and again for the
//! columns.

use std::f32::consts::LN_2;

use super::balance::Coarse;
use super::blocks::Blocks;
use super::pace::{Cancelled, Pace, Watch};
use super::side::Side;
use super::strip::{Strip, offsets};
use compute::kernels::transposed_product;

/// What a row sums to as long as none of its entries is cut off at the ends of the exponential's range.
const ORDINARY: std::ops::RangeInclusive<f32> = 1e-30..=1e30;
/// The largest logarithm of what a potential asks for.
const MOST: f32 = 70.0;

/// How near the rows' potential is to what it will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// Anywhere: exponents are first reduced by their row's largest.
    Cold,
    /// The last sweep's, for almost the same columns' potential.
    Warm,
}

/// What to sweep.
pub(super) struct Task<'a> {
    pub(super) sides: [&'a Side; 2],
    pub(super) eps: f32,
    /// λ of the rows; none where they meet their weights.
    pub(super) lambda: Option<f32>,
    pub(super) blocks: &'a Blocks,
    pub(super) start: Start,
    /// The density below which a block counts as light.
    pub(super) light: f32,
}

/// What a sweep finds besides the rows' potential.
pub(super) struct Swept {
    /// What the columns receive when every row gives exactly its weight, or what is left of it where weights are relaxed.
    pub(super) sums: Vec<f64>,
    /// The same, summed over many rows and columns.
    pub(super) coarse: Coarse,
    /// The blocks that are not light, and the mass of those that are.
    pub(super) heavy: Blocks,
    pub(super) light: Coarse,
    /// All blocks' masses by density.
    pub(super) densities: Densities,
}

/// Sets `φ_i = −τ ε log Σ_j b_j exp((γ_j − |x_i − y_j|²)/ε)` and sums the columns of the plan that φ and γ make; its rows
/// sum to `a_i exp(−φ_i/λ)`. For strict weights `τ = λ/(λ+ε)` is 1, and 1/λ is 0.
pub(super) async fn sweep<W: Watch>(
    task: Task<'_>,
    phi: &mut [f32],
    gamma: &[f32],
    pace: &mut Pace<'_, W>,
) -> Result<Swept, Cancelled> {
    let Task { sides: [rows, cols], eps, lambda, blocks, start, light } = task;
    let unit = eps * LN_2;
    let slack = lambda.map_or(0.0, f32::recip);
    let tau = 1.0 / (1.0 + slack * eps);
    let offsets = offsets(cols, gamma, eps);
    let mut swept = Swept {
        sums: vec![0.0; cols.len()],
        coarse: Coarse::new(rows, cols),
        heavy: Blocks::none(),
        light: Coarse::new(rows, cols),
        densities: Densities::default(),
    };
    let mut strip = Strip::default();
    let (mut band, mut shares, mut given, mut received) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for leaf in 0..rows.leaves() {
        let columns = strip.gather(cols, &offsets, blocks.of(leaf));
        received.clear();
        received.resize(columns.len(), 0.0f32);
        given.resize(columns.len(), 0.0f32);
        let range = rows.leaf(leaf);
        for first in range.clone().step_by(columns.band(rows.dim)) {
            let part = first..range.end.min(first + columns.band(rows.dim));
            columns.products(rows.rows(part.clone()), rows.dim, eps, &mut band);
            shares.clear();
            for (row, i) in band.chunks_exact_mut(columns.len().max(1)).zip(part.clone()) {
                if start == Start::Cold {
                    phi[i] = rows.squares[i] - unit * columns.top(row);
                } else {
                    // As if the weight was met: then the row sums to about 1.
                    phi[i] /= tau;
                }
                let mut sum = columns.exponentials(row, (phi[i] - rows.squares[i]) / unit);
                if start == Start::Warm && !ORDINARY.contains(&sum) {
                    // Its potential was too far off for numbers of this size: as if it had none.
                    columns.products_of(rows.rows(i..i + 1), rows.dim, eps, row);
                    phi[i] = rows.squares[i] - unit * columns.top(row);
                    sum = columns.exponentials(row, (phi[i] - rows.squares[i]) / unit);
                }
                phi[i] = tau * (phi[i] - unit * sum.log2());
                shares.push(rows.weights[i] * asked(slack, phi[i]) / sum);
            }
            transposed_product(&band, &shares, &mut given);
            received.iter_mut().zip(&given).for_each(|(sum, given)| *sum += given);
            pace.spend(part.len() * columns.len()).await?;
        }
        let mut rest = &received[..];
        swept.heavy.push(blocks.leaves(leaf).filter(|&column| {
            let own;
            (own, rest) = rest.split_at(cols.leaf(column).len());
            let sums = swept.sums[cols.leaf(column)].iter_mut();
            sums.zip(own).for_each(|(sum, own)| *sum += f64::from(*own));
            let mass = own.iter().sum();
            let density = mass / (rows.balls[leaf].weight * cols.balls[column].weight);
            swept.coarse.add(leaf, column, mass);
            swept.densities.add(density, mass);
            if density < light {
                swept.light.add(leaf, column, mass);
            }
            density >= light
        }));
    }
    Ok(swept)
}

/// What a potential asks for of a weight that is relaxed: `exp(−φ/λ)`, bounded.
pub(super) fn asked(slack: f32, potential: f32) -> f32 {
    if slack > 0.0 { (-slack * potential).clamp(-MOST, MOST).exp() } else { 1.0 }
}

/// Masses by the order of magnitude of their density: two classes to each doubling.
pub(super) struct Densities([f32; Densities::CLASSES]);

impl Densities {
    const CLASSES: usize = 128;
    /// The class of density one.
    const ONE: f32 = 112.0;

    fn add(&mut self, density: f32, mass: f32) {
        let class = (2.0 * density.log2() + Self::ONE).clamp(0.0, (Self::CLASSES - 1) as f32);
        self.0[class as usize] += mass;
    }

    /// A density such that all below it together have at most this mass. It is at most one.
    pub(super) fn below(&self, mass: f32) -> f32 {
        let mut sum = 0.0;
        let fits = |class: &&f32| {
            sum += **class;
            sum <= mass
        };
        let classes = self.0.iter().take(Self::ONE as usize).take_while(fits).count();
        (0.5 * (classes as f32 - Self::ONE)).exp2()
    }
}

impl Default for Densities {
    fn default() -> Self {
        Self([0.0; Self::CLASSES])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_masses_are_no_more_than_allowed() {
        let blocks = [(1e-9, 1e-4), (1e-5, 2e-4), (1e-3, 4e-4), (0.5, 0.1), (30.0, 0.8993)];
        let mut densities = Densities::default();
        blocks.iter().for_each(|(density, mass)| densities.add(*density, *mass));
        for most in [0.0, 5e-5, 1.5e-4, 5e-4, 0.01, 0.3, 2.0] {
            let light = densities.below(most);
            let below: f32 = blocks.iter().filter(|block| block.0 < light).map(|block| block.1).sum();
            assert!(below <= most && light <= 1.0, "{below} below {light}, {most} allowed");
            // And no less than classes allow: the next block would be too much.
            let next = blocks.iter().find(|block| block.0 >= light.max(1e-17)).map_or(1.0, |block| block.1);
            assert!(below + next > most || light > 0.5, "{light} for {most}");
        }
    }
}
