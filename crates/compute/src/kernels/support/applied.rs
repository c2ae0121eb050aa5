//! Products of a plan that is never held with a matrix, a few of its rows at a time; see [`super::pairs`] for the scheme.

use super::pairs::{BLOCK, NARROW, PANEL, ROWS, has_fma, panels, products};
use super::{at_least, exp_within, sum_of};

/// Entries beyond these are not told apart; see the shader.
const LEAST: f32 = -70.0;
const MOST: f32 = 70.0;

/// Columns of the result in a block.
const WIDE: usize = 8;

/// The columns' side of the products, and room for the rows at work.
pub(in super::super) struct Applied {
    /// Points of the columns, and their part of the weights, in panels.
    sides: [Vec<f32>; 2],
    widths: [usize; 2],
    pitch: usize,
    inverse: f32,
    /// The matrix, its rows filled up with zeros.
    b: Vec<f32>,
    width: usize,
    zeros: Vec<f32>,
    tiles: [Vec<f32>; 2],
    fused: bool,
}

impl Applied {
    /// `widths` are the columns of `right` that make up points and weights.
    pub(in super::super) fn new(
        right: &[f32],
        pitch: usize,
        widths: [usize; 2],
        inverse: f32,
        (b, width): (&[f32], usize),
    ) -> Self {
        let [dim, rank] = widths;
        let stride = (right.len() / pitch).next_multiple_of(PANEL);
        let padded = if width == 1 { 1 } else { width.next_multiple_of(WIDE) };
        let mut wide = vec![0.0; stride * padded];
        for (wide, b) in wide.chunks_exact_mut(padded).zip(b.chunks_exact(width)) {
            wide[..width].copy_from_slice(b);
        }
        Self {
            sides: [panels(right, pitch, 0..dim), panels(right, pitch, dim..dim + rank)],
            widths,
            pitch,
            inverse,
            b: wide,
            width,
            zeros: vec![0.0; stride],
            tiles: [vec![0.0; ROWS * stride], vec![0.0; if rank > 0 { ROWS * stride } else { 0 }]],
            fused: has_fma(),
        }
    }

    /// The products of the rows `left`, times `scale`.
    pub(in super::super) fn rows(&mut self, left: &[f32], scale: f32, out: &mut [f32]) {
        let [dim, rank] = self.widths;
        let mut points = [vec![0.0; ROWS * dim], vec![0.0; ROWS * rank]];
        for (left, out) in left.chunks(ROWS * self.pitch).zip(out.chunks_mut(ROWS * self.width)) {
            // Rows that are missing at the end are computed as zeros and left out of the result.
            points.iter_mut().for_each(|points| points.fill(0.0));
            for (i, row) in left.chunks_exact(self.pitch).enumerate() {
                let (point, weights) = row[..dim + rank].split_at(dim);
                points[0][i * dim..].iter_mut().zip(point).for_each(|(out, v)| *out = self.inverse * v);
                points[1][i * rank..].iter_mut().zip(weights).for_each(|(out, v)| *out = scale * v);
            }
            self.few(&points, if rank > 0 { 1.0 } else { scale }, out);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    fn few(&mut self, points: &[Vec<f32>; 2], scale: f32, out: &mut [f32]) {
        if self.fused {
            // SAFETY: `fused` says that this processor has both features.
            unsafe { self.few_fused(points, scale, out) }
        } else {
            self.few_in_blocks::<NARROW, false>(points, scale, out);
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn few(&mut self, points: &[Vec<f32>; 2], scale: f32, out: &mut [f32]) {
        debug_assert!(!self.fused, "only where there is such a variant");
        self.few_in_blocks::<NARROW, false>(points, scale, out);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn few_fused(&mut self, points: &[Vec<f32>; 2], scale: f32, out: &mut [f32]) {
        self.few_in_blocks::<PANEL, true>(points, scale, out);
    }

    #[inline(always)]
    fn few_in_blocks<const W: usize, const FUSED: bool>(
        &mut self,
        points: &[Vec<f32>; 2],
        scale: f32,
        out: &mut [f32],
    ) {
        let ([entries, weights], [dim, rank]) = (&mut self.tiles, self.widths);
        products::<W, FUSED>((&self.sides[0], dim), &self.zeros, &points[0], entries);
        if rank > 0 {
            products::<W, FUSED>((&self.sides[1], rank), &self.zeros, &points[1], weights);
            for (entry, weight) in entries.iter_mut().zip(weights) {
                *entry = *weight * mass(*entry);
            }
        } else {
            entries.iter_mut().for_each(|entry| *entry = scale * mass(*entry));
        }
        let stride = entries.len() / ROWS;
        if self.width == 1 {
            for (out, row) in out.iter_mut().zip(entries.chunks_exact(stride)) {
                *out = sum_of(row, &self.b, |e, b| e * b);
            }
            return;
        }
        let padded = self.b.len() / stride;
        for (out, rows) in out.chunks_mut(BLOCK * self.width).zip(entries.chunks_exact(BLOCK * stride)) {
            for c in (0..self.width).step_by(WIDE) {
                let sums = gathered::<FUSED>(rows, &self.b, padded, c);
                for (out, sums) in out.chunks_exact_mut(self.width).zip(&sums) {
                    out[c..].iter_mut().zip(sums).for_each(|(out, sum)| *out = *sum);
                }
            }
        }
    }
}

/// What an entry stands for.
#[inline(always)]
fn mass(log: f32) -> f32 {
    let log = at_least(LEAST, log);
    exp_within(if log < MOST { log } else { MOST })
}

/// The products of a block of rows with the columns of `b` from `c` on.
#[inline(always)]
fn gathered<const FUSED: bool>(rows: &[f32], b: &[f32], padded: usize, c: usize) -> [[f32; WIDE]; BLOCK] {
    let stride = rows.len() / BLOCK;
    let mut sums = [[0f32; WIDE]; BLOCK];
    let row = |r: usize| rows[r * stride..].iter();
    let entries = row(0).zip(row(1)).zip(row(2).zip(row(3)));
    for (b, ((e0, e1), (e2, e3))) in b.chunks_exact(padded).zip(entries) {
        let Some(b) = b[c..].first_chunk::<WIDE>() else { continue };
        for (sums, e) in sums.iter_mut().zip([e0, e1, e2, e3]) {
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum = if FUSED { e.mul_add(*b, *sum) } else { e * b + *sum };
            }
        }
    }
    sums
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Both variants against plain loops in float64.
    #[test]
    fn products_are_those_of_plain_loops() {
        let mut rng = Rng::new(8);
        for [n, m, dim, rank, width] in
            [[1, 1, 1, 0, 1], [9, 33, 3, 2, 5], [24, 50, 18, 0, 20], [5, 130, 7, 9, 1]]
        {
            let pitch = dim + rank + 1;
            let [left, right] = [n, m].map(|rows| rng.fill(rows * pitch, -1.0, 1.0));
            let b = rng.fill(m * width, -1.0, 1.0);
            let dot = |i: usize, j: usize, from: usize, len: usize| -> f64 {
                let at = |side: &[f32], row: usize, l: usize| f64::from(side[row * pitch + l]);
                (from..from + len).map(|l| at(&left, i, l) * at(&right, j, l)).sum()
            };
            for portable in [false, true] {
                let mut applied = Applied::new(&right, pitch, [dim, rank], 2.0, (&b, width));
                applied.fused &= !portable;
                let mut out = vec![0.0; n * width];
                applied.rows(&left, 0.5, &mut out);
                for (e, got) in out.iter().enumerate() {
                    let (i, c) = (e / width, e % width);
                    let entry = |j: usize| {
                        let weight = if rank > 0 { dot(i, j, dim, rank) } else { 1.0 };
                        0.5 * weight * (2.0 * dot(i, j, 0, dim)).exp() * f64::from(b[j * width + c])
                    };
                    let (want, size) =
                        (0..m).map(entry).fold((0.0, 0.0), |(s, a), v: f64| (s + v, a + v.abs()));
                    let error = (f64::from(*got) - want).abs();
                    assert!(error < 1e-5 * size, "{n}×{m}, {dim}, {rank}, {width}: {got}, not {want}");
                }
            }
        }
    }
}
