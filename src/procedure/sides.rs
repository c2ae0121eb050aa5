//! The two data sets, and what the encoders see of them.

use super::Failure;
use crate::geometry::Dense;
use crate::geometry::features::{Features, Preparation};
use crate::rng::Rng;

/// Points of both sides, with their features fitted.
pub struct Sides {
    points: [Dense; 2],
    features: [Vec<(Preparation, Features)>; 2],
}

/// The most points a side on which candidates are compared.
const JUDGED: usize = 2000;

impl Sides {
    /// Checks the points: at least four a side, all finite, not all the same.
    pub fn new(x: Dense, y: Dense) -> Result<Self, Failure> {
        for (name, side) in [("first", &x), ("second", &y)] {
            check(name, side).map_err(Failure::Input)?;
        }
        let points = [x, y];
        let features = points
            .each_ref()
            .map(|side| Preparation::ALL.into_iter().map(|p| (p, Features::fit(side, p))).collect());
        Ok(Self { points, features })
    }

    pub fn points(&self) -> [&Dense; 2] {
        self.points.each_ref()
    }

    /// The columns of both sides.
    pub fn dims(&self) -> [usize; 2] {
        self.points.each_ref().map(Dense::cols)
    }

    /// What the encoders see of any points of one side.
    pub fn seen(&self, side: usize, preparation: Preparation, points: &Dense) -> Dense {
        let fitted = self.features[side].iter().find(|(p, _)| *p == preparation);
        fitted.map_or_else(|| points.clone(), |(_, features)| features.apply(points))
    }

    /// What the encoders see of all points.
    pub fn inputs(&self, preparations: [Preparation; 2]) -> [Dense; 2] {
        [0, 1].map(|side| self.seen(side, preparations[side], &self.points[side]))
    }

    /// The rows of each side on which candidates are compared: all, or a sample of them.
    pub fn judged(&self, seed: u64) -> [Vec<usize>; 2] {
        let mut rng = Rng::new(seed ^ 0x6a75_6467);
        self.points.each_ref().map(|side| {
            let mut rows = rng.sample(side.rows(), JUDGED);
            rows.sort_unstable();
            rows
        })
    }
}

/// What is wrong with a side, and what to do about it.
fn check(name: &str, side: &Dense) -> Result<(), String> {
    let (rows, cols) = (side.rows(), side.cols());
    if rows < 4 || cols == 0 {
        return Err(format!(
            "The {name} data set has {rows} rows and {cols} columns. An alignment needs at least 4 rows and 1 column."
        ));
    }
    if let Some(at) = side.data().iter().position(|v| !v.is_finite()) {
        let (row, col) = (at / cols + 1, at % cols + 1);
        return Err(format!(
            "The {name} data set has a value that is not a number in row {row}, column {col}. Fill it in, or remove that row or column."
        ));
    }
    if (1..rows).all(|i| side.row(i) == side.row(0)) {
        return Err(format!(
            "All {rows} rows of the {name} data set are the same, so nothing tells them apart."
        ));
    }
    Ok(())
}

/// The chosen rows.
pub(super) fn rows(points: &Dense, chosen: &[usize]) -> Dense {
    Dense::from_fn(chosen.len(), points.cols(), |i, j| points.at(chosen[i], j))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_data_is_refused_with_the_place() {
        let good = || Dense::from_fn(5, 2, |i, j| (i * 2 + j) as f32);
        let refused = |x: Dense, y: Dense| Sides::new(x, y).err().map(|e| e.to_string()).unwrap_or_default();
        let hole = Dense::from_fn(5, 2, |i, j| if (i, j) == (3, 1) { f32::NAN } else { (i + j) as f32 });
        assert!(
            refused(good(), hole)
                .contains("second data set has a value that is not a number in row 4, column 2")
        );
        assert!(refused(Dense::new(3, 1, vec![1.0, 2.0, 3.0]), good()).contains("first data set has 3 rows"));
        assert!(refused(good(), Dense::new(4, 1, vec![2.0; 4])).contains("All 4 rows of the second"));
        assert!(Sides::new(good(), good()).is_ok());
    }
}
