//! Concord aligns two data sets that share no features and no known pairs, inside a browser tab.
//!
//! Read `ARCHITECTURE.md` for the way of the data through these modules.

pub mod check;
pub mod exec;
pub mod kernels;
pub mod plan;
pub mod rng;
pub mod solver;
