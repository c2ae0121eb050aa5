//! Ways to make features comparable before distances are taken.

use super::Dense;

/// What is done to the points of one side. The names are those of the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normalisation {
    /// Each row to Euclidean length 1; a zero row stays zero.
    L2Rows,
    /// Each column to mean 0 and variance 1; a constant column becomes zero.
    ZScore,
    /// Each column to mean 0.
    Centre,
    /// Square roots of each row's shares of its sum, for counts and proportions (Hellinger). Negative
    /// entries count as zero; a zero row stays zero.
    SqrtShares,
}

impl Normalisation {
    pub fn apply(self, points: &mut Dense) {
        match self {
            Self::L2Rows => (0..points.rows()).for_each(|i| unit(points.row_mut(i))),
            Self::ZScore => {
                let moments = column_moments(points);
                each(points, |j, v| {
                    let (mean, deviation) = moments[j];
                    if deviation > 0.0 { ((f64::from(v) - mean) / deviation) as f32 } else { 0.0 }
                });
            }
            Self::Centre => {
                let moments = column_moments(points);
                each(points, |j, v| (f64::from(v) - moments[j].0) as f32);
            }
            Self::SqrtShares => {
                each(points, |_, v| v.max(0.0));
                for i in 0..points.rows() {
                    let row = points.row_mut(i);
                    divide(row, row.iter().map(|&v| f64::from(v)).sum());
                }
                each(points, |_, v| v.sqrt());
            }
        }
    }
}

/// Brings a row to length 1, unless it is zero.
pub(super) fn unit(row: &mut [f32]) {
    divide(row, row.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>().sqrt());
}

/// Divides a row by its size, unless that is zero.
fn divide(row: &mut [f32], size: f64) {
    if size > 0.0 {
        row.iter_mut().for_each(|v| *v = (f64::from(*v) / size) as f32);
    }
}

/// Replaces every value, given its column.
fn each(points: &mut Dense, value: impl Fn(usize, f32) -> f32) {
    for i in 0..points.rows() {
        points.row_mut(i).iter_mut().enumerate().for_each(|(j, v)| *v = value(j, *v));
    }
}

/// Mean and (population) standard deviation of every column. A deviation that is rounding noise beside
/// the mean counts as none.
fn column_moments(points: &Dense) -> Vec<(f64, f64)> {
    let count = points.rows().max(1) as f64;
    (0..points.cols())
        .map(|j| {
            let column = || (0..points.rows()).map(|i| f64::from(points.at(i, j)));
            let mean = column().sum::<f64>() / count;
            let deviation = (column().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt();
            (mean, if deviation > 1e-7 * mean.abs() { deviation } else { 0.0 })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points() -> Dense {
        Dense::new(3, 3, vec![3.0, 4.0, 7.1, 0.0, 0.0, 7.1, 1.0, -1.0, 7.1])
    }

    fn normalised(kind: Normalisation) -> Dense {
        let mut points = points();
        kind.apply(&mut points);
        points
    }

    #[test]
    fn rows_have_length_one_unless_they_are_zero() {
        let mut points = Dense::new(2, 2, vec![3.0, 4.0, 0.0, 0.0]);
        Normalisation::L2Rows.apply(&mut points);
        assert_eq!(points.data(), [0.6, 0.8, 0.0, 0.0]);
    }

    #[test]
    fn columns_have_mean_zero_and_variance_one_unless_they_are_constant() {
        let scored = normalised(Normalisation::ZScore);
        for j in 0..2 {
            let column: Vec<f32> = (0..3).map(|i| scored.at(i, j)).collect();
            assert!(column.iter().sum::<f32>().abs() < 1e-6);
            assert!((column.iter().map(|v| v * v).sum::<f32>() / 3.0 - 1.0).abs() < 1e-6);
        }
        assert!((0..3).all(|i| scored.at(i, 2) == 0.0));
        let centred = normalised(Normalisation::Centre);
        assert!((centred.at(0, 0) - (3.0 - 4.0 / 3.0)).abs() < 1e-6);
    }

    #[test]
    fn shares_are_rooted_and_negatives_count_as_zero() {
        let shares = normalised(Normalisation::SqrtShares);
        assert!((shares.at(0, 0) - (3.0f32 / 14.1).sqrt()).abs() < 1e-6);
        assert_eq!(shares.at(2, 1), 0.0);
        let length: f32 = shares.row(2).iter().map(|v| v * v).sum();
        assert!((length - 1.0).abs() < 1e-6);
    }
}
