//! What is timed on: two clouds of points, and what the solver and the peers are given of them.

use std::path::Path;

use crate::npy;
use align::geometry::Dense;
use align::geometry::distance::{Metric, pairwise};
use align::geometry::geodesic::geodesics;
use align::geometry::graph::{EdgeWeight, Graph};
use align::geometry::low_rank::{LowRank, factors};
use align::geometry::normalise::Normalisation;
use compute::rng::Rng;

/// The size of the SNARE-seq set, which comparisons of such methods commonly use.
const POINTS: usize = 1047;
/// As many as the smaller measurements take.
const FEWEST: usize = 300;
const DIMS: [usize; 2] = [10, 19];
const CLUSTERS: usize = 4;

/// Points of both sides, one a row, prepared for cosine distances.
#[derive(Clone)]
pub struct Clouds {
    pub x: Dense,
    pub y: Dense,
}

impl Clouds {
    /// From `x.npy` and `y.npy` in a folder, at most 1047 points a side.
    pub fn load(folder: &Path) -> Result<Self, String> {
        let side = |name: &str| -> Result<Dense, String> {
            let mut points = npy::read(&folder.join(name))?;
            // Counts and proportions are compared by their roots; a side with negative values is neither.
            if points.data().iter().all(|&v| v >= 0.0) {
                Normalisation::SqrtShares.apply(&mut points);
            }
            Ok(points)
        };
        let clouds = Self { x: side("x.npy")?, y: side("y.npy")? };
        let fewest = clouds.x.rows().min(clouds.y.rows());
        if fewest < FEWEST {
            return Err(format!("{} has a side of {fewest} points; {FEWEST} are needed", folder.display()));
        }
        Ok(clouds.part(POINTS))
    }

    /// Clusters of unequal size that lie alike on both sides: the same hidden positions, seen through two
    /// random linear maps and a little noise.
    pub fn synthetic() -> Self {
        let mut rng = Rng::new(20);
        let centres = Dense::new(CLUSTERS, 4, rng.fill(CLUSTERS * 4, -2.0, 2.0));
        let hidden = Dense::from_fn(POINTS, 4, |i, j| {
            let cluster = ((i % 100) as f32 / 100.0).powi(2) * CLUSTERS as f32;
            centres.at(cluster as usize, j) + rng.uniform(-0.6, 0.6)
        });
        let [x, y] = DIMS.map(|dims| {
            let map = Dense::new(4, dims, rng.fill(4 * dims, -1.0, 1.0));
            Dense::from_fn(POINTS, dims, |i, j| {
                let seen: f32 = (0..4).map(|k| hidden.at(i, k) * map.at(k, j)).sum();
                seen + rng.uniform(-0.1, 0.1)
            })
        });
        Self { x, y }
    }

    /// `n` points of each side, evenly spread over the rows; never more than there are.
    pub fn part(&self, n: usize) -> Self {
        let part = |side: &Dense| {
            let rows = side.rows();
            Dense::from_fn(n.min(rows), side.cols(), |i, j| side.at(i * rows / n.min(rows), j))
        };
        Self { x: part(&self.x), y: part(&self.y) }
    }

    fn each<T>(&self, make: impl Fn(&Dense) -> T) -> [T; 2] {
        [make(&self.x), make(&self.y)]
    }

    /// Rows of length 1, centred, with one scale for the whole side.
    pub fn inputs(&self) -> [Dense; 2] {
        self.each(|side| {
            let mut points = side.clone();
            Normalisation::L2Rows.apply(&mut points);
            Normalisation::Centre.apply(&mut points);
            let squares: f64 = points.data().iter().map(|&v| f64::from(v).powi(2)).sum();
            let scale = (squares / points.data().len() as f64).sqrt().max(1e-12) as f32;
            Dense::from_fn(points.rows(), points.cols(), |i, j| points.at(i, j) / scale)
        })
    }

    /// Cosine distances, scaled so that the largest is 1. On distances of mean ½ some peers stop at their own
    /// defaults before they have found anything.
    pub fn distances(&self) -> [Dense; 2] {
        self.each(|side| {
            let distances = pairwise(side, Metric::Cosine);
            let largest = distances.data().iter().copied().fold(f32::MIN_POSITIVE, f32::max);
            Dense::from_fn(side.rows(), side.rows(), |i, j| distances.at(i, j) / largest)
        })
    }

    /// The distances that SCOT publishes for single-cell data: steps in a graph of correlation neighbours, a tenth of
    /// all points each, scaled so that the longest path is 1.
    pub fn steps(&self) -> Result<[Dense; 2], String> {
        let [x, y] = self.each(|side| -> Result<Dense, String> {
            let near = pairwise(side, Metric::Correlation);
            let mut graph = Graph::nearest(&near, side.rows().div_ceil(10).min(110), EdgeWeight::Step);
            graph.join(&near, EdgeWeight::Step);
            let steps = geodesics(&graph).map_err(|error| error.to_string())?;
            let longest = steps.data().iter().copied().fold(f32::MIN_POSITIVE, f32::max);
            Ok(Dense::from_fn(side.rows(), side.rows(), |i, j| steps.at(i, j) / longest))
        });
        Ok([x?, y?])
    }

    /// The factors of cosine distances of mean ½, which training uses.
    pub fn factors(&self) -> Result<[LowRank; 2], String> {
        let [x, y] = self.each(|side| factors(side, Metric::Cosine, side.cols()));
        x.zip(y).map(|(x, y)| [x, y]).ok_or_else(|| "all points of a side lie in one direction".into())
    }

    /// The factors of [`Clouds::distances`].
    pub fn scaled_factors(&self) -> Result<[LowRank; 2], String> {
        Ok(self.factors()?.map(|low| {
            let (LowRank { u, s }, us) = (&low, low.scaled());
            let product =
                |i: usize, j: usize| -> f32 { u.row(i).iter().zip(us.row(j)).map(|(a, b)| a * b).sum() };
            let rows = u.rows();
            let largest = (0..rows).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| product(i, j));
            let largest = largest.fold(f32::MIN_POSITIVE, f32::max);
            LowRank { u: u.clone(), s: s.iter().map(|s| s / largest).collect() }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_and_distances_are_the_same_distances() {
        let part = Clouds::synthetic().part(40);
        let factors = part.scaled_factors().expect("has factors");
        for (whole, low) in part.distances().iter().zip(&factors) {
            let (u, us) = (&low.u, low.scaled());
            assert!((whole.data().iter().copied().fold(0.0, f32::max) - 1.0).abs() < 1e-6);
            for (i, j) in (0..40).flat_map(|i| (0..40).map(move |j| (i, j))) {
                let product: f32 = u.row(i).iter().zip(us.row(j)).map(|(a, b)| a * b).sum();
                assert!((product - whole.at(i, j)).abs() < 1e-5, "{i} {j}: {product} {}", whole.at(i, j));
            }
        }
    }

    #[test]
    fn a_part_is_spread_over_the_rows_and_the_whole_is_itself() {
        let clouds =
            Clouds { x: Dense::from_fn(10, 1, |i, _| i as f32), y: Dense::from_fn(4, 1, |i, _| i as f32) };
        let part = clouds.part(5);
        assert_eq!(part.x.data(), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(part.y, clouds.y);
    }
}
