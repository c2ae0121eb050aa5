//! `A = L Lᵀ` of a positive definite matrix, and what L undoes. In float64: the matrices are small and may be nearly singular.

use super::Dense;

/// The lower triangle L, row-major.
pub struct Cholesky {
    n: usize,
    l: Vec<f64>,
}

impl Cholesky {
    /// None for a matrix that is not positive definite.
    pub fn new(a: &Dense) -> Option<Self> {
        let n = a.rows();
        assert_eq!(n, a.cols(), "a square matrix");
        let mut l = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let (row, other) = (&l[i * n..][..j], &l[j * n..][..j]);
                let rest = f64::from(a.at(i, j)) - row.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
                l[i * n + j] = if i == j {
                    if !(rest > 0.0 && rest.is_finite()) {
                        return None;
                    }
                    rest.sqrt()
                } else {
                    rest / l[j * n + j]
                };
            }
        }
        Some(Self { n, l })
    }

    /// `L⁻¹B`.
    pub fn undo(&self, b: &Dense) -> Dense {
        self.solved(b, (0..self.n).map(|i| (i, 0..i)), |i, j| self.l[i * self.n + j])
    }

    /// `L⁻ᵀB`.
    pub fn undo_transposed(&self, b: &Dense) -> Dense {
        let n = self.n;
        self.solved(b, (0..n).rev().map(|i| (i, i + 1..n)), |i, j| self.l[j * n + i])
    }

    /// Rows in an order in which each needs only those before it.
    fn solved(
        &self,
        b: &Dense,
        order: impl Iterator<Item = (usize, std::ops::Range<usize>)>,
        entry: impl Fn(usize, usize) -> f64,
    ) -> Dense {
        let cols = b.cols();
        assert_eq!(b.rows(), self.n, "as many rows");
        let mut out: Vec<f64> = b.data().iter().map(|v| f64::from(*v)).collect();
        let mut row = vec![0.0; cols];
        for (i, needed) in order {
            row.copy_from_slice(&out[i * cols..][..cols]);
            for j in needed {
                let factor = entry(i, j);
                row.iter_mut().zip(&out[j * cols..][..cols]).for_each(|(v, other)| *v -= factor * other);
            }
            let diagonal = entry(i, i);
            out[i * cols..][..cols].iter_mut().zip(&row).for_each(|(out, v)| *out = v / diagonal);
        }
        Dense::new(b.rows(), cols, out.iter().map(|v| *v as f32).collect())
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::geometry::products::product;

    #[test]
    fn factors_multiply_to_the_matrix_and_undo_it() {
        let l = Dense::new(3, 3, vec![2.0, 0.0, 0.0, -1.0, 1.5, 0.0, 0.5, 3.0, 0.25]);
        let transposed = Dense::from_fn(3, 3, |i, j| l.at(j, i));
        let factor = Cholesky::new(&product(&l, &transposed)).expect("positive definite");
        let b = Dense::new(3, 2, vec![1.0, -2.0, 0.5, 4.0, 3.0, 0.0]);
        for (back, what) in
            [(product(&l, &factor.undo(&b)), "L"), (product(&transposed, &factor.undo_transposed(&b)), "Lᵀ")]
        {
            for (found, wanted) in back.data().iter().zip(b.data()) {
                assert!((found - wanted).abs() < 1e-5, "{what}: {found}, not {wanted}");
            }
        }
    }

    #[test]
    fn what_is_not_positive_definite_has_no_factor() {
        assert!(Cholesky::new(&Dense::new(2, 2, vec![1.0, 2.0, 2.0, 1.0])).is_none());
        assert!(Cholesky::new(&Dense::new(1, 1, vec![f32::NAN])).is_none());
        assert!(Cholesky::new(&Dense::new(1, 1, vec![0.0])).is_none());
    }
}
