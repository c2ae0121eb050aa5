//! The columns that a leaf of the rows is compared with, side by side in memory, and a few rows of the plan over them.

use std::f32::consts::{LN_2, LOG2_E};

use super::pace::piece;
use super::side::Side;
use compute::kernels::matmul::sgemm;
use compute::kernels::{at_least, exp2, max_of};

/// Entries of the plan that are held at a time: they stay in the second cache.
const HELD: usize = 3 << 19;

/// Columns of a strip. A single run is used where it lies.
#[derive(Default)]
pub(super) struct Strip {
    points: Vec<f32>,
    offsets: Vec<f32>,
}

/// Points and their offsets: `(potential − |y|²)/ε` and the logarithm of their weight. All logarithms here are to base
/// two, in which the exponential is cheapest.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    points: &'a [f32],
    offsets: &'a [f32],
}

impl Strip {
    /// The points of some runs of leaves.
    pub(super) fn gather<'a>(
        &'a mut self,
        side: &'a Side,
        offsets: &'a [f32],
        runs: &[[u32; 2]],
    ) -> Columns<'a> {
        let range = |run: &[u32; 2]| side.range(run[0] as usize..run[1] as usize);
        if let [run] = runs {
            return Columns { points: side.rows(range(run)), offsets: &offsets[range(run)] };
        }
        self.points.clear();
        self.offsets.clear();
        for run in runs {
            self.points.extend_from_slice(side.rows(range(run)));
            self.offsets.extend_from_slice(&offsets[range(run)]);
        }
        Columns { points: &self.points, offsets: &self.offsets }
    }
}

/// What the columns contribute to the exponents of every row.
pub(super) fn offsets(side: &Side, potential: &[f32], eps: f32) -> Vec<f32> {
    let parts = potential.iter().zip(&side.squares).zip(&side.weights);
    parts.map(|((p, square), weight)| (p - square) * (LOG2_E / eps) + weight.log2()).collect()
}

impl Columns<'_> {
    pub(super) fn len(&self) -> usize {
        self.offsets.len()
    }

    /// How many rows of `dim` values to take at a time: what is held fits, and a cancel is felt.
    pub(super) fn band(&self, dim: usize) -> usize {
        (HELD.min(piece(dim)) / self.len().max(1)).max(8)
    }

    /// `2 x·y/ε`, to base two, of some rows (given as points of `dim` values) with all columns, row by row.
    pub(super) fn products(&self, points: &[f32], dim: usize, eps: f32, out: &mut Vec<f32>) {
        out.resize(points.len() / dim.max(1) * self.len(), 0.0);
        self.products_of(points, dim, eps, out);
    }

    /// The same, where there is room.
    pub(super) fn products_of(&self, points: &[f32], dim: usize, eps: f32, out: &mut [f32]) {
        let rows = points.len() / dim.max(1);
        sgemm([rows, self.len(), dim], 2.0 * LOG2_E / eps, (points, (dim, 1)), (self.points, (1, dim)), out);
    }

    /// The largest exponent of a row.
    pub(super) fn top(&self, row: &[f32]) -> f32 {
        max_of(row, self.offsets, |product, offset| product + offset)
    }

    /// Turns a row of products into exponents, to base e.
    pub(super) fn exponents(&self, row: &mut [f32], own: f32) {
        row.iter_mut()
            .zip(self.offsets)
            .for_each(|(value, offset)| *value = (*value + (offset + own)) * LN_2);
    }

    /// Turns a row of products into `2^(product + offset + own)` and sums it.
    pub(super) fn exponentials(&self, row: &mut [f32], own: f32) -> f32 {
        const LANES: usize = 8;
        let mut sums = [0.0; LANES];
        let (row, row_rest) = row.as_chunks_mut::<LANES>();
        let (offsets, offsets_rest) = self.offsets.as_chunks::<LANES>();
        for (row, offsets) in row.iter_mut().zip(offsets) {
            for l in 0..LANES {
                row[l] = exp2(row[l] + (offsets[l] + own));
                sums[l] += row[l];
            }
        }
        let mut sum: f32 = sums.iter().sum();
        for (value, offset) in row_rest.iter_mut().zip(offsets_rest) {
            *value = exp2(*value + (offset + own));
            sum += *value;
        }
        at_least(f32::MIN_POSITIVE, sum)
    }
}
