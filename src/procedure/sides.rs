//! The two data sets, and what the encoders see of them.

use crate::geometry::Dense;
use crate::geometry::features::{Features, Preparation};
use crate::geometry::normalise::Normalisation;
use crate::rng::Rng;

use super::Failure;

/// Points of both sides, with their features fitted.
pub struct Sides {
    pub x: Dense,
    pub y: Dense,
    linear: [Features; 2],
    unit: [Features; 2],
    plain: [Features; 2],
}

/// The most points a side on which candidates are compared.
const JUDGED: usize = 2000;

impl Sides {
    /// Checks the points: at least four a side, all finite.
    pub fn new(x: Dense, y: Dense) -> Result<Self, Failure> {
        for (name, side) in [("first", &x), ("second", &y)] {
            if side.rows() < 4 {
                let rows = side.rows();
                return Err(Failure::Input(format!(
                    "The {name} data set has {rows} rows. An alignment needs at least 4."
                )));
            }
            if let Some(at) = side.data().iter().position(|v| !v.is_finite()) {
                let (row, col) = (at / side.cols() + 1, at % side.cols() + 1);
                return Err(Failure::Input(format!(
                    "The {name} data set has a value that is not a number (row {row}, column {col}). Fill it in or remove the row."
                )));
            }
        }
        let fit = |preparation| [&x, &y].map(|side| Features::fit(side, preparation));
        let linear = fit(Preparation::Linear);
        let unit = fit(Preparation::Network { unit_rows: true });
        let plain = fit(Preparation::Network { unit_rows: false });
        Ok(Self { x, y, linear, unit, plain })
    }

    pub fn points(&self) -> [&Dense; 2] {
        [&self.x, &self.y]
    }

    fn features(&self, preparation: Preparation) -> &[Features; 2] {
        match preparation {
            Preparation::Linear => &self.linear,
            Preparation::Network { unit_rows: true } => &self.unit,
            Preparation::Network { unit_rows: false } => &self.plain,
        }
    }

    /// What the encoders see of all points.
    pub fn inputs(&self, preparation: Preparation) -> [Dense; 2] {
        let [fx, fy] = self.features(preparation);
        [fx.apply(&self.x), fy.apply(&self.y)]
    }

    /// The rows of each side on which candidates are compared: all, or a sample of them.
    pub fn judged(&self, seed: u64) -> [Vec<usize>; 2] {
        let mut rng = Rng::new(seed ^ 0x6a75_6467);
        self.points().map(|side| {
            let mut rows = rng.sample(side.rows(), JUDGED);
            rows.sort_unstable();
            rows
        })
    }

    /// Rows of length 1, in which projections are compared.
    pub fn unit_rows(&self) -> [Dense; 2] {
        self.points().map(|side| {
            let mut side = side.clone();
            Normalisation::L2Rows.apply(&mut side);
            side
        })
    }
}
