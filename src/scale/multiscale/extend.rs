//! Potentials of one level, continued to the points of the next.

use std::f32::consts::LN_2;

use super::blocks::Blocks;
use super::pace::{Cancelled, Pace, Watch};
use super::side::Side;
use super::strip::{Strip, offsets};

/// A side's potential at the points of a finer level: `−ε log Σ_j b_j exp((γ_j − |x_i − y_j|²)/ε)` over the coarse
/// points of the other side in blocks that matter for the leaf in which a point lies.
pub(super) async fn extend<W: Watch>(
    [coarse, fine]: [&Side; 2],
    (other, potential): (&Side, &[f32]),
    blocks: &Blocks,
    eps: f32,
    pace: &mut Pace<'_, W>,
) -> Result<Vec<f32>, Cancelled> {
    let offsets = offsets(other, potential, eps);
    let everything = [[0, other.leaves() as u32]];
    let mut values = vec![0.0; fine.len()];
    let mut strip = Strip::default();
    let mut band = Vec::new();
    for leaf in 0..coarse.leaves() {
        let runs = blocks.of(leaf);
        let columns = strip.gather(other, &offsets, if runs.is_empty() { &everything } else { runs });
        let range = coarse.within(leaf, fine);
        for first in range.clone().step_by(columns.band()) {
            let part = first..range.end.min(first + columns.band());
            columns.products(fine.rows(part.clone()), fine.dim, eps, &mut band);
            for (row, i) in band.chunks_exact_mut(columns.len().max(1)).zip(part.clone()) {
                let top = columns.top(row);
                let sum = columns.exponentials(row, -top);
                values[i] = fine.squares[i] - eps * LN_2 * (top + sum.log2());
            }
            pace.spend(part.len() * columns.len()).await?;
        }
    }
    Ok(values)
}
