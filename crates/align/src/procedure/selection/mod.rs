//! Selection without the truth: every candidate is applied to the data and compared with the others by several scores,
//! none of which has seen what belongs together.

mod choice;
mod held_out;
mod scorer;
mod scores;

use super::LossChoice;
use crate::geometry::features::Preparation;
use crate::geometry::panel::{Distance, Measure};
use crate::solver::infer::Encoders;

pub use scorer::LOOKED;
pub(super) use scorer::{Look, Scorer, norm_of, plan_of};
pub use scores::Scores;
pub(super) use scores::cross_moments;

/// What a linear run starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Rotations of the leading coordinates under which third moments agree.
    Skew,
    /// Signatures, which also guide the first half of the run.
    Fused,
    /// Signatures, for the start only.
    Signature,
    /// A nearly uniform plan.
    Noise,
    /// The plan of trained networks.
    Network,
    /// Rows without a group that the other side seems to lack.
    Without(LeftOut),
}

/// A group of rows that a map was fitted without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub side: u8,
    /// How many rows of its side it has, about.
    pub rows: u32,
}

impl Start {
    /// Whether two kinds start from the same: that they agree then tells little.
    pub(super) fn is_related(self, other: Self) -> bool {
        let signed = |start: Self| matches!(start, Self::Fused | Self::Signature);
        self == other || (signed(self) && signed(other))
    }
}

/// Where a candidate comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Linear {
        start: Start,
    },
    Network {
        measure: Measure,
        loss: LossChoice,
        subsample: u32,
    },
    /// Trained in another run and saved.
    Saved,
}

impl Origin {
    /// What its encoders expect to see of both sides.
    pub fn preparations(self) -> [Preparation; 2] {
        match self {
            Self::Linear { .. } => [Preparation::Linear; 2],
            Self::Network { measure, .. } => measure.sides().map(|distance| match distance {
                Distance::Standardised => Preparation::Standardised,
                angular if angular.is_angular() => Preparation::Unit,
                _ => Preparation::Plain,
            }),
            // Nothing is prepared for them: a saved model holds its preparation, and its points come embedded.
            Self::Saved => [Preparation::Plain; 2],
        }
    }

    /// The group that a map was fitted without.
    pub fn left_out(self) -> Option<LeftOut> {
        match self {
            Self::Linear { start: Start::Without(left) } => Some(left),
            _ => None,
        }
    }

    pub fn encoder(self) -> &'static str {
        match self {
            Self::Linear { .. } => "linear",
            Self::Network { .. } => "mlp",
            Self::Saved => "saved",
        }
    }
}

/// Trained encoders and how well they do, as far as one can tell without the truth.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub encoders: Encoders,
    pub origin: Origin,
    /// Plan Spearman for every measure of the panel.
    pub spearman: Vec<f64>,
    /// The mean of these, and where pairs are known how well they agree.
    pub score: f64,
    /// The same score of the plan between all rows, where `score` is of rows held back.
    pub fitted: f64,
    /// Of networks: whether a linear map says the same nearly as well.
    pub expressed: bool,
    /// What else says how good it is, alike for all linear maps; networks have the first only.
    pub scores: Scores,
    /// How far its matches lie from those of the best, in ranks of distances: 0 the same, ½ unrelated.
    pub difference: f64,
    /// The match of each judged row among the judged rows of the other side.
    pub matches: Vec<usize>,
    /// How far the transport was from its marginals.
    pub error: f32,
}

impl Candidate {
    /// The mean plan Spearman over the panel. Known pairs have no part in it.
    pub fn rank_agreement(&self) -> f64 {
        mean(&self.spearman)
    }
}

/// All candidates, the chosen one first.
pub struct Alignment {
    pub candidates: Vec<Candidate>,
    /// A candidate that is clearly different from the chosen one and that some score prefers, or nearly: the data do not
    /// say which of them is right.
    pub rival: Option<usize>,
    /// All such candidates, each clearly different from those before it.
    pub alternatives: Vec<usize>,
    /// How well the third moments of two halves of either side agree: near 0 they hold nothing to align by. None where no
    /// linear maps were looked for.
    pub skewness: Option<[f64; 2]>,
    /// How far the chosen one's nuclear norm is above that of the best clearly different candidate; none without one.
    pub margin: Option<f64>,
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
