//! The distances a user can choose among, by name. Which one is taken decides more than any setting of the
//! optimiser, so several are tried side by side.

use super::Dense;
use super::distance::{Metric, pairwise};
use super::geodesic::geodesics;
use super::graph::{EdgeWeight, Graph};
use super::normalise::Normalisation;

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
}

impl Distance {
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
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.name() == name)
    }

    /// All distances within a side. A neighbour graph that falls apart is joined by its shortest bridges.
    pub fn matrix(self, points: &Dense) -> Dense {
        match self {
            Self::Cosine => pairwise(points, Metric::Cosine),
            Self::Centred => {
                let mut centred = points.clone();
                Normalisation::L2Rows.apply(&mut centred);
                Normalisation::Centre.apply(&mut centred);
                pairwise(&centred, Metric::Cosine)
            }
            Self::Standardised => {
                let mut scored = points.clone();
                Normalisation::ZScore.apply(&mut scored);
                pairwise(&scored, Metric::Cosine)
            }
            Self::Correlation => pairwise(points, Metric::Correlation),
            Self::Euclidean => pairwise(points, Metric::Euclidean),
            Self::SquaredEuclidean => pairwise(points, Metric::SquaredEuclidean),
            Self::Geodesic => {
                let distances = pairwise(points, Metric::Euclidean);
                let mut graph = Graph::nearest(&distances, NEIGHBOURS, EdgeWeight::Distance);
                graph.join(&distances, EdgeWeight::Distance);
                geodesics(&graph).unwrap_or(distances)
            }
        }
    }
}

/// Neighbours in the graph that geodesics follow.
const NEIGHBOURS: usize = 10;
