//! Eigenvectors and principal axes, and matrices as products of thin ones.

use super::Dense;
use crate::kernels::matmul::sgemm;
use crate::rng::Rng;
use crate::watch::{Cancelled, Watch};

/// Eigenvalues, largest first, and eigenvectors (the columns, row-major) of a symmetric matrix, by cyclic
/// Jacobi rotations in float64.
pub fn symmetric_eigen(mut a: Vec<f64>, n: usize) -> (Vec<f64>, Vec<f64>) {
    assert_eq!(a.len(), n * n, "a square matrix");
    // Rows of `q` are the eigenvectors: rotations then work on memory in order.
    let mut q: Vec<f64> = (0..n * n).map(|e| f64::from(u8::from(e % (n + 1) == 0))).collect();
    let scale: f64 = a.iter().map(|v| v * v).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    for _ in 0..60 {
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
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[j * n + j].total_cmp(&a[i * n + i]));
    let values = order.iter().map(|&i| a[i * n + i]).collect();
    let vectors =
        (0..n).flat_map(|r| order.iter().map(move |&i| (i, r))).map(|(i, r)| q[i * n + r]).collect();
    (values, vectors)
}

fn turn_rows(a: &mut [f64], n: usize, i: usize, j: usize, c: f64, s: f64) {
    let (low, high) = a.split_at_mut(i.max(j) * n);
    let (low, high) = (&mut low[i.min(j) * n..][..n], &mut high[..n]);
    let (x, y) = if i < j { (low, high) } else { (high, low) };
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}

/// `XᵀX` in float64.
pub fn gram(points: &Dense) -> Vec<f64> {
    let d = points.cols();
    let mut gram = vec![0f64; d * d];
    (0..points.rows()).for_each(|i| add_products(&mut gram, points.row(i)));
    gram
}

/// Products that are added between two looks at who is watching.
const PATIENCE: usize = 1 << 24;

/// As [`gram`], which takes its time where there are many points.
pub async fn gram_watched(points: &Dense, watch: &mut impl Watch) -> Result<Vec<f64>, Cancelled> {
    let d = points.cols();
    let mut gram = vec![0f64; d * d];
    let every = PATIENCE / (d * d).max(1) + 1;
    for i in 0..points.rows() {
        add_products(&mut gram, points.row(i));
        if (i + 1) % every == 0 {
            watch.step((i + 1) as f64 / points.rows() as f64).await?;
        }
    }
    Ok(gram)
}

fn add_products(gram: &mut [f64], row: &[f32]) {
    for (a, line) in row.iter().zip(gram.chunks_exact_mut(row.len())) {
        let a = f64::from(*a);
        line.iter_mut().zip(row).for_each(|(g, b)| *g += a * f64::from(*b));
    }
}

/// The most principal axes that are computed: beyond it only the strongest are kept.
pub const MOST_AXES: usize = 256;

/// The principal axes of points that are centred already: a matrix (columns are axes) that rotates the
/// points so that their first coordinate varies most, then the second, and so on. Axes along which nothing
/// varies are left out.
pub fn principal_axes(centred: &Dense) -> Dense {
    let (inner, basis) = strongest(centred);
    axes_of(gram(inner.as_ref().unwrap_or(centred)), basis)
}

/// As [`principal_axes`], which takes its time where there are many points.
pub async fn principal_axes_watched(centred: &Dense, watch: &mut impl Watch) -> Result<Dense, Cancelled> {
    let (inner, basis) = strongest(centred);
    Ok(axes_of(gram_watched(inner.as_ref().unwrap_or(centred), watch).await?, basis))
}

/// Where there are too many features for a full decomposition: the points within the subspace of the strongest axes, and
/// that subspace.
fn strongest(centred: &Dense) -> (Option<Dense>, Option<Dense>) {
    let basis = (centred.cols() > MOST_AXES).then(|| range_of_rows(centred, MOST_AXES));
    (basis.as_ref().map(|basis| product(centred, basis)), basis)
}

/// The axes that vary, given all products of coordinates.
fn axes_of(gram: Vec<f64>, basis: Option<Dense>) -> Dense {
    let k = gram.len().isqrt();
    let (values, vectors) = symmetric_eigen(gram, k);
    let floor = 1e-9 * values.first().copied().unwrap_or(0.0);
    let kept = values.iter().take_while(|v| **v > floor && **v > 0.0).count().max(1);
    let axes = Dense::from_fn(k, kept, |i, j| vectors[i * k + j] as f32);
    match basis {
        Some(basis) => product(&basis, &axes),
        None => axes,
    }
}

/// `A·B`.
pub fn product(a: &Dense, b: &Dense) -> Dense {
    assert_eq!(a.cols(), b.rows(), "inner sizes");
    let (m, k, n) = (a.rows(), a.cols(), b.cols());
    let mut out = vec![0.0; m * n];
    sgemm([m, n, k], 1.0, (a.data(), (k, 1)), (b.data(), (n, 1)), &mut out);
    Dense::new(m, n, out)
}

/// `Aᵀ·B`.
fn product_tn(a: &Dense, b: &Dense) -> Dense {
    let (k, m, n) = (a.rows(), a.cols(), b.cols());
    let mut out = vec![0.0; m * n];
    sgemm([m, n, k], 1.0, (a.data(), (1, m)), (b.data(), (n, 1)), &mut out);
    Dense::new(m, n, out)
}

/// Rounds of subspace iteration: each multiplies what lies outside by a factor below one, and three are
/// plenty for spectra that fall as those of distances do.
const ROUNDS: usize = 3;

/// An orthonormal basis (columns) of the `k` strongest directions of the rows of `a`.
fn range_of_rows(a: &Dense, k: usize) -> Dense {
    let mut rng = Rng::new(0x5eed);
    let k = k.min(a.cols()).min(a.rows());
    let mut basis = Dense::new(a.cols(), k, rng.fill(a.cols() * k, -1.0, 1.0));
    for _ in 0..ROUNDS {
        basis = orthonormal(&product_tn(a, &product(a, &basis)));
    }
    basis
}

/// Gram-Schmidt, twice, which is as good as exact. Columns that depend on earlier ones become zero.
fn orthonormal(a: &Dense) -> Dense {
    let (n, k) = (a.rows(), a.cols());
    let mut columns: Vec<Vec<f64>> =
        (0..k).map(|j| (0..n).map(|i| f64::from(a.at(i, j))).collect()).collect();
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    for j in 0..k {
        let (before, rest) = columns.split_at_mut(j);
        let column = &mut rest[0];
        let size = dot(column, column).sqrt();
        for _ in 0..2 {
            for other in before.iter() {
                let along = dot(column, other);
                column.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
            }
        }
        let left = dot(column, column).sqrt();
        let scale = if left > 1e-9 * size { 1.0 / left } else { 0.0 };
        column.iter_mut().for_each(|x| *x *= scale);
    }
    Dense::from_fn(n, k, |i, j| columns[j][i] as f32)
}

/// A square matrix as `left·rightᵀ`.
#[derive(Clone, Debug)]
pub struct Thin {
    pub left: Dense,
    pub right: Dense,
}

/// The thinnest product, in steps of 16 columns up to `most`, that keeps this share of the matrix's sum of
/// squares; `None` if there is none.
pub fn thin(matrix: &Dense, share: f64, most: usize) -> Option<Thin> {
    let squares = |m: &Dense| m.data().iter().map(|&v| f64::from(v).powi(2)).sum::<f64>();
    let whole = squares(matrix);
    (1..).map(|i| 16 * i).take_while(|k| *k <= most).find_map(|k| {
        let thin = thin_to(matrix, k);
        (squares(&thin.left) >= share * whole).then_some(thin)
    })
}

/// The best product of `k` columns, or nearly.
pub fn thin_to(matrix: &Dense, k: usize) -> Thin {
    let right = range_of_rows(matrix, k);
    Thin { left: product(matrix, &right), right }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn principal_axes_are_those_of_largest_variance() {
        // A flat cloud in a plane of 300 dimensions: two axes carry everything.
        let mut rng = Rng::new(2);
        let [u, v] = [0, 1].map(|_| rng.fill(300, -1.0, 1.0));
        let points = {
            let weights: Vec<(f32, f32)> =
                (0..50).map(|_| (rng.uniform(-3.0, 3.0), rng.uniform(-1.0, 1.0))).collect();
            Dense::from_fn(50, 300, |i, j| weights[i].0 * u[j] + weights[i].1 * v[j])
        };
        let axes = principal_axes(&points);
        let turned = product(&points, &axes);
        let size = |m: &Dense| m.data().iter().map(|&v| f64::from(v).powi(2)).sum::<f64>();
        assert!((size(&turned) / size(&points) - 1.0).abs() < 1e-4, "nothing is lost");
        let column = |j: usize| (0..50).map(|i| f64::from(turned.at(i, j)).powi(2)).sum::<f64>();
        assert!(column(0) > column(1));
        assert!((2..turned.cols()).all(|j| column(j) < 1e-5 * column(0)));
    }

    #[test]
    fn a_thin_product_keeps_what_it_promises() {
        let mut rng = Rng::new(3);
        let (a, b) =
            (Dense::new(60, 5, rng.fill(300, -1.0, 1.0)), Dense::new(5, 60, rng.fill(300, -1.0, 1.0)));
        let matrix = product(&a, &b);
        let Thin { left, right } = thin(&matrix, 0.999, 40).expect("rank five");
        assert_eq!(left.cols(), 16);
        for i in 0..60 {
            for j in 0..60 {
                let got: f32 = left.row(i).iter().zip(right.row(j)).map(|(a, b)| a * b).sum();
                assert!((got - matrix.at(i, j)).abs() < 1e-4);
            }
        }
        let noise = Dense::new(60, 60, rng.fill(3600, -1.0, 1.0));
        assert!(thin(&noise, 0.99, 40).is_none());
    }
}
