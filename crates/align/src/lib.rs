//! The mathematics of an alignment: distances and other geometry, encoders, transport, losses, the search for candidates, the
//! choice among them without the truth, and metrics. Knows no file and no page.

pub mod baseline;
pub mod geometry;
pub mod metrics;
pub mod procedure;
pub mod scale;
pub mod solver;
pub mod watch;
