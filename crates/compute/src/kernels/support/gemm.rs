//! The matrix product of the CPU executor in a browser. `matrixmultiply` has kernels for the instruction sets of
//! native processors; for WebAssembly it has only its portable one. The tile here is chosen for the registers that
//! a browser's compiler has, and small products are not packed more than they gain: it is a third faster on square
//! matrices and up to twice on narrow ones. Natively only the tests compile this file.
//!
//! The scheme is the usual one: B is packed into panels as wide as a tile, a block of a few rows of A is multiplied
//! with one panel after the other, and a tile of C stays in registers while the inner index runs.

/// Rows of a tile. With two registers to a row, its eight sums, the operands and the products in flight fit into
/// the fifteen registers that V8 allocates on x86; 5×2, 6×2 and 4×3 are most of them slower by a tenth to a quarter.
const ROWS: usize = 4;
/// Columns of a tile, in registers. What is left of a row may take a tile of one.
const WIDE: usize = 2;
/// The longest stretch of the inner index between two visits of C: a panel of B then stays in the first cache.
const DEPTH: usize = 384;
/// The most columns, in registers, that are packed at a time: they stay in the second cache.
const BREADTH: usize = 64;

/// Four lanes of B.
type Quad = [f32; 4];

#[cfg(target_arch = "wasm32")]
mod lanes {
    use core::arch::wasm32::{f32x4, f32x4_add, f32x4_extract_lane, f32x4_mul, f32x4_splat, v128};

    pub(super) type Lanes = v128;

    #[inline(always)]
    pub(super) fn load(&[a, b, c, d]: &[f32; 4]) -> Lanes {
        f32x4(a, b, c, d)
    }

    #[inline(always)]
    pub(super) fn splat(value: f32) -> Lanes {
        f32x4_splat(value)
    }

    #[inline(always)]
    pub(super) fn mul(a: Lanes, b: Lanes) -> Lanes {
        f32x4_mul(a, b)
    }

    #[inline(always)]
    pub(super) fn add(a: Lanes, b: Lanes) -> Lanes {
        f32x4_add(a, b)
    }

    #[inline(always)]
    pub(super) fn values(a: Lanes) -> [f32; 4] {
        [
            f32x4_extract_lane::<0>(a),
            f32x4_extract_lane::<1>(a),
            f32x4_extract_lane::<2>(a),
            f32x4_extract_lane::<3>(a),
        ]
    }
}

/// The same in plain arrays, so that everything else is tested natively.
#[cfg(not(target_arch = "wasm32"))]
mod lanes {
    use std::array::from_fn;

    pub(super) type Lanes = [f32; 4];

    pub(super) fn load(a: &[f32; 4]) -> Lanes {
        *a
    }

    pub(super) fn splat(value: f32) -> Lanes {
        [value; 4]
    }

    pub(super) fn mul(a: Lanes, b: Lanes) -> Lanes {
        from_fn(|l| a[l] * b[l])
    }

    pub(super) fn add(a: Lanes, b: Lanes) -> Lanes {
        from_fn(|l| a[l] + b[l])
    }

    pub(super) fn values(a: Lanes) -> [f32; 4] {
        a
    }
}

/// A matrix as a slice and its (row, column) strides.
type Strided<'a> = (&'a [f32], (usize, usize));

/// `C = alpha·A·B`, C dense and by rows.
pub(in super::super) fn gemm(
    [m, n, k]: [usize; 3],
    alpha: f32,
    a: Strided<'_>,
    b: Strided<'_>,
    c: &mut [f32],
) {
    if m == 0 || n == 0 {
        return;
    }
    if k == 0 {
        return c.fill(0.0);
    }
    let depth = k.div_ceil(k.div_ceil(DEPTH));
    let breadth = 4 * n.div_ceil(4).min(BREADTH);
    let mut packed_b = vec![[0.0; 4]; depth * breadth / 4];
    let mut packed_a = vec![[0.0; ROWS]; depth];
    for j in (0..n).step_by(breadth) {
        let columns = j..n.min(j + breadth);
        for p in (0..k).step_by(depth) {
            let inner = p..k.min(p + depth);
            pack_b(b, inner.clone(), columns.clone(), &mut packed_b);
            for (i, c) in c.chunks_mut(ROWS * n).enumerate() {
                let block = Block { c, n, j, alpha, first: p == 0 };
                let (i, rows) = (i * ROWS, m.min((i + 1) * ROWS) - i * ROWS);
                let (values, (down, across)) = a;
                if rows == ROWS && across == 1 {
                    let row = |r: usize| &values[(i + r) * down..][inner.clone()];
                    block.times([row(0), row(1), row(2), row(3)], &packed_b, columns.len());
                } else {
                    let packed = &mut packed_a[..inner.len()];
                    pack_a(a, i..i + rows, inner.clone(), packed);
                    block.times(&*packed, &packed_b, columns.len());
                }
            }
        }
    }
}

/// How wide the panel is that starts `left` columns from the end, in registers.
fn width(left: usize) -> usize {
    left.div_ceil(4).min(WIDE)
}

type Range = std::ops::Range<usize>;

/// Packs a block of B into panels: by the inner index, all columns of the panel. Columns that B does not have are
/// left as they were: what they contribute is not stored.
fn pack_b((b, (down, across)): Strided<'_>, inner: Range, columns: Range, mut packed: &mut [Quad]) {
    let mut j = columns.start;
    while j < columns.end {
        let width = width(columns.end - j);
        let (panel, rest) = packed.split_at_mut(width * inner.len());
        let present = (columns.end - j).min(4 * width);
        if across == 1 {
            for (row, p) in panel.chunks_exact_mut(width).zip(inner.clone()) {
                let from = &b[p * down + j..][..present];
                let row = row.as_flattened_mut();
                // Two whole registers are copied without a call.
                match (<&[f32; 4 * WIDE]>::try_from(from), row.first_chunk_mut()) {
                    (Ok(from), Some(row)) => *row = *from,
                    _ => row[..present].copy_from_slice(from),
                }
            }
        } else {
            for l in 0..present {
                let from = b[(j + l) * across + inner.start * down..].iter().step_by(down);
                let panel = panel.as_flattened_mut()[l..].iter_mut().step_by(4 * width);
                panel.zip(from).for_each(|(to, from)| *to = *from);
            }
        }
        packed = rest;
        j += 4 * width;
    }
}

/// Packs a few rows of A: by the inner index, all rows. Rows that A does not have are left as they were.
fn pack_a((a, (down, across)): Strided<'_>, rows: Range, inner: Range, packed: &mut [[f32; ROWS]]) {
    if down == 1 && rows.len() == ROWS {
        for (to, p) in packed.iter_mut().zip(inner) {
            if let Some(from) = a[p * across + rows.start..].first_chunk() {
                *to = *from;
            }
        }
    } else {
        for (to, p) in packed.iter_mut().zip(inner) {
            for (to, i) in to.iter_mut().zip(rows.clone()) {
                *to = a[i * down + p * across];
            }
        }
    }
}

/// A few rows of A, along the inner index.
trait Rows: Copy {
    /// How far the inner index runs.
    fn depth(self) -> usize;

    /// `rows · panel`, a tile of N registers to a row.
    fn tile<const N: usize>(self, panel: &[[Quad; N]]) -> [[lanes::Lanes; N]; ROWS];
}

impl Rows for &[[f32; ROWS]] {
    fn depth(self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn tile<const N: usize>(self, panel: &[[Quad; N]]) -> [[lanes::Lanes; N]; ROWS] {
        let mut sums = [[lanes::splat(0.0); N]; ROWS];
        for (a, b) in self.iter().zip(panel) {
            accumulate(&mut sums, *a, b);
        }
        sums
    }
}

impl Rows for [&[f32]; ROWS] {
    fn depth(self) -> usize {
        self[0].len()
    }

    #[inline(always)]
    fn tile<const N: usize>(self, panel: &[[Quad; N]]) -> [[lanes::Lanes; N]; ROWS] {
        let mut sums = [[lanes::splat(0.0); N]; ROWS];
        let [a0, a1, a2, a3] = self;
        for ((b, (a0, a1)), (a2, a3)) in panel.iter().zip(a0.iter().zip(a1)).zip(a2.iter().zip(a3)) {
            accumulate(&mut sums, [*a0, *a1, *a2, *a3], b);
        }
        sums
    }
}

#[inline(always)]
fn accumulate<const N: usize>(sums: &mut [[lanes::Lanes; N]; ROWS], a: [f32; ROWS], b: &[Quad; N]) {
    for (sums, a) in sums.iter_mut().zip(a) {
        for (sum, b) in sums.iter_mut().zip(b) {
            *sum = lanes::add(*sum, lanes::mul(lanes::splat(a), lanes::load(b)));
        }
    }
}

/// A few rows of C and what becomes of a product with them.
struct Block<'a> {
    c: &'a mut [f32],
    n: usize,
    /// The first column of the packed ones.
    j: usize,
    alpha: f32,
    /// Whether this is the first stretch of the inner index, which overwrites C.
    first: bool,
}

impl Block<'_> {
    fn times(mut self, rows: impl Rows, mut packed: &[Quad], columns: usize) {
        let mut at = 0;
        while at < columns {
            let width = width(columns - at);
            let (panel, rest) = packed.split_at(width * rows.depth());
            if width == WIDE {
                self.store(rows.tile(panel.as_chunks::<WIDE>().0), self.j + at);
            } else {
                self.store(rows.tile(panel.as_chunks::<1>().0), self.j + at);
            }
            packed = rest;
            at += 4 * width;
        }
    }

    #[inline(always)]
    fn store<const N: usize>(&mut self, tile: [[lanes::Lanes; N]; ROWS], j: usize) {
        let alpha = lanes::splat(self.alpha);
        for (c, sums) in self.c.chunks_exact_mut(self.n).zip(tile) {
            let c = &mut c[j..];
            for (l, sum) in sums.into_iter().enumerate() {
                let product = lanes::mul(alpha, sum);
                if let Some(c) = c.get_mut(4 * l..).and_then(|c| c.first_chunk_mut()) {
                    *c =
                        lanes::values(if self.first { product } else { lanes::add(lanes::load(c), product) });
                } else if let Some(c) = c.get_mut(4 * l..) {
                    for (c, product) in c.iter_mut().zip(lanes::values(product)) {
                        *c = if self.first { product } else { *c + product };
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn check([m, n, k]: [usize; 3], rng: &mut Rng) {
        let (a, b) = (rng.fill(m * k, -1.0, 1.0), rng.fill(k * n, -1.0, 1.0));
        for (a_strides, b_strides) in [((k, 1), (n, 1)), ((k, 1), (1, k)), ((1, m), (n, 1)), ((1, m), (1, k))]
        {
            let mut c = vec![f32::NAN; m * n];
            gemm([m, n, k], 0.5, (&a, a_strides), (&b, b_strides), &mut c);
            for (at, got) in c.iter().enumerate() {
                let (i, j) = (at / n, at % n);
                let term =
                    |p: usize| a[i * a_strides.0 + p * a_strides.1] * b[p * b_strides.0 + j * b_strides.1];
                let want = 0.5 * (0..k).map(|p| f64::from(term(p))).sum::<f64>();
                let error = (f64::from(*got) - want).abs();
                assert!(
                    error < 1e-5 * (k as f64).sqrt().max(1.0),
                    "{m}×{n}×{k} at {i}, {j}: {got}, not {want}"
                );
            }
        }
    }

    #[test]
    fn every_raggedness_is_a_plain_triple_loop() {
        let mut rng = Rng::new(12);
        for m in [1, 2, 3, 4, 5, 8, 11] {
            for n in [1, 3, 4, 5, 7, 8, 9, 12, 13, 16, 21] {
                for k in [0, 1, 2, 7, 16] {
                    check([m, n, k], &mut rng);
                }
            }
        }
    }

    #[test]
    fn blocks_of_either_kind_meet() {
        let mut rng = Rng::new(13);
        for n in [4 * BREADTH - 1, 4 * BREADTH, 4 * BREADTH + 1, 8 * BREADTH + 6] {
            for k in [DEPTH - 1, DEPTH, DEPTH + 1, 2 * DEPTH + 3] {
                check([6, n, k], &mut rng);
            }
        }
        check([0, 3, 2], &mut rng);
        check([3, 0, 2], &mut rng);
    }
}
