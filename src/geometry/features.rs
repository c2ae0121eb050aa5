//! What the encoders see of the points, fitted on all of a side so that new points can follow.

use super::Dense;
use super::normalise::Normalisation;
use super::spectral::{principal_axes, product};

/// How a side is prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparation {
    /// For networks: rows of length 1 (or as they are), centred, scaled so that an entry has the size 1.
    Network { unit_rows: bool },
    /// For linear maps: rows of length 1, centred, turned to principal axes, rows of length 1 again.
    Linear,
}

/// A fitted preparation: applies to the points it was fitted on and to new ones alike.
#[derive(Clone, Debug)]
pub struct Features {
    unit_rows: bool,
    mean: Vec<f32>,
    axes: Option<Dense>,
    scale: f32,
}

impl Features {
    pub fn fit(points: &Dense, preparation: Preparation) -> Self {
        let unit_rows = preparation != Preparation::Network { unit_rows: false };
        let mut side = points.clone();
        if unit_rows {
            Normalisation::L2Rows.apply(&mut side);
        }
        let mean = column_means(&side);
        subtract(&mut side, &mean);
        let square = side.data().iter().map(|&v| f64::from(v).powi(2)).sum::<f64>();
        let size = (square / side.data().len().max(1) as f64).sqrt();
        let (axes, scale) = match preparation {
            Preparation::Linear => (Some(principal_axes(&side)), 1.0),
            Preparation::Network { .. } => (None, if size > 0.0 { (1.0 / size) as f32 } else { 1.0 }),
        };
        Self { unit_rows, mean, axes, scale }
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
        subtract(&mut side, &self.mean);
        match &self.axes {
            Some(axes) => {
                let mut turned = product(&side, axes);
                Normalisation::L2Rows.apply(&mut turned);
                turned
            }
            None => Dense::from_fn(side.rows(), side.cols(), |i, j| self.scale * side.at(i, j)),
        }
    }
}

fn column_means(points: &Dense) -> Vec<f32> {
    let mut sums = vec![0f64; points.cols()];
    for i in 0..points.rows() {
        sums.iter_mut().zip(points.row(i)).for_each(|(sum, v)| *sum += f64::from(*v));
    }
    sums.iter().map(|sum| (sum / points.rows().max(1) as f64) as f32).collect()
}

fn subtract(points: &mut Dense, mean: &[f32]) {
    for i in 0..points.rows() {
        points.row_mut(i).iter_mut().zip(mean).for_each(|(v, m)| *v -= m);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn new_points_are_treated_as_the_old_ones_were() {
        let all = Dense::new(40, 6, Rng::new(8).fill(240, 1.0, 3.0));
        let some = Dense::from_fn(5, 6, |i, j| all.at(i + 10, j));
        for preparation in [
            Preparation::Linear,
            Preparation::Network { unit_rows: true },
            Preparation::Network { unit_rows: false },
        ] {
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
