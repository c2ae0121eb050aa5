//! What is done to a table before it is aligned, as a chain of steps that new rows can follow and models carry along.

use formats::Step as Wanted;
use formats::write::model::{Side, Step};
use formats::{Remainder, Table};

use align::geometry::Dense;
use align::geometry::spectral::principal_axes_watched;
use align::geometry::units::Unit;
use align::procedure::Failure;
use align::scale::{Cancelled, Watch};

/// What every row's total becomes before logarithms are taken.
const TOTAL: f32 = 1e4;

/// Rows as they are in a file: values of 32 bits, and what these leave over of some columns.
#[derive(Clone, Debug)]
pub struct Raw {
    pub points: Dense,
    pub remainders: Vec<Remainder>,
}

impl From<Dense> for Raw {
    fn from(points: Dense) -> Self {
        Self { points, remainders: Vec::new() }
    }
}

impl From<&Table> for Raw {
    fn from(table: &Table) -> Self {
        let points = Dense::new(table.rows, table.cols, table.values.clone());
        Self { points, remainders: table.remainders.clone() }
    }
}

impl Raw {
    /// The points less a constant for each column. The difference of two numbers of 32 bits that are close together is exact,
    /// and so small that it has room for what was left over: together they are the difference in 64 bits.
    fn less(mut self, origin: &[f32]) -> Dense {
        for i in 0..self.points.rows() {
            let row = self.points.row_mut(i);
            row.iter_mut().zip(origin).for_each(|(value, origin)| *value -= origin);
            for left in &self.remainders {
                row[left.column] += left.values[i];
            }
        }
        self.points
    }

    /// The points after the first step of a chain, and the chain after it, where that step is a subtraction and something
    /// was left over for it; otherwise the points as they are, and the whole chain.
    pub fn begun(self, side: &Side) -> (Side, Dense) {
        match side.steps.split_first() {
            Some((Step::Subtract(origin), rest)) if !self.remainders.is_empty() => {
                (Side::new(side.inputs, rest.to_vec()), self.less(origin))
            }
            _ => (side.clone(), self.points),
        }
    }
}

/// What is subtracted from columns of which 32 bits leave something over: a value of theirs, and nothing from the others.
///
/// Only from these. A constant that is taken from a column changes the angles between rows, and with them what cosine
/// distances and rows of length 1 mean. Where the values of a column lie within a ten-thousandth of their size, however, the
/// angles it makes differ by the square of that, which 32 bits do not tell from nothing.
fn origin(table: &Table) -> Option<Vec<f32>> {
    let first = |column: usize| {
        let mut values = table.values.iter().skip(column).step_by(table.cols.max(1));
        values.find(|value| !value.is_nan()).copied().unwrap_or(0.0)
    };
    let mut origin = vec![0.0; table.cols];
    table.remainders.iter().for_each(|left| origin[left.column] = first(left.column));
    (!table.remainders.is_empty()).then_some(origin)
}

/// The chain before any step that is wanted, and what it makes of a table.
pub fn begin(table: &Table) -> (Vec<Step>, Dense) {
    match origin(table) {
        Some(origin) => {
            let points = Raw::from(table).less(&origin);
            (vec![Step::Subtract(origin)], points)
        }
        None => (Vec::new(), Raw::from(table).points),
    }
}

/// Fits the steps that are wanted to a table, one after the other; returns the chain and what it makes of the table.
pub async fn fit(
    table: &Table,
    wanted: &[Wanted],
    watch: &mut impl Watch,
) -> Result<(Vec<Step>, Dense), Failure> {
    // Shares of a row's sum are those of the values as they are.
    let shares = |step: &Wanted| matches!(step, Wanted::Log1pNormalise | Wanted::SqrtShares);
    let as_they_are = wanted.iter().any(shares);
    let (mut chain, mut points) =
        if as_they_are { (Vec::new(), Raw::from(table).points) } else { begin(table) };
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
    // Axes are the same in any unit, and their computation squares values.
    let centred = Unit::of(&centred).scaled(centred);
    let axes = principal_axes_watched(&centred, watch).await?;
    let cols = axes.cols().min(k.max(1));
    let values = Dense::from_fn(axes.rows(), cols, |i, j| axes.at(i, j)).data().to_vec();
    Ok(vec![Step::Subtract(means), Step::Matrix { rows: axes.rows(), cols, values }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use align::geometry::normalise::Normalisation;
    use align::scale::{Count, NoWatch, unwatched};
    use compute::rng::Rng;

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

    /// A table as its reader leaves it, of times in seconds since 1970 beside another column.
    fn times(count: usize, from: usize) -> (Table, Vec<f64>) {
        let times: Vec<f64> = (0..count).map(|row| 1.7e9 + 0.25 * ((from + row * 7) % 100) as f64).collect();
        let other = |row: usize| ((from + row * 5) % 9) as f32;
        let values = times.iter().enumerate().flat_map(|(row, time)| [other(row), *time as f32]).collect();
        let low = times.iter().map(|time| (time - f64::from(*time as f32)) as f32).collect();
        let remainders = vec![Remainder { column: 1, values: low }];
        (Table { rows: count, cols: 2, values, remainders, ..Table::default() }, times)
    }

    #[test]
    fn a_column_of_times_keeps_its_differences() {
        let (table, times) = times(30, 0);
        for wanted in [vec![], vec![Wanted::ZScore], vec![Wanted::Pca(2)]] {
            let (chain, points) = fit(&table, &wanted).expect("fits");
            let scale = match &chain[..] {
                [_, _, Step::Scale(scale)] => f64::from(scale[1]),
                _ => 1.0,
            };
            if wanted != [Wanted::Pca(2)] {
                for row in 1..30 {
                    let got = f64::from(points.at(row, 1) - points.at(0, 1));
                    let want = scale * (times[row] - times[0]);
                    assert!((got - want).abs() < 1e-5, "{wanted:?}: {got}, not {want}");
                }
                assert!(chain.len() == 1 + wanted.len() * 2);
            }
            // New rows follow, and those of training come out the same.
            let side = Side::new(2, chain);
            let embedded = |raw: Raw| {
                let (side, points) = raw.begun(&side);
                unwatched(follow(&side, &points, &mut NoWatch)).expect("fits")
            };
            assert_eq!(embedded(Raw::from(&table)), points, "{wanted:?}");
            let (new, _) = self::times(9, 21);
            let again = embedded(Raw::from(&new));
            // The first of these has the time of row 3 of training.
            if wanted.is_empty() {
                assert_eq!(again.at(0, 1), points.at(3, 1));
            }
        }
    }

    #[test]
    fn shares_are_those_of_the_values_as_they_are() {
        let (table, _) = times(30, 0);
        let plain = Table { remainders: Vec::new(), ..table.clone() };
        for step in [Wanted::Log1pNormalise, Wanted::SqrtShares] {
            assert_eq!(fit(&table, &[step]).expect("fits"), fit(&plain, &[step]).expect("fits"));
        }
        assert_eq!(
            fit(&plain, &[]).expect("fits").1.data(),
            plain.values,
            "ordinary columns stay as they are"
        );
    }
}
