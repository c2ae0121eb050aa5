//! Sums in lanes: a compiler may not reorder floating-point sums, so the order that SIMD needs is written
//! out.

/// Enough to fill four registers of four, which hides the latency of an addition.
const LANES: usize = 16;

/// `Σ f(a_i, b_i)`.
#[inline(always)]
pub(in super::super) fn sum_of(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [0f32; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            lanes[l] += f(a[l], b[l]);
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| f(*a, *b)).sum();
    lanes.iter().sum::<f32>() + rest
}

/// `max f(a_i, b_i)`.
#[inline(always)]
pub(in super::super) fn max_of(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> f32 {
    let larger = |x: f32, y: f32| if x > y { x } else { y };
    let mut lanes = [-3e38f32; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            lanes[l] = larger(lanes[l], f(a[l], b[l]));
        }
    }
    let rest = a_rest.iter().zip(b_rest).fold(-3e38, |top, (a, b)| larger(top, f(*a, *b)));
    lanes.into_iter().fold(rest, larger)
}

pub(in super::super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    sum_of(a, b, |a, b| a * b)
}

pub(in super::super) fn sum(a: &[f32]) -> f32 {
    sum_of(a, a, |a, _| a)
}

/// `out = Kᵀv` for a row-major K, four rows at a time.
pub(in super::super) fn transposed_product(k: &[f32], v: &[f32], out: &mut [f32]) {
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
        for len in [0, 1, 15, 16, 17, 50] {
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
