//! Potentials of one level, continued to the points of the next.

use std::f32::consts::LN_2;

use super::blocks::Blocks;
use super::pace::{Cancelled, Pace, Watch};
use super::side::Side;
use super::strip::{Columns, Strip, offsets};

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
        for first in range.clone().step_by(columns.band(fine.dim)) {
            let part = first..range.end.min(first + columns.band(fine.dim));
            columns.products(fine.rows(part.clone()), fine.dim, eps, &mut band);
            for (row, i) in band.chunks_exact_mut(columns.len().max(1)).zip(part.clone()) {
                values[i] = fine.squares[i] - eps * LN_2 * log_sum(&columns, row);
            }
            pace.spend(part.len() * columns.len()).await?;
        }
    }
    Ok(values)
}

/// The same at some points of a side, from all points of the other.
pub(super) async fn at_points<W: Watch>(
    (other, potential): (&Side, &[f32]),
    (side, points): (&Side, &[usize]),
    eps: f32,
    pace: &mut Pace<'_, W>,
) -> Result<Vec<f32>, Cancelled> {
    let mut values = Vec::with_capacity(points.len());
    if points.is_empty() {
        return Ok(values);
    }
    let offsets = offsets(other, potential, eps);
    let mut strip = Strip::default();
    let columns = strip.gather(other, &offsets, &[[0, other.leaves() as u32]]);
    let mut row = Vec::new();
    for &i in points {
        columns.products(side.rows(i..i + 1), side.dim, eps, &mut row);
        values.push(side.squares[i] - eps * LN_2 * log_sum(&columns, &mut row));
        pace.spend(columns.len()).await?;
    }
    Ok(values)
}

/// The logarithm of a row's sum, to base two.
fn log_sum(columns: &Columns<'_>, row: &mut [f32]) -> f32 {
    let top = columns.top(row);
    top + columns.exponentials(row, -top).log2()
}
