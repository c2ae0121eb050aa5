//! Products of many small matrices at once: a lane holds the entry of one matrix, so that every operation of one is the
//! same operation of all, without shuffles and without a packed copy.
//!
//! Sizes are multiples of [`TILE`]; callers fill up with zeros.

/// Rows of a tile, and what sizes are a multiple of.
pub(super) const TILE: usize = 4;
/// Columns of a tile: with four rows, its eight sums stay in registers beside their operands.
const WIDE: usize = 2;

/// One entry of `L` matrices.
pub(super) type Lane<const L: usize> = [f32; L];

#[inline(always)]
fn fma<const L: usize, const FUSED: bool>(sum: &mut Lane<L>, a: &Lane<L>, b: &Lane<L>) {
    for ((sum, a), b) in sum.iter_mut().zip(a).zip(b) {
        *sum = if FUSED { a.mul_add(*b, *sum) } else { a * b + *sum };
    }
}

#[inline(always)]
pub(super) fn add_scaled<const L: usize, const FUSED: bool>(sum: &mut Lane<L>, a: &Lane<L>, s: f32) {
    fma::<L, FUSED>(sum, a, &[s; L]);
}

/// `A·Bᵀ` if `NT`, else `A·B`; with `LOWER` only the tiles on and below the diagonal, mirrored: for results that are
/// symmetric.
#[inline(always)]
pub(super) fn product<const L: usize, const FUSED: bool, const NT: bool, const LOWER: bool>(
    a: &[Lane<L>],
    b: &[Lane<L>],
    out: &mut [Lane<L>],
    k: usize,
) {
    for i in (0..k).step_by(TILE) {
        let end = if LOWER { i + TILE } else { k };
        for j in (0..end).step_by(WIDE) {
            let mut sums = [[[0.0; L]; WIDE]; TILE];
            for l in 0..k {
                let right: [&Lane<L>; WIDE] =
                    std::array::from_fn(|c| if NT { &b[(j + c) * k + l] } else { &b[l * k + j + c] });
                for (r, sums) in sums.iter_mut().enumerate() {
                    let left = &a[(i + r) * k + l];
                    for (sum, right) in sums.iter_mut().zip(right) {
                        fma::<L, FUSED>(sum, left, right);
                    }
                }
            }
            for (r, sums) in sums.iter().enumerate() {
                for (c, sum) in sums.iter().enumerate() {
                    out[(i + r) * k + j + c] = *sum;
                    if LOWER {
                        out[(j + c) * k + i + r] = *sum;
                    }
                }
            }
        }
    }
}

/// `A·T` for one T that all matrices have in common.
#[inline(always)]
pub(super) fn times_common<const L: usize, const FUSED: bool>(
    a: &[Lane<L>],
    t: &[f32],
    out: &mut [Lane<L>],
    k: usize,
) {
    for i in (0..k).step_by(TILE) {
        for j in (0..k).step_by(WIDE) {
            let mut sums = [[[0.0; L]; WIDE]; TILE];
            for l in 0..k {
                for (r, sums) in sums.iter_mut().enumerate() {
                    let left = &a[(i + r) * k + l];
                    for (c, sum) in sums.iter_mut().enumerate() {
                        add_scaled::<L, FUSED>(sum, left, t[l * k + j + c]);
                    }
                }
            }
            for (r, sums) in sums.iter().enumerate() {
                out[(i + r) * k + j..][..WIDE].copy_from_slice(sums);
            }
        }
    }
}

/// `T·A` for one symmetric T that all matrices have in common.
#[inline(always)]
pub(super) fn common_times<const L: usize, const FUSED: bool>(
    t: &[f32],
    a: &[Lane<L>],
    out: &mut [Lane<L>],
    k: usize,
) {
    for i in 0..k {
        let row = &mut out[i * k..][..k];
        row.fill([0.0; L]);
        for l in 0..k {
            for (sum, a) in row.iter_mut().zip(&a[l * k..][..k]) {
                add_scaled::<L, FUSED>(sum, a, t[i * k + l]);
            }
        }
    }
}

/// `Σ a∘b`, matrix by matrix.
#[inline(always)]
pub(super) fn dots<const L: usize, const FUSED: bool>(a: &[Lane<L>], b: &[Lane<L>]) -> Lane<L> {
    let mut sum = [0.0; L];
    a.iter().zip(b).for_each(|(a, b)| fma::<L, FUSED>(&mut sum, a, b));
    sum
}
