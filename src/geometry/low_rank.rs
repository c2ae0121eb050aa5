//! Distances that are sums of a few products: `D = U diag(s) Uᵀ`, without ever holding D.

use super::Dense;
use super::distance::Metric;
use super::normalise::Normalisation;

/// The factors of a distance matrix, scaled so that its mean is ½.
#[derive(Clone, Debug)]
pub struct LowRank {
    /// U, one row a point.
    pub u: Dense,
    /// U diag(s).
    pub us: Dense,
}

/// The factors for metrics that have them; `None` for the others, and for points that all coincide.
///
/// Cosine: `11ᵀ − X̂X̂ᵀ`. Squared Euclidean: `q1ᵀ + 1qᵀ − 2XXᵀ` with q the squared norms, where
/// `q1ᵀ + 1qᵀ = ½((q+1)(q+1)ᵀ − (q−1)(q−1)ᵀ)`.
pub fn factors(points: &Dense, metric: Metric) -> Option<LowRank> {
    let (n, d) = (points.rows(), points.cols());
    let mut x = points.clone();
    let (u, s): (Dense, Vec<f64>) = match metric {
        Metric::Cosine => {
            Normalisation::L2Rows.apply(&mut x);
            let u = Dense::from_fn(n, d + 1, |i, j| if j == d { 1.0 } else { x.at(i, j) });
            (u, (0..=d).map(|j| if j == d { 1.0 } else { -1.0 }).collect())
        }
        Metric::SquaredEuclidean => {
            Normalisation::Centre.apply(&mut x);
            // In units in which a squared norm is about one, so that q and 1 are of one size.
            let mean_square = x.data().iter().map(|&v| f64::from(v).powi(2)).sum::<f64>() / n as f64;
            let unit = if mean_square > 0.0 { mean_square.sqrt() } else { 1.0 };
            x = Dense::from_fn(n, d, |i, j| (f64::from(x.at(i, j)) / unit) as f32);
            let q: Vec<f32> = (0..n).map(|i| x.row(i).iter().map(|v| v * v).sum()).collect();
            let u = Dense::from_fn(n, d + 2, |i, j| match j {
                j if j < d => x.at(i, j),
                j if j == d => q[i] + 1.0,
                _ => q[i] - 1.0,
            });
            (u, (0..d + 2).map(|j| if j < d { -2.0 } else { 1.5 - f64::from(1 + (j - d) as u8) }).collect())
        }
        Metric::Euclidean | Metric::Correlation => return None,
    };
    let column_mean = |j: usize| (0..n).map(|i| f64::from(u.at(i, j))).sum::<f64>() / n as f64;
    let mean: f64 = s.iter().enumerate().map(|(j, s)| s * column_mean(j).powi(2)).sum();
    if mean.is_nan() || mean <= 1e-9 {
        return None;
    }
    let us = Dense::from_fn(n, u.cols(), |i, j| (f64::from(u.at(i, j)) * s[j] * 0.5 / mean) as f32);
    Some(LowRank { u, us })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::distance::pairwise;
    use crate::rng::Rng;

    #[test]
    fn factors_multiply_to_the_normalised_distances() {
        let points = Dense::new(20, 4, Rng::new(4).fill(80, 3.0, 5.0));
        for metric in [Metric::Cosine, Metric::SquaredEuclidean] {
            let want = pairwise(&points, metric);
            let mean = want.data().iter().map(|&v| f64::from(v)).sum::<f64>() / 400.0;
            let LowRank { u, us } = factors(&points, metric).expect("has factors");
            for i in 0..20 {
                for j in 0..20 {
                    let got: f64 =
                        u.row(i).iter().zip(us.row(j)).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
                    let want = 0.5 * f64::from(want.at(i, j)) / mean;
                    assert!((got - want).abs() < 2e-4, "{metric:?} {i} {j}: {got} {want}");
                }
            }
        }
        assert!(factors(&points, Metric::Euclidean).is_none());
        assert!(factors(&Dense::new(3, 1, vec![2.0; 3]), Metric::SquaredEuclidean).is_none());
    }
}
