//! What each side looks like from the inside: normalised points, distances, neighbour graphs, geodesics,
//! ranks. Computed once per run on the host, before anything is recorded.

mod bridges;
pub mod cholesky;
mod dense;
pub mod distance;
pub mod eigen;
pub mod features;
pub mod geodesic;
pub mod graph;
pub mod kmeans;
pub mod low_rank;
pub mod nearest;
pub mod normalise;
pub mod panel;
pub mod polar;
pub mod products;
pub mod ranks;
pub mod signature;
pub mod skew;
pub mod spectral;
pub mod terrain;
pub mod tiles;
pub mod units;

pub use dense::Dense;
