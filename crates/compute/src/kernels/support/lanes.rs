//! Sums in lanes: a compiler may not reorder floating-point sums, so the order that SIMD needs is written
//! out.

/// Enough to fill four registers of four, which hides the latency of an addition.
const LANES: usize = 16;

/// `Σ f(a_i, b_i)`.
#[inline(always)]
pub fn sum_of(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> f32 {
    fold_of(a, b, 0.0, f, |x, y| x + y)
}

/// `max f(a_i, b_i)`.
#[inline(always)]
pub fn max_of(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> f32 {
    fold_of(a, b, -3e38, f, |x, y| if x > y { x } else { y })
}

/// The larger of the two. `f32::max` promises more about NaN than the instruction does: in WebAssembly it is a
/// call for every element, and a loop with it does not become SIMD. What is not a number becomes the floor.
#[inline(always)]
pub fn at_least(floor: f32, x: f32) -> f32 {
    if x > floor { x } else { floor }
}

/// Folds `f(a_i, b_i)` with an operation whose order does not matter. Also what is left of the lanes is taken in
/// registers of four, and the lanes are folded by halves: rows are short, so ends count.
#[inline(always)]
fn fold_of(
    a: &[f32],
    b: &[f32],
    start: f32,
    f: impl Fn(f32, f32) -> f32,
    combine: impl Fn(f32, f32) -> f32,
) -> f32 {
    let mut lanes = [start; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            lanes[l] = combine(lanes[l], f(a[l], b[l]));
        }
    }
    let eight: [f32; 8] = std::array::from_fn(|l| combine(lanes[l], lanes[l + 8]));
    let mut four: [f32; 4] = std::array::from_fn(|l| combine(eight[l], eight[l + 4]));
    let ((a, a_rest), (b, b_rest)) = (a_rest.as_chunks::<4>(), b_rest.as_chunks::<4>());
    for (a, b) in a.iter().zip(b) {
        four = std::array::from_fn(|l| combine(four[l], f(a[l], b[l])));
    }
    let all = a_rest.iter().zip(b_rest).fold(start, |all, (a, b)| combine(all, f(*a, *b)));
    four.into_iter().fold(all, combine)
}

pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    sum_of(a, b, |a, b| a * b)
}

pub(in super::super) fn sum(a: &[f32]) -> f32 {
    sum_of(a, a, |a, _| a)
}

/// `out = Kᵀv` for a row-major K, four rows at a time.
pub fn transposed_product(k: &[f32], v: &[f32], out: &mut [f32]) {
    let cols = out.len();
    out.fill(0.0);
    let (blocks, weights) = (k.chunks_exact(4 * cols), v.chunks_exact(4));
    let rest = blocks.remainder().chunks_exact(cols).zip(weights.remainder());
    for (row, v) in rest {
        out.iter_mut().zip(row).for_each(|(sum, k)| *sum += k * v);
    }
    for (block, v) in blocks.zip(weights) {
        let (top, bottom) = block.split_at(2 * cols);
        let ((a, b), (c, d)) = (top.split_at(cols), bottom.split_at(cols));
        let rows = a.iter().zip(b).zip(c.iter().zip(d));
        for (sum, ((a, b), (c, d))) in out.iter_mut().zip(rows) {
            *sum += (a * v[0] + b * v[1]) + (c * v[2] + d * v[3]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn every_length_is_summed_whole() {
        let mut rng = Rng::new(3);
        for len in [0, 1, 4, 15, 16, 17, 23, 50] {
            let (a, b) = (rng.fill(len, -3.0, -1.0), rng.fill(len, 0.5, 1.0));
            let plain: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert!((dot(&a, &b) - plain).abs() < 1e-4);
            assert_eq!(max_of(&a, &b, |a, _| a), a.iter().copied().fold(-3e38, f32::max));
        }
        for rows in [1, 4, 7] {
            let (k, v) = (rng.fill(rows * 5, -1.0, 1.0), rng.fill(rows, -1.0, 1.0));
            let mut out = [9.0; 5];
            transposed_product(&k, &v, &mut out);
            for (j, got) in out.iter().enumerate() {
                let want: f32 = (0..rows).map(|i| k[i * 5 + j] * v[i]).sum();
                assert!((got - want).abs() < 1e-5);
            }
        }
    }
}
