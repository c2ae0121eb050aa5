//! What the encoders see of the points, fitted on all of a side so that new points can follow.

use super::Dense;
use super::normalise::{Normalisation, unit};
use super::panel::POSITIONS;
use super::products::product;
use super::spectral::principal_axes_watched;
use crate::watch::{Cancelled, NoWatch, Watch, unwatched};

/// How a side is prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparation {
    /// For networks: centred, and one scale for all, so that an entry has the size 1.
    Plain,
    /// The same for rows of length 1.
    Unit,
    /// Every column to mean 0 and variance 1.
    Standardised,
    /// For linear maps: rows of length 1, centred, turned to principal axes, rows of length 1 again. Positions
    /// (`panel::POSITIONS`) keep their lengths.
    Linear,
}

impl Preparation {
    pub const ALL: [Self; 4] = [Self::Plain, Self::Unit, Self::Standardised, Self::Linear];
}

/// A fitted preparation: applies to the points it was fitted on and to new ones alike.
#[derive(Clone, Debug)]
pub struct Features {
    /// Whether rows are brought to length 1, first and after the axes.
    pub unit_rows: bool,
    pub mean: Vec<f32>,
    /// What each column is multiplied by.
    pub scale: Vec<f32>,
    pub axes: Option<Dense>,
}

/// Values that are gone through between two looks at who is watching.
const PATIENCE: usize = 1 << 22;

impl Features {
    pub fn fit(points: &Dense, preparation: Preparation) -> Self {
        let none = Self { unit_rows: false, mean: Vec::new(), scale: Vec::new(), axes: None };
        // Nobody is there to give it up.
        unwatched(Self::fit_watched(points, preparation, &mut NoWatch)).unwrap_or(none)
    }

    /// As [`Features::fit`], which takes its time where there are many points.
    pub async fn fit_watched(
        points: &Dense,
        preparation: Preparation,
        watch: &mut impl Watch,
    ) -> Result<Self, Cancelled> {
        let (fitted, side) = Self::without_axes(points, preparation, watch).await?;
        let axes = match preparation {
            Preparation::Linear => Some(principal_axes_watched(&side, watch).await?),
            _ => None,
        };
        watch.step(1.0).await?;
        Ok(Self { axes, ..fitted })
    }

    /// Everything but the axes, and the points whose axes they are.
    async fn without_axes(
        points: &Dense,
        preparation: Preparation,
        watch: &mut impl Watch,
    ) -> Result<(Self, Dense), Cancelled> {
        let unit_rows = match preparation {
            Preparation::Plain | Preparation::Standardised => false,
            Preparation::Unit => true,
            Preparation::Linear => points.cols() > POSITIONS,
        };
        let mut side = points.clone();
        let mut sums = vec![0f64; side.cols()];
        let every = PATIENCE / side.cols().max(1) + 1;
        for i in 0..side.rows() {
            let row = side.row_mut(i);
            if unit_rows {
                unit(row);
            }
            sums.iter_mut().zip(row).for_each(|(sum, v)| *sum += f64::from(*v));
            if (i + 1) % every == 0 {
                watch.step(0.5 * i as f64 / points.rows() as f64).await?;
            }
        }
        let mean: Vec<f32> = sums.iter().map(|sum| (sum / points.rows().max(1) as f64) as f32).collect();
        let mut squares = vec![0f64; side.cols()];
        for i in 0..side.rows() {
            let row = side.row_mut(i);
            subtract(row, &mean);
            squares.iter_mut().zip(row).for_each(|(sum, v)| *sum += f64::from(*v).powi(2));
            if (i + 1) % every == 0 {
                watch.step(0.5 + 0.5 * i as f64 / points.rows() as f64).await?;
            }
        }
        let inverse = |square: f64| if square > 0.0 { (1.0 / square.sqrt()) as f32 } else { 0.0 };
        let rows = side.rows().max(1) as f64;
        let common = inverse(squares.iter().sum::<f64>() / (rows * side.cols().max(1) as f64));
        let scale = match preparation {
            // A deviation that is rounding noise beside the mean counts as none.
            Preparation::Standardised => squares
                .iter()
                .zip(&mean)
                .map(|(square, mean)| square / rows - 1e-12 * f64::from(*mean).powi(2))
                .map(inverse)
                .collect(),
            _ => vec![common; side.cols()],
        };
        Ok((Self { unit_rows, mean, scale, axes: None }, side))
    }

    /// What the encoders see of these points.
    pub fn apply(&self, points: &Dense) -> Dense {
        assert_eq!(
            points.cols(),
            self.mean.len(),
            "the features of the points the preparation was fitted on"
        );
        let mut side = points.clone();
        if self.unit_rows {
            Normalisation::L2Rows.apply(&mut side);
        }
        for i in 0..side.rows() {
            subtract(side.row_mut(i), &self.mean);
            side.row_mut(i).iter_mut().zip(&self.scale).for_each(|(v, scale)| *v *= scale);
        }
        let Some(axes) = &self.axes else { return side };
        let mut turned = product(&side, axes);
        if self.unit_rows {
            Normalisation::L2Rows.apply(&mut turned);
        }
        turned
    }
}

fn subtract(row: &mut [f32], mean: &[f32]) {
    row.iter_mut().zip(mean).for_each(|(v, m)| *v -= m);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Count;
    use compute::rng::Rng;

    #[test]
    fn fitting_many_values_is_looked_at() {
        let points = Dense::new(3000, 1500, Rng::new(7).fill(4_500_000, -1.0, 1.0));
        for preparation in [Preparation::Plain, Preparation::Unit, Preparation::Standardised] {
            let looks = Count::looks(async |watch| Features::fit_watched(&points, preparation, watch).await);
            assert_eq!(looks, 3, "once on the way there, once back, and at the end");
        }
    }

    #[test]
    fn new_points_are_treated_as_the_old_ones_were() {
        let all = Dense::new(40, 6, Rng::new(8).fill(240, 1.0, 3.0));
        let some = Dense::from_fn(5, 6, |i, j| all.at(i + 10, j));
        for preparation in Preparation::ALL {
            let features = Features::fit(&all, preparation);
            let (whole, part) = (features.apply(&all), features.apply(&some));
            for i in 0..5 {
                assert!(part.row(i).iter().zip(whole.row(i + 10)).all(|(a, b)| (a - b).abs() < 1e-5));
            }
            let mean_square = whole.data().iter().map(|v| v * v).sum::<f32>() / whole.rows() as f32;
            let want = if preparation == Preparation::Linear { 1.0 } else { 6.0 };
            assert!((mean_square - want).abs() < 1e-4, "{preparation:?}: {mean_square}");
        }
    }
}
