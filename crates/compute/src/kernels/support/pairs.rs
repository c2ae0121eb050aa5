//! Whole rows of a transport plan between points, a few at a time: products, exponentials, sums by rows and columns.
//!
//! The rows at work stay in the second cache, because everything that happens to them happens before the next ones.
//! Products are taken against panels of columns, with a block of sums in registers, which needs no packing and no
//! second visit: a general matrix product spends as much on packing such narrow operands as on multiplying. The loops
//! are plain arrays that a compiler turns into SIMD, once as the target always has it and once for AVX2 with FMA,
//! which native processors mostly have, and which halves the time.

use super::{at_least, dot, exp_within, given, max_of};
use std::ops::Range;

/// Columns of a panel.
pub(in super::super) const PANEL: usize = 16;
/// Columns of a block where registers hold four values. A panel is a whole number of blocks.
pub(super) const NARROW: usize = 8;
/// Rows of a block: its sums are eight registers, of four values with eight columns and of eight with sixteen, which
/// leaves as many for operands.
pub(super) const BLOCK: usize = 4;
/// Rows at work: two blocks for every panel that is fetched. More of them would not stay in the second cache.
pub(super) const ROWS: usize = 2 * BLOCK;

/// The smallest exponent relative to a row's largest; see the shader.
const LEAST: f32 = -70.0;

/// Whether the processor has AVX2 and FMA.
pub fn has_fma() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// What a row is to hold: its weight, or with a slack of 1/λ what is left of it (`given`).
#[derive(Clone, Copy)]
pub(in super::super) struct Given {
    pub(in super::super) weight: f32,
    pub(in super::super) slack: f32,
    pub(in super::super) eps: f32,
}

/// The columns that rows are computed against, and room for the rows at work.
pub(in super::super) struct Rows<'a> {
    panels: &'a [f32],
    /// What is added to every product, column by column, up to the end of the last panel.
    terms: Vec<f32>,
    dim: usize,
    /// What products are multiplied with.
    scale: f32,
    tile: Vec<f32>,
    /// Whether the processor has AVX2 and FMA.
    fused: bool,
}

impl<'a> Rows<'a> {
    pub(in super::super) fn new(panels: &'a [f32], mut terms: Vec<f32>, dim: usize, scale: f32) -> Self {
        let stride = panels.len() / dim;
        terms.resize(stride, 0.0);
        let tile = vec![0.0; ROWS * stride];
        Self { panels, terms, dim, scale, tile, fused: has_fma() }
    }

    /// For the points `x`, one a row: `lse_i = log Σ_j exp t_ij` with `t_ij = terms_j + scale·⟨x_i, y_j⟩`, and adds
    /// `r_i · exp(t_ij − lse_i)` to `masses_j`, where r_i is what the row is given.
    pub(in super::super) fn group(&mut self, x: &[f32], given: Given, lse: &mut [f32], masses: &mut [f32]) {
        let mut points = vec![0.0; ROWS * self.dim];
        for (x, lse) in x.chunks(ROWS * self.dim).zip(lse.chunks_mut(ROWS)) {
            // Rows that are missing at the end are computed as zeros and left out of everything.
            points.fill(0.0);
            points.iter_mut().zip(x).for_each(|(point, x)| *point = self.scale * x);
            let mut squares = [0.0; ROWS];
            if given.slack > 0.0 {
                squares.iter_mut().zip(x.chunks_exact(self.dim)).for_each(|(square, x)| *square = dot(x, x));
            }
            self.few(&points, (given, squares), lse, masses);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    fn few(&mut self, points: &[f32], given: (Given, [f32; ROWS]), lse: &mut [f32], masses: &mut [f32]) {
        if self.fused {
            // SAFETY: `fused` says that this processor has both features.
            unsafe { self.few_fused(points, given, lse, masses) }
        } else {
            self.few_in_blocks::<NARROW, false>(points, given, lse, masses);
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn few(&mut self, points: &[f32], given: (Given, [f32; ROWS]), lse: &mut [f32], masses: &mut [f32]) {
        debug_assert!(!self.fused, "only where there is such a variant");
        self.few_in_blocks::<NARROW, false>(points, given, lse, masses);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn few_fused(
        &mut self,
        points: &[f32],
        given: (Given, [f32; ROWS]),
        lse: &mut [f32],
        masses: &mut [f32],
    ) {
        self.few_in_blocks::<PANEL, true>(points, given, lse, masses);
    }

    #[inline(always)]
    fn few_in_blocks<const WIDTH: usize, const FUSED: bool>(
        &mut self,
        points: &[f32],
        (own, squares): (Given, [f32; ROWS]),
        lse: &mut [f32],
        masses: &mut [f32],
    ) {
        let stride = self.tile.len() / ROWS;
        products::<WIDTH, FUSED>((self.panels, self.dim), &self.terms, points, &mut self.tile);
        let mut scales = [0.0; ROWS];
        let rows = self.tile.chunks_exact_mut(stride).zip(lse).zip(&mut scales);
        for (((row, lse), scale), square) in rows.zip(squares) {
            let row = &mut row[..masses.len()];
            let top = max_of(row, row, |t, _| t);
            let sum = exponentials(row, top);
            *lse = top + sum.ln();
            *scale = own.weight / sum;
            if own.slack > 0.0 {
                *scale *= given(own.slack, own.eps, *lse - square / own.eps);
            }
        }
        add_rows(&self.tile, stride, scales, masses);
    }
}

/// Some columns of a matrix with `pitch` columns, in panels of sixteen rows, each column by column, the last one filled
/// up with zeros.
pub(in super::super) fn panels(matrix: &[f32], pitch: usize, columns: Range<usize>) -> Vec<f32> {
    let (rows, dim) = (matrix.len() / pitch, columns.len());
    let mut packed = vec![0.0; rows.next_multiple_of(PANEL) * dim];
    for (j, row) in matrix.chunks_exact(pitch).enumerate() {
        let panel = &mut packed[j / PANEL * PANEL * dim..];
        for (l, v) in row[columns.clone()].iter().enumerate() {
            panel[l * PANEL + j % PANEL] = *v;
        }
    }
    packed
}

/// Fills rows with their products with all columns, each column's term added.
#[inline(always)]
pub(super) fn products<const WIDTH: usize, const FUSED: bool>(
    (panels, dim): (&[f32], usize),
    terms: &[f32],
    points: &[f32],
    tile: &mut [f32],
) {
    let stride = tile.len() / ROWS;
    for (p, panel) in panels.chunks_exact(PANEL * dim).enumerate() {
        for (points, tile) in points.chunks_exact(BLOCK * dim).zip(tile.chunks_exact_mut(BLOCK * stride)) {
            for column in (0..PANEL).step_by(WIDTH) {
                let sums = block::<WIDTH, FUSED>(points, panel, column);
                let at = p * PANEL + column;
                let Some(terms) = terms[at..].first_chunk::<WIDTH>() else { continue };
                for (row, sums) in tile.chunks_exact_mut(stride).zip(&sums) {
                    let Some(row) = row[at..].first_chunk_mut::<WIDTH>() else { continue };
                    *row = std::array::from_fn(|w| sums[w] + terms[w]);
                }
            }
        }
    }
}

/// The products of a block of rows with the columns of a panel from `first` on.
#[inline(always)]
fn block<const WIDTH: usize, const FUSED: bool>(
    points: &[f32],
    panel: &[f32],
    first: usize,
) -> [[f32; WIDTH]; BLOCK] {
    let dim = points.len() / BLOCK;
    let mut sums = [[0f32; WIDTH]; BLOCK];
    for (l, y) in panel.as_chunks::<PANEL>().0.iter().enumerate() {
        let Some(y) = y[first..].first_chunk::<WIDTH>() else { continue };
        for (r, sums) in sums.iter_mut().enumerate() {
            let x = points[r * dim + l];
            for (sum, y) in sums.iter_mut().zip(y) {
                *sum = if FUSED { x.mul_add(*y, *sum) } else { x * y + *sum };
            }
        }
    }
    sums
}

/// Every t becomes `exp(t − top)`; returns their sum.
#[inline(always)]
fn exponentials(row: &mut [f32], top: f32) -> f32 {
    let mut lanes = [0.0; PANEL];
    let (blocks, rest) = row.as_chunks_mut::<PANEL>();
    for block in blocks {
        for (t, lane) in block.iter_mut().zip(&mut lanes) {
            *t = exp_within(at_least(LEAST, *t - top));
            *lane += *t;
        }
    }
    for (t, lane) in rest.iter_mut().zip(&mut lanes) {
        *t = exp_within(at_least(LEAST, *t - top));
        *lane += *t;
    }
    lanes.into_iter().sum()
}

/// Adds multiples of the rows at work to the masses of the columns.
#[inline(always)]
fn add_rows(tile: &[f32], stride: usize, scales: [f32; ROWS], masses: &mut [f32]) {
    for (tile, scales) in tile.chunks_exact(BLOCK * stride).zip(scales.as_chunks::<BLOCK>().0) {
        let row = |r: usize| tile[r * stride..].iter();
        let rows = row(0).zip(row(1)).zip(row(2).zip(row(3)));
        let [s0, s1, s2, s3] = scales;
        for (mass, ((a, b), (c, d))) in masses.iter_mut().zip(rows) {
            *mass += (a * s0 + b * s1) + (c * s2 + d * s3);
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Both variants against plain loops in float64.
    #[test]
    fn rows_and_columns_of_the_plan_are_those_of_plain_loops() {
        let mut rng = Rng::new(5);
        for [n, m, d] in [[1, 1, 1], [4, 16, 3], [7, 33, 8], [24, 50, 32], [5, 130, 17]] {
            let (x, y) = (rng.fill(n * d, -1.0, 1.0), rng.fill(m * d, -1.0, 1.0));
            let terms = rng.fill(m, -40.0, 40.0);
            let t = |i: usize, j: usize| {
                let dot: f64 = (0..d).map(|l| f64::from(x[i * d + l]) * f64::from(y[j * d + l])).sum();
                f64::from(terms[j]) + 3.0 * dot
            };
            let want: Vec<f64> = (0..n).map(|i| (0..m).map(|j| t(i, j).exp()).sum::<f64>().ln()).collect();
            let packed = panels(&y, d, 0..d);
            for portable in [false, true] {
                let mut rows = Rows::new(&packed, terms.clone(), d, 3.0);
                rows.fused &= !portable;
                let (mut lse, mut masses) = (vec![0.0; n], vec![1.0; m]);
                rows.group(&x, Given { weight: 0.5, slack: 0.0, eps: 1.0 }, &mut lse, &mut masses);
                for (got, want) in lse.iter().zip(&want) {
                    assert!((f64::from(*got) - want).abs() < 2e-5, "{n}×{m}×{d}: {got}, not {want}");
                }
                for (j, got) in masses.iter().enumerate() {
                    let want = 1.0 + (0..n).map(|i| 0.5 * (t(i, j) - want[i]).exp()).sum::<f64>();
                    assert!((f64::from(*got) - want).abs() < 1e-4 * want, "{n}×{m}×{d}: {got}, not {want}");
                }
            }
        }
    }
}
