//! What is done to a table before it is aligned, as a chain of steps that new rows can follow and models carry along.

use formats::Step as Wanted;
use formats::Table;
use formats::write::model::{Side, Step};

use crate::geometry::Dense;
use crate::geometry::spectral::principal_axes_watched;
use crate::procedure::Failure;
use crate::scale::{Cancelled, Watch};

/// What every row's total becomes before logarithms are taken.
const TOTAL: f32 = 1e4;

/// Fits the steps that are wanted to a table, one after the other; returns the chain and what it makes of the table.
pub async fn fit(
    table: &Table,
    wanted: &[Wanted],
    watch: &mut impl Watch,
) -> Result<(Vec<Step>, Dense), Failure> {
    let mut points = Dense::new(table.rows, table.cols, table.values.clone());
    let mut chain = Vec::new();
    for step in wanted {
        let steps = match step {
            Wanted::Log1pNormalise => {
                vec![Step::Positive, Step::RowShares, Step::Scale(vec![TOTAL; points.cols()]), Step::Log1p]
            }
            Wanted::SqrtShares => vec![Step::Positive, Step::RowShares, Step::Sqrt],
            Wanted::ZScore => scores(&points, watch).await?,
            Wanted::Pca(k) => components(&points, *k, watch).await?,
            // These say how a file is read or used, not what is done to its numbers.
            Wanted::UseAsDistances | Wanted::Transpose => continue,
        };
        points = follow(&Side::new(points.cols(), steps.clone()), &points, watch).await?;
        chain.extend(steps);
    }
    Ok((chain, points))
}

/// Numbers that are multiplied between two looks at who is watching, one row after the other in double precision.
const PATIENCE: usize = 1 << 23;
/// What a root or a logarithm takes, in products.
const HARD: usize = 16;

/// What a chain makes of points, some rows at a time.
pub(super) async fn follow(side: &Side, points: &Dense, watch: &mut impl Watch) -> Result<Dense, Failure> {
    let broken = |trouble: formats::Trouble| Failure::Input(trouble.to_string());
    let (rows, cols) = (points.rows(), side.outputs().map_err(broken)?);
    let each = side.steps.iter().map(|step| match step {
        Step::Subtract(values) | Step::Scale(values) => values.len(),
        Step::Matrix { values, .. } => values.len(),
        Step::Dense { weights, .. } => weights.len(),
        Step::Positive | Step::RowShares | Step::Sqrt | Step::Log1p | Step::UnitRows { .. } => {
            HARD * points.cols()
        }
    });
    let together = (PATIENCE / each.sum::<usize>().max(1)).max(1);
    let mut values = Vec::with_capacity(rows * cols);
    for first in (0..rows).step_by(together) {
        let count = together.min(rows - first);
        let some = &points.data()[first * points.cols()..][..count * points.cols()];
        values.extend(side.apply(count, some).map_err(broken)?);
        if count == together {
            watch.step((first + count) as f64 / rows as f64).await?;
        }
    }
    Ok(Dense::new(rows, cols, values))
}

/// The mean of every column over the values that are there; 0 for a column without any.
pub(super) fn means<'a>(rows: impl Iterator<Item = &'a [f32]>, cols: usize) -> Vec<f64> {
    let mut means = Means::new(cols);
    rows.for_each(|row| means.add(row));
    means.values()
}

/// Means in the making: sums and counts.
struct Means(Vec<(f64, f64)>);

impl Means {
    fn new(cols: usize) -> Self {
        Self(vec![(0.0, 0.0); cols])
    }

    fn add(&mut self, row: &[f32]) {
        for ((sum, count), value) in self.0.iter_mut().zip(row).filter(|(_, value)| !value.is_nan()) {
            *sum += f64::from(*value);
            *count += 1.0;
        }
    }

    fn values(&self) -> Vec<f64> {
        self.0.iter().map(|(sum, count)| sum / f64::max(*count, 1.0)).collect()
    }
}

/// Goes through the rows, and looks now and then.
async fn each_row(
    points: &Dense,
    watch: &mut impl Watch,
    mut look: impl FnMut(&[f32]),
) -> Result<(), Cancelled> {
    let every = PATIENCE / points.cols().max(1) + 1;
    for i in 0..points.rows() {
        look(points.row(i));
        if (i + 1) % every == 0 {
            watch.step((i + 1) as f64 / points.rows() as f64).await?;
        }
    }
    Ok(())
}

async fn means_of(points: &Dense, watch: &mut impl Watch) -> Result<Vec<f64>, Cancelled> {
    let mut means = Means::new(points.cols());
    each_row(points, watch, |row| means.add(row)).await?;
    Ok(means.values())
}

/// Every column to mean 0 and variance 1; a constant one to 0.
async fn scores(points: &Dense, watch: &mut impl Watch) -> Result<Vec<Step>, Cancelled> {
    let means = means_of(points, watch).await?;
    let mut squares = vec![0.0; points.cols()];
    each_row(points, watch, |row| {
        let row = row.iter().zip(&means);
        squares.iter_mut().zip(row).for_each(|(sum, (v, mean))| *sum += (f64::from(*v) - mean).powi(2));
    })
    .await?;
    let scale = squares.iter().zip(&means).map(|(square, mean)| {
        let deviation = (square / points.rows().max(1) as f64).sqrt();
        if deviation > 1e-7 * mean.abs() { (1.0 / deviation) as f32 } else { 0.0 }
    });
    Ok(vec![Step::Subtract(means.iter().map(|m| *m as f32).collect()), Step::Scale(scale.collect())])
}

/// The first principal components.
async fn components(points: &Dense, k: usize, watch: &mut impl Watch) -> Result<Vec<Step>, Cancelled> {
    let means: Vec<f32> = means_of(points, watch).await?.iter().map(|m| *m as f32).collect();
    let centred = Dense::from_fn(points.rows(), points.cols(), |i, j| points.at(i, j) - means[j]);
    let axes = principal_axes_watched(&centred, watch).await?;
    let cols = axes.cols().min(k.max(1));
    let values = Dense::from_fn(axes.rows(), cols, |i, j| axes.at(i, j)).data().to_vec();
    Ok(vec![Step::Subtract(means), Step::Matrix { rows: axes.rows(), cols, values }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::normalise::Normalisation;
    use crate::rng::Rng;
    use crate::scale::{Count, NoWatch, unwatched};

    fn fit(table: &Table, wanted: &[Wanted]) -> Result<(Vec<Step>, Dense), Failure> {
        unwatched(super::fit(table, wanted, &mut NoWatch))
    }

    /// Every step by itself, on more values than are gone through at a time.
    #[test]
    fn preparing_many_rows_is_looked_at() {
        let (few, many) = (table(40, 300), table(30_000, 300));
        for (step, least) in [
            (Wanted::Log1pNormalise, 10),
            (Wanted::SqrtShares, 10),
            (Wanted::ZScore, 1 + 1 + 2),
            (Wanted::Pca(10), 1 + 10),
        ] {
            let looks = |table: &Table| Count::looks(async |watch| super::fit(table, &[step], watch).await);
            let [few, many] = [&few, &many].map(looks);
            assert!(few <= 4 && many >= few + least, "{step:?}: {few} and {many} looks");
        }
    }

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
            let again = unwatched(follow(&Side::new(5, chain), &some, &mut NoWatch)).expect("fits");
            assert_eq!(again.data(), &points.data()[50..60]);
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
