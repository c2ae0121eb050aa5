//! What is done to a table before it is aligned, as a chain of steps that new rows can follow and models carry along.

use formats::Step as Wanted;
use formats::Table;
use formats::write::model::{Side, Step};

use crate::geometry::Dense;
use crate::geometry::spectral::principal_axes;

/// What every row's total becomes before logarithms are taken.
const TOTAL: f32 = 1e4;

/// Fits the steps that are wanted to a table, one after the other; returns the chain and what it makes of the table.
pub fn fit(table: &Table, wanted: &[Wanted]) -> Result<(Vec<Step>, Dense), String> {
    let mut points = Dense::new(table.rows, table.cols, table.values.clone());
    let mut chain = Vec::new();
    for step in wanted {
        let steps = match step {
            Wanted::Log1pNormalise => {
                vec![Step::Positive, Step::RowShares, Step::Scale(vec![TOTAL; points.cols()]), Step::Log1p]
            }
            Wanted::SqrtShares => vec![Step::Positive, Step::RowShares, Step::Sqrt],
            Wanted::ZScore => scores(&points),
            Wanted::Pca(k) => components(&points, *k),
            // These say how a file is read or used, not what is done to its numbers.
            Wanted::UseAsDistances | Wanted::Transpose => Vec::new(),
        };
        points = apply(&steps, &points)?;
        chain.extend(steps);
    }
    Ok((chain, points))
}

/// What a chain makes of points.
pub fn apply(chain: &[Step], points: &Dense) -> Result<Dense, String> {
    if chain.is_empty() {
        return Ok(points.clone());
    }
    let side = Side::new(points.cols(), chain.to_vec());
    let cols = side.outputs().map_err(|trouble| trouble.to_string())?;
    let values = side.apply(points.rows(), points.data()).map_err(|trouble| trouble.to_string())?;
    Ok(Dense::new(points.rows(), cols, values))
}

/// The mean of every column over the values that are there; 0 for a column without any.
pub(super) fn means<'a>(rows: impl Iterator<Item = &'a [f32]>, cols: usize) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); cols];
    for row in rows {
        for ((sum, count), value) in sums.iter_mut().zip(row).filter(|(_, value)| !value.is_nan()) {
            *sum += f64::from(*value);
            *count += 1.0;
        }
    }
    sums.iter().map(|(sum, count)| sum / f64::max(*count, 1.0)).collect()
}

fn means_of(points: &Dense) -> Vec<f64> {
    means((0..points.rows()).map(|i| points.row(i)), points.cols())
}

/// Every column to mean 0 and variance 1; a constant one to 0.
fn scores(points: &Dense) -> Vec<Step> {
    let means = means_of(points);
    let mut squares = vec![0.0; points.cols()];
    for i in 0..points.rows() {
        let row = points.row(i).iter().zip(&means);
        squares.iter_mut().zip(row).for_each(|(sum, (v, mean))| *sum += (f64::from(*v) - mean).powi(2));
    }
    let scale = squares.iter().zip(&means).map(|(square, mean)| {
        let deviation = (square / points.rows().max(1) as f64).sqrt();
        if deviation > 1e-7 * mean.abs() { (1.0 / deviation) as f32 } else { 0.0 }
    });
    vec![Step::Subtract(means.iter().map(|m| *m as f32).collect()), Step::Scale(scale.collect())]
}

/// The first principal components.
fn components(points: &Dense, k: usize) -> Vec<Step> {
    let means: Vec<f32> = means_of(points).iter().map(|m| *m as f32).collect();
    let centred = Dense::from_fn(points.rows(), points.cols(), |i, j| points.at(i, j) - means[j]);
    let axes = principal_axes(&centred);
    let cols = axes.cols().min(k.max(1));
    let values = Dense::from_fn(axes.rows(), cols, |i, j| axes.at(i, j)).data().to_vec();
    vec![Step::Subtract(means), Step::Matrix { rows: axes.rows(), cols, values }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::normalise::Normalisation;
    use crate::rng::Rng;

    fn table(rows: usize, cols: usize) -> Table {
        let values = Rng::new(4).fill(rows * cols, 0.0, 9.0).iter().map(|v| v.floor()).collect();
        Table { rows, cols, values, ..Table::default() }
    }

    #[test]
    fn steps_do_what_the_normalisations_do_and_new_rows_can_follow() {
        let table = table(30, 5);
        for (step, same) in
            [(Wanted::ZScore, Normalisation::ZScore), (Wanted::SqrtShares, Normalisation::SqrtShares)]
        {
            let (chain, points) = fit(&table, &[step]).expect("fits");
            let mut want = Dense::new(30, 5, table.values.clone());
            same.apply(&mut want);
            assert!(points.data().iter().zip(want.data()).all(|(a, b)| (a - b).abs() < 1e-5), "{step:?}");
            let some = Dense::new(2, 5, table.values[50..60].to_vec());
            assert_eq!(apply(&chain, &some).expect("fits").data(), &points.data()[50..60]);
        }
    }

    #[test]
    fn logarithms_and_components_in_a_row() {
        let (chain, points) = fit(&table(40, 6), &[Wanted::Log1pNormalise, Wanted::Pca(2)]).expect("fits");
        assert_eq!((points.rows(), points.cols(), chain.len()), (40, 2, 6));
        let variance = |j: usize| (0..40).map(|i| f64::from(points.at(i, j)).powi(2)).sum::<f64>();
        assert!(variance(0) >= variance(1) && variance(1) > 0.0);
        let (_, logged) = fit(&table(40, 6), &[Wanted::Log1pNormalise]).expect("fits");
        let total: f32 = logged.row(3).iter().map(|v| v.exp() - 1.0).sum();
        assert!((total - TOTAL).abs() < 1.0, "{total}");
    }
}
