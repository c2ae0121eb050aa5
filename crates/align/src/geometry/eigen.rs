//! Eigenvectors of symmetric matrices.

use crate::watch::{Cancelled, NoWatch, Watch, unwatched};

/// Eigenvalues, largest first, and eigenvectors (the columns, row-major) of a symmetric matrix, by cyclic
/// Jacobi rotations in float64.
pub fn symmetric_eigen(a: Vec<f64>, n: usize) -> (Vec<f64>, Vec<f64>) {
    // Nobody is there to give it up.
    unwatched(symmetric_eigen_watched(a, n, &mut NoWatch)).unwrap_or_default()
}

/// Rounds over all pairs of columns, at most.
const SWEEPS: u32 = 60;
/// Numbers that are turned between two looks at who is watching.
const PATIENCE: usize = 1 << 24;

/// As [`symmetric_eigen`], which takes its time where there are hundreds of columns.
pub async fn symmetric_eigen_watched(
    mut a: Vec<f64>,
    n: usize,
    watch: &mut impl Watch,
) -> Result<(Vec<f64>, Vec<f64>), Cancelled> {
    assert_eq!(a.len(), n * n, "a square matrix");
    // Rows of `q` are the eigenvectors: rotations then work on memory in order.
    let mut q: Vec<f64> = (0..n * n).map(|e| f64::from(u8::from(e % (n + 1) == 0))).collect();
    let scale: f64 = a.iter().map(|v| v * v).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    let mut turned = 0;
    for sweep in 0..SWEEPS {
        let off: f64 =
            (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i * n + j].powi(2)).sum();
        if off.sqrt() <= 1e-12 * scale {
            break;
        }
        for i in 1..n {
            for j in 0..i {
                let (aii, ajj, aij) = (a[i * n + i], a[j * n + j], a[i * n + j]);
                if aij.abs() <= 1e-300 || aij.abs() < 1e-15 * scale {
                    continue;
                }
                let zeta = (ajj - aii) / (2.0 * aij);
                let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let c = 1.0 / (1.0 + t * t).sqrt();
                let s = c * t;
                turn_rows(&mut a, n, i, j, c, s);
                for row in a.chunks_exact_mut(n) {
                    (row[i], row[j]) = (c * row[i] - s * row[j], s * row[i] + c * row[j]);
                }
                turn_rows(&mut q, n, i, j, c, s);
                turned += 3 * n;
            }
            if turned >= PATIENCE {
                turned = 0;
                watch.step(f64::from(sweep) / f64::from(SWEEPS)).await?;
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[j * n + j].total_cmp(&a[i * n + i]));
    let values = order.iter().map(|&i| a[i * n + i]).collect();
    let vectors =
        (0..n).flat_map(|r| order.iter().map(move |&i| (i, r))).map(|(i, r)| q[i * n + r]).collect();
    Ok((values, vectors))
}

fn turn_rows(a: &mut [f64], n: usize, i: usize, j: usize, c: f64, s: f64) {
    let (low, high) = a.split_at_mut(i.max(j) * n);
    let (low, high) = (&mut low[i.min(j) * n..][..n], &mut high[..n]);
    let (x, y) = if i < j { (low, high) } else { (high, low) };
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Dense;
    use crate::geometry::spectral::gram;
    use crate::watch::Count;
    use compute::rng::Rng;

    #[test]
    fn eigenvectors_rebuild_the_matrix() {
        let n = 12;
        let points = Dense::new(20, n, Rng::new(1).fill(20 * n, -1.0, 1.0));
        let matrix = gram(&points);
        let (values, vectors) = symmetric_eigen(matrix.clone(), n);
        assert!(values.windows(2).all(|w| w[0] >= w[1]));
        for i in 0..n {
            for j in 0..n {
                let at = |r: usize, k: usize| vectors[r * n + k];
                let rebuilt: f64 = (0..n).map(|k| values[k] * at(i, k) * at(j, k)).sum();
                assert!((rebuilt - matrix[i * n + j]).abs() < 1e-9);
                let unit: f64 = (0..n).map(|r| at(r, i) * at(r, j)).sum();
                assert!((unit - f64::from(u8::from(i == j))).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn large_matrices_are_looked_at() {
        let looks = |n: usize| {
            let matrix = gram(&Dense::new(n, n, Rng::new(2).fill(n * n, -1.0, 1.0)));
            Count::looks(async |watch| symmetric_eigen_watched(matrix.clone(), n, watch).await)
        };
        let [small, large] = [40, 180].map(looks);
        assert!(small == 0 && large >= 2, "{small} and {large} looks");
    }
}
