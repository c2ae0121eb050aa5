//! Scores of a linear map that need no truth, beside the plan Spearman.

use crate::geometry::Dense;
use crate::geometry::products::{product, transposed_product};
use crate::geometry::skew::Moments;
use crate::metrics::plan::sums;
use crate::watch::{Cancelled, Watch};
use compute::rng::Rng;

/// What says, without the truth, how good a candidate is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scores {
    /// The mean plan Spearman over the panel.
    pub spearman: f64,
    /// The nuclear norm of `XᵀΠY`, 1 for points of which each pair coincides.
    pub nuclear_norm: Option<f64>,
    /// The correlation of the third moments of both sides under the map.
    pub third_moment: Option<f64>,
    /// How strongly the plan couples the known pairs, where there are some: 1 if nothing is coupled more strongly.
    pub known_pairs: Option<f64>,
}

impl Scores {
    /// The plan Spearman; where pairs are known, their agreement counts as much.
    pub(super) fn total(&self) -> f64 {
        self.known_pairs.map_or(self.spearman, |pairs| 0.5 * (self.spearman + pairs))
    }

    /// The scores with their names.
    pub fn named(&self) -> [(&'static str, Option<f64>); 4] {
        [
            ("plan_spearman", Some(self.spearman)),
            ("nuclear_norm", self.nuclear_norm),
            ("third_moment", self.third_moment),
            ("known_pairs", self.known_pairs),
        ]
    }
}

/// Coordinates whose third moments are compared, at most.
const COORDINATES: usize = 24;

/// Both halves of so many rows, at random.
pub(super) fn halves(rows: usize, seed: u64) -> [Vec<usize>; 2] {
    let mut order = Rng::new(seed ^ 0x666f_6c64).sample(rows, rows);
    let second = order.split_off(rows / 2);
    [order, second]
}

/// `XᵀΠY`, divided by the root of what it would be at most: 1 is the nuclear norm for points of which each pair coincides.
pub(in crate::procedure) fn cross_moments(plan: &Dense, [x, y]: [&Dense; 2]) -> Dense {
    let size = |side: &Dense, weights: &[f64]| -> f64 {
        let row = |(i, w): (usize, &f64)| w * side.row(i).iter().map(|v| f64::from(*v).powi(2)).sum::<f64>();
        weights.iter().enumerate().map(row).sum()
    };
    let (r, c) = sums(plan);
    let scale = (size(x, &r) * size(y, &c)).sqrt();
    let cross = transposed_product(x, &product(plan, y));
    let factor = if scale > 0.0 { (1.0 / scale) as f32 } else { 0.0 };
    Dense::from_fn(cross.rows(), cross.cols(), |i, j| factor * cross.at(i, j))
}

/// `⟨M, W⟩`: how much of the agreement is along a map that need not be the best one for it.
pub(super) fn along(cross: &Dense, map: &Dense) -> f64 {
    cross.data().iter().zip(map.data()).map(|(m, w)| f64::from(*m) * f64::from(*w)).sum()
}

/// How well the third moments of both clouds agree, in the same leading coordinates.
pub(super) async fn third_moment(
    mapped: &Dense,
    y: &Dense,
    watch: &mut impl Watch,
) -> Result<f64, Cancelled> {
    let k = COORDINATES.min(mapped.cols()).min(y.cols());
    let (a, b) = (Moments::new(mapped, k, watch).await?, Moments::new(y, k, watch).await?);
    Ok(a.third_correlation(&b))
}
