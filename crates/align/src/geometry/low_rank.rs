//! Distances that are sums of a few products: `D = U diag(s) Uᵀ`, without ever holding D.

use super::Dense;
use super::distance::{Metric, prepared};
use super::normalise::Normalisation;
use super::spectral::thin_to_watched;
use crate::watch::{Cancelled, NoWatch, Watch, unwatched};

/// The factors of a distance matrix, scaled so that its mean is ½.
#[derive(Clone, Debug)]
pub struct LowRank {
    /// U, one row a point.
    pub u: Dense,
    /// s.
    pub s: Vec<f32>,
}

impl LowRank {
    /// U diag(s).
    pub fn scaled(&self) -> Dense {
        Dense::from_fn(self.u.rows(), self.u.cols(), |i, j| self.u.at(i, j) * self.s[j])
    }

    /// diag(s).
    pub fn diagonal(&self) -> Dense {
        Dense::from_fn(self.s.len(), self.s.len(), |i, j| if i == j { self.s[j] } else { 0.0 })
    }
}

/// The factors for metrics that have them; `None` for the others, and for points that all coincide.
///
/// Cosine, and correlation with centred rows: `11ᵀ − X̂X̂ᵀ`. Squared Euclidean: `q1ᵀ + 1qᵀ − 2XXᵀ` with q the squared norms, where
/// `q1ᵀ + 1qᵀ = ½((q+1)(q+1)ᵀ − (q−1)(q−1)ᵀ)`. Of points with more than `most` columns XXᵀ is that of the `most`
/// directions that hold most of it.
pub fn factors(points: &Dense, metric: Metric, most: usize) -> Option<LowRank> {
    // Nobody is there to give it up.
    unwatched(factors_watched(points, metric, most, &mut NoWatch)).unwrap_or_default()
}

/// As [`factors`], which takes its time where there are many points and columns.
pub async fn factors_watched(
    points: &Dense,
    metric: Metric,
    most: usize,
    watch: &mut impl Watch,
) -> Result<Option<LowRank>, Cancelled> {
    let n = points.rows();
    let mut narrowed = async |x: Dense| -> Result<Dense, Cancelled> {
        Ok(if x.cols() > most { thin_to_watched(&x, most, watch).await?.left } else { x })
    };
    let (u, s): (Dense, Vec<f64>) = match metric {
        Metric::Cosine | Metric::Correlation => {
            let x = narrowed(prepared(points, &[], metric)).await?;
            let d = x.cols();
            let u = Dense::from_fn(n, d + 1, |i, j| if j == d { 1.0 } else { x.at(i, j) });
            (u, (0..=d).map(|j| if j == d { 1.0 } else { -1.0 }).collect())
        }
        Metric::SquaredEuclidean => {
            let mut x = points.clone();
            Normalisation::Centre.apply(&mut x);
            // In units in which a squared norm is about one, so that q and 1 are of one size.
            let mean_square = x.data().iter().map(|&v| f64::from(v).powi(2)).sum::<f64>() / n as f64;
            let unit = if mean_square > 0.0 { mean_square.sqrt() } else { 1.0 };
            let x = Dense::from_fn(n, x.cols(), |i, j| (f64::from(x.at(i, j)) / unit) as f32);
            let q: Vec<f32> = (0..n).map(|i| x.row(i).iter().map(|v| v * v).sum()).collect();
            let x = narrowed(x).await?;
            let d = x.cols();
            let u = Dense::from_fn(n, d + 2, |i, j| match j {
                j if j < d => x.at(i, j),
                j if j == d => q[i] + 1.0,
                _ => q[i] - 1.0,
            });
            (u, (0..d + 2).map(|j| if j < d { -2.0 } else { 1.5 - f64::from(1 + (j - d) as u8) }).collect())
        }
        Metric::Euclidean => return Ok(None),
    };
    let column_mean = |j: usize| (0..n).map(|i| f64::from(u.at(i, j))).sum::<f64>() / n as f64;
    let mean: f64 = s.iter().enumerate().map(|(j, s)| s * column_mean(j).powi(2)).sum();
    if mean.is_nan() || mean <= 1e-9 {
        return Ok(None);
    }
    let s = s.into_iter().map(|s| (s * 0.5 / mean) as f32).collect();
    Ok(Some(LowRank { u, s }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::distance::pairwise;
    use crate::geometry::products::product;
    use compute::rng::Rng;

    /// The largest difference between the product of the factors and the distances with mean ½.
    fn error(low: &LowRank, distances: &Dense) -> f64 {
        let (n, us) = (distances.rows(), low.scaled());
        let mean = distances.data().iter().map(|&v| f64::from(v)).sum::<f64>() / (n * n) as f64;
        let apart = |e: usize| {
            let (a, b) = (low.u.row(e / n), us.row(e % n));
            let got: f64 = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
            (got - 0.5 * f64::from(distances.data()[e]) / mean).abs()
        };
        (0..n * n).map(apart).fold(0.0, f64::max)
    }

    #[test]
    fn factors_multiply_to_the_normalised_distances() {
        let points = Dense::new(20, 4, Rng::new(4).fill(80, 3.0, 5.0));
        for metric in [Metric::Cosine, Metric::Correlation, Metric::SquaredEuclidean] {
            let want = pairwise(&points, metric);
            let low = factors(&points, metric, 4).expect("has factors");
            assert!(error(&low, &want) < 2e-4, "{metric:?}: {}", error(&low, &want));
            let fewer = factors(&points, metric, 1).expect("has factors");
            assert!(error(&fewer, &want) > 0.01, "something is left out");
        }
        assert!(factors(&points, Metric::Euclidean, 4).is_none());
        assert!(factors(&Dense::new(3, 1, vec![2.0; 3]), Metric::SquaredEuclidean, 4).is_none());
    }

    /// Many columns, few directions: nothing is lost.
    #[test]
    fn wide_points_keep_the_directions_that_matter() {
        let mut rng = Rng::new(5);
        let (a, b) =
            (Dense::new(30, 3, rng.fill(90, -1.0, 1.0)), Dense::new(3, 80, rng.fill(240, -1.0, 1.0)));
        let points = product(&a, &b);
        for metric in [Metric::Cosine, Metric::SquaredEuclidean] {
            let low = factors(&points, metric, 6).expect("has factors");
            assert!(low.u.cols() <= 8, "{}", low.u.cols());
            let error = error(&low, &pairwise(&points, metric));
            assert!(error < 1e-3, "{metric:?}: {error}");
        }
    }
}
