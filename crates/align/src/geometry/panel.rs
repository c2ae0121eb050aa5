//! The distances a user can choose among, by name. Which one is taken decides more than any setting of the
//! optimiser, so several are tried side by side.

use super::Dense;
use super::distance::{Metric, pairwise_watched};
use super::geodesic::geodesics_among;
use super::graph::{EdgeWeight, Graph};
use super::low_rank::{LowRank, factors_watched};
use super::normalise::Normalisation;
use crate::watch::{Cancelled, NoWatch, Watch, unwatched};

/// A way to measure one side from the inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// 1 − cosine. Its ranks are those of the Euclidean distance between rows of length 1.
    Cosine,
    /// The cosine distance of rows of length 1 from which their mean was taken.
    Centred,
    /// The cosine distance of columns with mean 0 and variance 1.
    Standardised,
    Correlation,
    Euclidean,
    SquaredEuclidean,
    /// Along a weighted neighbour graph of Euclidean distances.
    Geodesic,
    /// As it came with the data.
    Given,
}

impl Distance {
    /// All that can be computed from points.
    pub const ALL: [Self; 7] = [
        Self::Cosine,
        Self::Centred,
        Self::Standardised,
        Self::Correlation,
        Self::Euclidean,
        Self::SquaredEuclidean,
        Self::Geodesic,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Cosine => "cosine",
            Self::Centred => "centred",
            Self::Standardised => "standardised",
            Self::Correlation => "correlation",
            Self::Euclidean => "euclidean",
            Self::SquaredEuclidean => "squared-euclidean",
            Self::Geodesic => "geodesic",
            Self::Given => "given",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().chain([Self::Given]).find(|d| d.name() == name)
    }

    /// Whether only the directions of rows count.
    pub fn is_angular(self) -> bool {
        matches!(self, Self::Cosine | Self::Centred | Self::Correlation)
    }

    /// The distances within a side as thin products, of about `most` columns at most; none where they have no such form.
    pub async fn low_rank(
        self,
        points: &Dense,
        most: usize,
        watch: &mut impl Watch,
    ) -> Result<Option<LowRank>, Cancelled> {
        let metric = match self {
            Self::SquaredEuclidean => Metric::SquaredEuclidean,
            Self::Cosine | Self::Centred | Self::Standardised => Metric::Cosine,
            Self::Correlation => Metric::Correlation,
            Self::Euclidean | Self::Geodesic | Self::Given => return Ok(None),
        };
        factors_watched(&self.seen(points), metric, most, watch).await
    }

    /// Whether [`Distance::low_rank`] has something for points that differ.
    pub fn is_low_rank(self) -> bool {
        !matches!(self, Self::Euclidean | Self::Geodesic | Self::Given)
    }

    /// Points such that their angles, or the ways between them, are what this distance measures.
    fn seen(self, points: &Dense) -> Dense {
        let mut seen = points.clone();
        match self {
            Self::Centred => {
                Normalisation::L2Rows.apply(&mut seen);
                Normalisation::Centre.apply(&mut seen);
            }
            Self::Standardised => Normalisation::ZScore.apply(&mut seen),
            _ => {}
        }
        seen
    }

    /// All distances within a side; none if they cannot be had from points. A neighbour graph that falls apart is
    /// joined by its shortest bridges.
    pub fn matrix(self, points: &Dense) -> Option<Dense> {
        // Nobody is there to give it up.
        unwatched(self.matrix_watched(points, &mut NoWatch)).unwrap_or_default()
    }

    /// As [`Distance::matrix`], which takes its time where there are many points or columns.
    pub async fn matrix_watched(
        self,
        points: &Dense,
        watch: &mut impl Watch,
    ) -> Result<Option<Dense>, Cancelled> {
        let metric = match self {
            Self::Given => return Ok(None),
            Self::Cosine | Self::Centred | Self::Standardised => Metric::Cosine,
            Self::Correlation => Metric::Correlation,
            Self::Euclidean | Self::Geodesic => Metric::Euclidean,
            Self::SquaredEuclidean => Metric::SquaredEuclidean,
        };
        let distances = match self {
            Self::Centred | Self::Standardised => pairwise_watched(&self.seen(points), metric, watch).await?,
            _ => pairwise_watched(points, metric, watch).await?,
        };
        if self != Self::Geodesic {
            return Ok(Some(distances));
        }
        let mut graph = Graph::nearest_watched(&distances, NEIGHBOURS, EdgeWeight::Distance, watch).await?;
        graph.join_watched(&distances, EdgeWeight::Distance, watch).await?;
        let all: Vec<u32> = (0..points.rows() as u32).collect();
        Ok(Some(geodesics_among(&graph, &all, watch).await?))
    }
}

/// A side with no more columns than this holds positions, not profiles: the length of a row means where it is,
/// and angles as seen from an arbitrary origin mean nothing.
pub const POSITIONS: usize = 3;

/// How both sides are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    pub x: Distance,
    pub y: Distance,
}

impl Measure {
    pub fn same(distance: Distance) -> Self {
        Self { x: distance, y: distance }
    }

    pub fn sides(self) -> [Distance; 2] {
        [self.x, self.y]
    }

    /// The name of the distance, or both names.
    pub fn name(self) -> String {
        if self.x == self.y { self.x.name().into() } else { format!("{}/{}", self.x.name(), self.y.name()) }
    }
}

/// The measures that are tried when none is asked for, given the columns of both sides. Profiles are compared by
/// their angles, as they are, from the common mean, and row by row; positions by the straight way and along the
/// cloud.
pub fn default_panel(dims: [usize; 2]) -> Vec<Measure> {
    use Distance::{Centred, Correlation, Cosine, Euclidean, Geodesic};
    let both = |profile: Distance, position: Distance| {
        let [x, y] = dims.map(|d| if d > POSITIONS { profile } else { position });
        Measure { x, y }
    };
    let mut panel = vec![both(Cosine, Euclidean), both(Centred, Geodesic), both(Correlation, Geodesic)];
    panel.dedup();
    panel
}

/// The measure whose distances are thin products, given the columns of both sides.
pub fn thin_measure(dims: [usize; 2]) -> Measure {
    let [x, y] = dims.map(|d| if d > POSITIONS { Distance::Cosine } else { Distance::SquaredEuclidean });
    Measure { x, y }
}

/// Neighbours in the graph that geodesics follow: few, because one edge across a gap spoils all paths.
pub(super) const NEIGHBOURS: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Count;
    use compute::rng::Rng;

    #[test]
    fn distances_within_many_points_are_looked_at() {
        let points = Dense::new(1500, 200, Rng::new(6).fill(300_000, -1.0, 1.0));
        for distance in Distance::ALL {
            let looks = Count::looks(async |watch| distance.matrix_watched(&points, watch).await);
            // 450 million products of two numbers; neighbours of all, and paths from all to all.
            let least = if distance == Distance::Geodesic { 2 + 2 + 10 } else { 2 };
            assert!(looks >= least, "{}: {looks} looks", distance.name());
        }
        let distances = Distance::Euclidean.matrix(&points).expect("of points");
        let looks = Count::looks(async |watch| {
            Graph::nearest_watched(&distances, NEIGHBOURS, EdgeWeight::Step, watch).await
        });
        assert!(looks >= 2, "{looks} looks");
    }

    #[test]
    fn names_are_read_back() {
        assert!(Distance::ALL.into_iter().all(|d| Distance::named(d.name()) == Some(d)));
        assert_eq!(Distance::named("given"), Some(Distance::Given));
        assert_eq!(Distance::named("manhattan"), None);
    }

    #[test]
    fn positions_are_not_measured_by_angles() {
        for dims in [[2, 3], [2, 40], [40, 3], [30, 20]] {
            let panel = default_panel(dims);
            assert!(panel.len() >= 2);
            for measure in panel {
                for (distance, d) in measure.sides().into_iter().zip(dims) {
                    assert_eq!(distance.is_angular(), d > POSITIONS, "{dims:?}: {}", measure.name());
                }
            }
        }
    }

    #[test]
    fn all_distances_are_symmetric_and_zero_on_the_diagonal() {
        // Two clusters so far apart that the neighbour graph has to be joined.
        let points =
            Dense::from_fn(30, 3, |i, j| (((i * 7 + j * 5) % 11) as f32) + if i < 12 { 1.0 } else { 500.0 });
        for distance in Distance::ALL {
            let matrix = distance.matrix(&points).expect("computed from points");
            for i in 0..30 {
                assert_eq!(matrix.at(i, i), 0.0, "{}", distance.name());
                assert!(
                    (0..30)
                        .all(|j| (matrix.at(i, j) - matrix.at(j, i)).abs() < 1e-3
                            && matrix.at(i, j).is_finite())
                );
            }
        }
    }
}
