//! Distances between points.

use super::Dense;
use super::products::product_with_transposed_watched;
use crate::watch::{Cancelled, NoWatch, Watch, unwatched};

/// How far apart two points are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    Euclidean,
    SquaredEuclidean,
    /// 1 − cosine of the angle. A zero vector is at distance 1 from everything.
    Cosine,
    /// 1 − Pearson correlation: the cosine distance of centred rows.
    Correlation,
}

/// All distances within one side: symmetric, zero on the diagonal.
pub fn pairwise(points: &Dense, metric: Metric) -> Dense {
    // Nobody is there to give it up.
    unwatched(pairwise_watched(points, metric, &mut NoWatch)).unwrap_or_else(|_| points.clone())
}

/// As [`pairwise`], which takes its time where there are many points or columns.
pub async fn pairwise_watched(
    points: &Dense,
    metric: Metric,
    watch: &mut impl Watch,
) -> Result<Dense, Cancelled> {
    let mut distances = between_watched(points, points, metric, watch).await?;
    for i in 0..points.rows() {
        distances.row_mut(i)[i] = 0.0;
        for j in 0..i {
            let both = 0.5 * (distances.at(i, j) + distances.at(j, i));
            distances.row_mut(i)[j] = both;
            distances.row_mut(j)[i] = both;
        }
    }
    Ok(distances)
}

/// The mean of a matrix and its transpose: given distances need not be symmetric, and some losses take them to be.
pub fn symmetric(distances: &Dense) -> Dense {
    let n = distances.rows();
    Dense::from_fn(n, n, |i, j| 0.5 * (distances.at(i, j) + distances.at(j, i)))
}

/// Distances scaled so that their mean is ½.
pub fn halved(distances: &Dense) -> Dense {
    let mean = distances.data().iter().map(|&v| f64::from(v)).sum::<f64>() / distances.data().len() as f64;
    let scale = if mean > 0.0 { (0.5 / mean) as f32 } else { 0.0 };
    Dense::from_fn(distances.rows(), distances.cols(), |i, j| scale * distances.at(i, j))
}

/// Distances from every row of `x` to every row of `y`.
///
/// By `|x−y|² = |x|² + |y|² − 2⟨x, y⟩`, so that nearly all work is one matrix product. Both sides are
/// shifted by the mean of `x` first, which changes no Euclidean distance and keeps the digits that large
/// common offsets would take away.
pub fn between(x: &Dense, y: &Dense, metric: Metric) -> Dense {
    // Nobody is there to give it up.
    unwatched(between_watched(x, y, metric, &mut NoWatch)).unwrap_or_else(|_| x.clone())
}

async fn between_watched(
    x: &Dense,
    y: &Dense,
    metric: Metric,
    watch: &mut impl Watch,
) -> Result<Dense, Cancelled> {
    assert_eq!(x.cols(), y.cols(), "both sides of a distance have the same features");
    let angular = matches!(metric, Metric::Cosine | Metric::Correlation);
    let shift = if angular { vec![0.0; x.cols()] } else { column_means(x) };
    let [x, y] = [x, y].map(|side| prepared(side, &shift, metric));
    let mut distances = product_with_transposed_watched(&x, &y, watch).await?;
    let squares = |side: &Dense| -> Vec<f32> {
        (0..side.rows()).map(|i| side.row(i).iter().map(|v| v * v).sum()).collect()
    };
    let (x2, y2) = (squares(&x), squares(&y));
    for (i, x2) in x2.iter().enumerate() {
        for (product, y2) in distances.row_mut(i).iter_mut().zip(&y2) {
            *product = match metric {
                Metric::Cosine | Metric::Correlation => (1.0 - *product).clamp(0.0, 2.0),
                Metric::SquaredEuclidean => (x2 + y2 - 2.0 * *product).max(0.0),
                Metric::Euclidean => (x2 + y2 - 2.0 * *product).max(0.0).sqrt(),
            };
        }
    }
    Ok(distances)
}

/// The rows as the product needs them: shifted, or centred and of length 1.
pub(super) fn prepared(points: &Dense, shift: &[f32], metric: Metric) -> Dense {
    let mut points = points.clone();
    for i in 0..points.rows() {
        let row = points.row_mut(i);
        row.iter_mut().zip(shift).for_each(|(v, s)| *v -= s);
        if metric == Metric::Correlation {
            let mean = row.iter().map(|&v| f64::from(v)).sum::<f64>() / row.len().max(1) as f64;
            row.iter_mut().for_each(|v| *v = (f64::from(*v) - mean) as f32);
        }
    }
    if matches!(metric, Metric::Cosine | Metric::Correlation) {
        super::normalise::Normalisation::L2Rows.apply(&mut points);
    }
    points
}

pub(super) fn column_means(points: &Dense) -> Vec<f32> {
    let count = points.rows().max(1) as f64;
    (0..points.cols())
        .map(|j| ((0..points.rows()).map(|i| f64::from(points.at(i, j))).sum::<f64>() / count) as f32)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use compute::rng::Rng;

    /// The definitions, in float64 and without any trick.
    fn plain(x: &[f32], y: &[f32], metric: Metric) -> f64 {
        let wide = |v: &[f32]| v.iter().map(|&v| f64::from(v)).collect::<Vec<_>>();
        let (mut x, mut y) = (wide(x), wide(y));
        if metric == Metric::Correlation {
            for side in [&mut x, &mut y] {
                let mean = side.iter().sum::<f64>() / side.len() as f64;
                side.iter_mut().for_each(|v| *v -= mean);
            }
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let squared: f64 = x.iter().zip(&y).map(|(a, b)| (a - b).powi(2)).sum();
        match metric {
            Metric::SquaredEuclidean => squared,
            Metric::Euclidean => squared.sqrt(),
            _ => 1.0 - dot(&x, &y) / (dot(&x, &x) * dot(&y, &y)).sqrt(),
        }
    }

    #[test]
    fn distances_match_their_definitions() {
        let mut rng = Rng::new(2);
        // A common offset of 100, as raw measurements have.
        let x = Dense::new(13, 5, rng.fill(65, 100.0, 102.0));
        let y = Dense::new(7, 5, rng.fill(35, 100.0, 102.0));
        for metric in [Metric::Euclidean, Metric::SquaredEuclidean, Metric::Cosine, Metric::Correlation] {
            let got = between(&x, &y, metric);
            for i in 0..13 {
                for j in 0..7 {
                    let want = plain(x.row(i), y.row(j), metric);
                    let error = (f64::from(got.at(i, j)) - want).abs();
                    assert!(error < 2e-5, "{metric:?} {i} {j}: {} {want}", got.at(i, j));
                }
            }
            let own = pairwise(&x, metric);
            for i in 0..13 {
                assert_eq!(own.at(i, i), 0.0);
                assert!((0..13).all(|j| own.at(i, j) == own.at(j, i)));
            }
        }
    }
}
