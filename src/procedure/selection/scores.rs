//! Scores of a linear map that need no truth, beside the plan Spearman. Where it has many parameters for the rows there
//! are, no row is scored by a map that was fitted on it.

use crate::geometry::Dense;
use crate::geometry::polar::polar;
use crate::geometry::products::{product, transposed_product};
use crate::geometry::skew::Moments;
use crate::metrics::plan::sums;
use crate::procedure::linear::leading;
use crate::rng::Rng;
use crate::watch::{Cancelled, Watch};

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

/// Two halves of the rows of X, at random.
pub(super) fn halves(rows: usize, seed: u64) -> Vec<bool> {
    let mut second = vec![false; rows];
    Rng::new(seed ^ 0x666f_6c64).sample(rows, rows / 2).into_iter().for_each(|i| second[i] = true);
    second
}

/// A plan, seen from the map it asks for: each half of the rows mapped by the rotation of the other half.
pub(super) struct CrossFit {
    /// `Σ ⟨X_hᵀ Π_h Y, W_other⟩`, the nuclear norm as far as the rotation of one half holds for the other.
    pub nuclear_norm: f64,
    /// Every row of X where the rotation of the other half puts it.
    pub mapped: Dense,
}

impl CrossFit {
    /// Of a plan between the rows of x and y, by their leading coordinates. `XᵀΠY` of either half gives the rotation of
    /// the other.
    pub(super) fn new(plan: &Dense, [x, y]: [&Dense; 2], coordinates: usize, second: &[bool]) -> Self {
        let size = |side: &Dense, weights: &[f64]| -> f64 {
            let row =
                |(i, w): (usize, &f64)| w * side.row(i).iter().map(|v| f64::from(*v).powi(2)).sum::<f64>();
            weights.iter().enumerate().map(row).sum()
        };
        let (r, c) = sums(plan);
        let scale = (size(x, &r) * size(y, &c)).sqrt();
        let (x, y) = (&leading(x, coordinates), &leading(y, coordinates));
        let dy = y.cols();
        let rows = [false, true].map(|half| -> Vec<usize> {
            (0..x.rows()).filter(|&i| second.get(i).copied().unwrap_or(false) == half).collect()
        });
        let points = rows.each_ref().map(|rows| x.picked(rows));
        let cross = [0, 1].map(|half| {
            let there = product(&plan.picked(&rows[half]), y);
            transposed_product(&points[half], &there)
        });
        let maps = cross.each_ref().map(polar);
        let inner = |a: &Dense, b: &Dense| -> f64 {
            a.data().iter().zip(b.data()).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
        };
        let held_out = inner(&cross[0], &maps[1]) + inner(&cross[1], &maps[0]);
        let mut mapped = Dense::new(x.rows(), dy, vec![0.0; x.rows() * dy]);
        for half in [0, 1] {
            let there = product(&points[half], &maps[1 - half]);
            for (at, &i) in rows[half].iter().enumerate() {
                mapped.row_mut(i).copy_from_slice(there.row(at));
            }
        }
        Self { nuclear_norm: if scale > 0.0 { held_out / scale } else { 0.0 }, mapped }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::normalise::Normalisation;
    use crate::geometry::polar::nuclear_norm;

    fn unit_rows(rows: usize, cols: usize, seed: u64) -> Dense {
        let mut points = Dense::new(rows, cols, Rng::new(seed).fill(rows * cols, -1.0, 1.0));
        Normalisation::L2Rows.apply(&mut points);
        points
    }

    fn identity(n: usize) -> Dense {
        Dense::from_fn(n, n, |i, j| if i == j { 1.0 / n as f32 } else { 0.0 })
    }

    fn cross(x: &Dense, y: &Dense) -> Dense {
        let n = x.rows() as f32;
        Dense::from_fn(x.cols(), y.cols(), |a, b| {
            (0..x.rows()).map(|i| x.at(i, a) * y.at(i, b)).sum::<f32>() / n
        })
    }

    /// 60 rows of noise in 50 coordinates can be rotated onto any others; the rotation of one half says nothing of the other.
    #[test]
    fn what_was_only_fitted_does_not_count() {
        let (x, y) = (unit_rows(60, 50, 1), unit_rows(60, 50, 2));
        let second = halves(60, 3);
        assert_eq!(second.iter().filter(|half| **half).count(), 30);
        let fitted = nuclear_norm(&cross(&x, &y));
        let held_out = CrossFit::new(&identity(60), [&x, &y], 50, &second).nuclear_norm;
        assert!(fitted > 0.6 && held_out.abs() < 0.15, "fitted {fitted}, held out {held_out}");
        // In few coordinates half the rows determine the rotation.
        let x = unit_rows(60, 4, 1);
        let (s, c) = 0.7f32.sin_cos();
        let y = Dense::from_fn(60, 4, |i, j| match j {
            0 => c * x.at(i, 0) - s * x.at(i, 2),
            2 => s * x.at(i, 0) + c * x.at(i, 2),
            _ => x.at(i, j),
        });
        let fit = CrossFit::new(&identity(60), [&x, &y], 4, &second);
        assert!((fit.nuclear_norm - 1.0).abs() < 1e-3, "{}", fit.nuclear_norm);
        assert!(fit.mapped.data().iter().zip(y.data()).all(|(a, b)| (a - b).abs() < 1e-2));
        // Coordinates that are left out count as not captured.
        let part = CrossFit::new(&identity(60), [&x, &y], 2, &second);
        assert!(part.mapped.cols() == 2 && part.nuclear_norm < 0.9, "{}", part.nuclear_norm);
    }
}
