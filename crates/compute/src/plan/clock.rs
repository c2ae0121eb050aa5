//! Time on the device: which step is running, what its scalars are, where its statistics go.
//!
//! The host never tells the device the step. A counter in a buffer does, so that one recorded step can
//! be submitted many times without a write or a read in between.

use super::BufId;

/// The device-side step counter and the table of per-step scalars (ε, learning rate, …) it indexes.
///
/// Row `min(step, steps − 1)` of the schedule is in force, so steps beyond the end repeat the last row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// One `u32`.
    pub step: BufId,
    /// `steps × columns` scalars.
    pub schedule: BufId,
    pub columns: u32,
    pub steps: u32,
}

/// Per-step statistics, written by the device into row `step mod rows`.
///
/// The host looks at a copy a few times a second. A ring as long as the run loses nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatsRing {
    pub buf: BufId,
    pub columns: u32,
    pub rows: u32,
}
