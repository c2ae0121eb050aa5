//! The orthogonal matrix nearest to a matrix: the Procrustes rotation of `M = XᵀΠY`.

use super::Dense;
use compute::kernels::matmul::sgemm;

/// Iterations, at most. Directions that are a millionth of the strongest still arrive.
const ITERATIONS: usize = 40;
/// How far columns may be from orthonormal.
const TOLERANCE: f32 = 1e-5;
/// Takes singular values in [0, 1] into itself but for a little, and small ones more than threefold.
pub(super) const LIFTING: [f32; 3] = [3.4445, -4.7750, 2.0315];
/// `(15 − 10x² + 3x⁴)x/8`: 1 is a fixed point, with two derivatives zero.
pub(super) const CONVERGING: [f32; 3] = [1.875, -1.25, 0.375];
/// Lifts before the iterations that converge: what is smaller than 3.4⁻ᵗʰⁱˢ of the strongest needs more of those.
const LIFTS: usize = 10;

/// `UVᵀ` of `M = U diag(s) Vᵀ`, by odd polynomials of the singular values. Directions in which M is zero stay zero.
pub fn polar(m: &Dense) -> Dense {
    let (rows, cols) = (m.rows(), m.cols());
    let wide = cols > rows;
    let (long, short) = (rows.max(cols), rows.min(cols));
    // As many rows as the longer side has, so that the Gram matrix is the smaller one.
    let mut x: Vec<f32> = if wide {
        (0..long * short).map(|e| m.at(e % short, e / short)).collect()
    } else {
        m.data().to_vec()
    };
    let size = x.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
    let scale = if size > 0.0 { (1.0 / size) as f32 } else { 0.0 };
    x.iter_mut().for_each(|v| *v *= scale);
    let [mut gram, mut square] = [0, 1].map(|_| vec![0.0; short * short]);
    let mut next = vec![0.0; long * short];
    let mut before = f32::MAX;
    for iteration in 0..ITERATIONS {
        sgemm([short, short, long], 1.0, (&x, (1, short)), (&x, (short, 1)), &mut gram);
        let (mut all, mut off) = (0f32, 0f32);
        for (e, v) in gram.iter().enumerate() {
            let diagonal = e % (short + 1) == 0;
            let apart = (v - if diagonal { 1.0 } else { 0.0 }).abs();
            all = all.max(apart);
            // A direction that stays zero after all lifts is one.
            off = off.max(if diagonal && *v < 1e-3 { 0.0 } else { apart });
        }
        let lifting = iteration < LIFTS && all > 0.5;
        if all < TOLERANCE || (!lifting && (off < TOLERANCE || (off < 1e-3 && off >= before))) {
            break;
        }
        before = off;
        let [a, b, c] = if lifting { LIFTING } else { CONVERGING };
        sgemm([short, short, short], 1.0, (&gram, (short, 1)), (&gram, (short, 1)), &mut square);
        for (e, (square, gram)) in square.iter_mut().zip(&gram).enumerate() {
            *square = if e % (short + 1) == 0 { a } else { 0.0 } + b * gram + c * *square;
        }
        sgemm([long, short, short], 1.0, (&x, (short, 1)), (&square, (short, 1)), &mut next);
        std::mem::swap(&mut x, &mut next);
    }
    if wide { Dense::from_fn(rows, cols, |i, j| x[j * short + i]) } else { Dense::new(rows, cols, x) }
}

/// The sum of the singular values, as `⟨M, UVᵀ⟩`.
pub fn nuclear_norm(m: &Dense) -> f64 {
    m.data().iter().zip(polar(m).data()).map(|(m, u)| f64::from(*m) * f64::from(*u)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::eigen::symmetric_eigen;
    use crate::geometry::spectral::gram;
    use compute::rng::Rng;

    #[test]
    fn the_nuclear_norm_is_the_sum_of_singular_values() {
        for (rows, cols) in [(1, 1), (6, 6), (9, 4), (4, 9), (40, 40)] {
            let m = Dense::new(rows, cols, Rng::new(5).fill(rows * cols, -1.0, 1.0));
            let (values, _) = symmetric_eigen(gram(&m), cols);
            let want: f64 = values.iter().map(|v| v.max(0.0).sqrt()).sum();
            let got = nuclear_norm(&m);
            assert!((got - want).abs() < 2e-4 * want, "{rows}×{cols}: {got} instead of {want}");
        }
    }

    #[test]
    fn the_polar_factor_of_a_stretched_rotation_is_the_rotation() {
        let (s, c) = 0.6f32.sin_cos();
        let rotation = Dense::new(2, 2, vec![c, -s, s, c]);
        // Stretched a thousandfold along one axis.
        let m = Dense::from_fn(2, 2, |i, j| rotation.at(i, j) * [1.0, 1e-3][j]);
        assert!(polar(&m).data().iter().zip(rotation.data()).all(|(a, b)| (a - b).abs() < 1e-4));
        let flat = Dense::new(2, 2, vec![3.0, 0.0, 0.0, 0.0]);
        assert!(polar(&flat).data().iter().zip([1.0, 0.0, 0.0, 0.0]).all(|(a, b)| (a - b).abs() < 1e-4));
        assert_eq!(polar(&Dense::new(2, 2, vec![0.0; 4])).data(), [0.0; 4]);
    }
}
