//! What is said about a run before it starts.

use serde::{Deserialize, Serialize};

/// What an alignment is going to take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub seconds: f64,
    /// Memory at the worst moment.
    pub bytes: f64,
    /// The memory there is.
    pub room: f64,
    /// Points a side that the encoders learn from, of how many.
    pub sample: u32,
    pub rows: [u32; 2],
    /// Points a side that were asked for, where fewer have to do.
    pub wished: Option<u32>,
    /// How all points are matched in the end.
    pub way: Way,
    /// The share of the time that this takes.
    pub last: f64,
    /// Why it cannot be done here, and what could be.
    pub refusal: Option<String>,
}

/// How all points are matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Way {
    /// One plan between all points, held whole.
    Held,
    /// The plan is computed tile by tile as often as it is needed, and never held.
    Streamed,
    /// From a coarse plan between groups of points to finer ones.
    Multiscale,
}

impl Way {
    /// What happens, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Held => "all points matched in one go",
            Self::Streamed => "all points matched tile by tile",
            Self::Multiscale => "all points matched from coarse to fine",
        }
    }
}
