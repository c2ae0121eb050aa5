//! Principal axes, and matrices as products of thin ones.

use super::Dense;
use super::eigen::symmetric_eigen_watched;
use super::products::{product_watched, transposed_product_watched};
use crate::watch::{Cancelled, NoWatch, Watch, unwatched};
use compute::rng::Rng;

/// `XᵀX` in float64.
pub fn gram(points: &Dense) -> Vec<f64> {
    // Nobody is there to give it up.
    unwatched(gram_watched(points, &mut NoWatch)).unwrap_or_default()
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
    // Nobody is there to give it up.
    unwatched(principal_axes_watched(centred, &mut NoWatch)).unwrap_or_else(|_| centred.clone())
}

/// As [`principal_axes`], which takes its time where there are many points or columns.
pub async fn principal_axes_watched(centred: &Dense, watch: &mut impl Watch) -> Result<Dense, Cancelled> {
    if centred.cols() <= MOST_AXES {
        return axes_of(gram_watched(centred, watch).await?, watch).await;
    }
    // Too many columns for a full decomposition: that of the points within the subspace of the strongest axes.
    let basis = range_of_rows(centred, MOST_AXES, watch).await?;
    let gram = {
        let inner = product_watched(centred, &basis, watch).await?;
        gram_watched(&inner, watch).await?
    };
    product_watched(&basis, &axes_of(gram, watch).await?, watch).await
}

/// The axes that vary, given all products of coordinates.
async fn axes_of(gram: Vec<f64>, watch: &mut impl Watch) -> Result<Dense, Cancelled> {
    let k = gram.len().isqrt();
    let (values, vectors) = symmetric_eigen_watched(gram, k, watch).await?;
    let floor = 1e-9 * values.first().copied().unwrap_or(0.0);
    let kept = values.iter().take_while(|v| **v > floor && **v > 0.0).count().max(1);
    Ok(Dense::from_fn(k, kept, |i, j| vectors[i * k + j] as f32))
}

/// Rounds of subspace iteration: each multiplies what lies outside by a factor below one, and three are
/// plenty for spectra that fall as those of distances do.
const ROUNDS: usize = 3;

/// An orthonormal basis (columns) of the `k` strongest directions of the rows of `a`.
async fn range_of_rows(a: &Dense, k: usize, watch: &mut impl Watch) -> Result<Dense, Cancelled> {
    let mut rng = Rng::new(0x5eed);
    let k = k.min(a.cols()).min(a.rows());
    let mut basis = Dense::new(a.cols(), k, rng.fill(a.cols() * k, -1.0, 1.0));
    for _ in 0..ROUNDS {
        let there = product_watched(a, &basis, watch).await?;
        basis = orthonormal(&transposed_product_watched(a, &there, watch).await?, watch).await?;
    }
    Ok(basis)
}

/// Gram-Schmidt, twice, which is as good as exact. Columns that depend on earlier ones become zero.
async fn orthonormal(a: &Dense, watch: &mut impl Watch) -> Result<Dense, Cancelled> {
    let (n, k) = (a.rows(), a.cols());
    let mut columns: Vec<Vec<f64>> =
        (0..k).map(|j| (0..n).map(|i| f64::from(a.at(i, j))).collect()).collect();
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let mut done = 0;
    for j in 0..k {
        let (before, rest) = columns.split_at_mut(j);
        let column = &mut rest[0];
        done += 4 * j * n;
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
        if done >= PATIENCE {
            done = 0;
            watch.step((j + 1) as f64 / k as f64).await?;
        }
    }
    Ok(Dense::from_fn(n, k, |i, j| columns[j][i] as f32))
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
    // Nobody is there to give it up.
    unwatched(thin_watched(matrix, share, most, &mut NoWatch)).unwrap_or_default()
}

/// As [`thin`], which takes its time where the matrix is large.
pub async fn thin_watched(
    matrix: &Dense,
    share: f64,
    most: usize,
    watch: &mut impl Watch,
) -> Result<Option<Thin>, Cancelled> {
    let squares = |m: &Dense| m.data().iter().map(|&v| f64::from(v).powi(2)).sum::<f64>();
    let whole = squares(matrix);
    for k in (16..=most).step_by(16) {
        let thin = thin_to_watched(matrix, k, watch).await?;
        if squares(&thin.left) >= share * whole {
            return Ok(Some(thin));
        }
    }
    Ok(None)
}

/// The best product of `k` columns, or nearly.
pub async fn thin_to_watched(matrix: &Dense, k: usize, watch: &mut impl Watch) -> Result<Thin, Cancelled> {
    let right = range_of_rows(matrix, k, watch).await?;
    Ok(Thin { left: product_watched(matrix, &right, watch).await?, right })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::products::product;
    use crate::watch::Count;

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

    /// With more columns than axes are computed of, most of the work comes before all products of coordinates.
    #[test]
    fn axes_of_many_columns_are_looked_at() {
        let looks = |rows: usize| {
            let points = Dense::new(rows, 300, Rng::new(5).fill(rows * 300, -1.0, 1.0));
            let mut before = Count::default();
            unwatched(range_of_rows(&points, MOST_AXES, &mut before)).expect("nobody gives it up");
            let all = Count::looks(async |watch| principal_axes_watched(&points, watch).await);
            (before.seen, all)
        };
        let (few, many) = (looks(600), looks(6000));
        // Each of six products is cut into three.
        assert!(many.0 >= few.0 + 12 && many.1 > many.0, "{few:?} and {many:?} looks");
        // A few columns, side by side.
        let wide = Dense::new(300, 4000, Rng::new(5).fill(300 * 4000, -1.0, 1.0));
        let mut found = Count::default();
        unwatched(orthonormal(&Dense::new(4000, 100, wide.data()[..400_000].to_vec()), &mut found))
            .expect("nobody gives it up");
        assert!(found.seen >= 4, "{} looks", found.seen);
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
