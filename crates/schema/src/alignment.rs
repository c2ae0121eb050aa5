//! What is said about an alignment: the settings of a run, how it goes, and what came of it.

use formats::Step;
use serde::{Deserialize, Serialize};

use super::{Side, Way};

/// The settings of a run. The defaults come from the worker ([`super::Diagnostics::defaults`]), which knows the solver.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AlignOptions {
    /// `both`, `mlp` or `linear`.
    pub encoder: String,
    /// `rank-gw`, `classic`, `frobenius` or `soft-rank`.
    pub loss: String,
    /// The distance of each side by name; both empty: a panel of them is tried.
    pub distance_x: String,
    pub distance_y: String,
    /// Points a side that a network is trained on.
    pub sample: u32,
    /// Whether networks are trained on all points at once instead.
    pub all_points: bool,
    pub steps: u32,
    /// Network fits for each measure.
    pub fits: u32,
    /// Steps after which new subsamples are drawn; 0 for never, none for as many rows suggest.
    pub redraw: Option<u32>,
    pub hidden: u32,
    pub embedding: u32,
    /// `relu`, `leaky-relu`, `elu` or `tanh`.
    pub activation: String,
    /// `sqm` or `cosine`.
    pub cost: String,
    pub rate: f32,
    pub eps_start: f32,
    pub eps_end: f32,
    /// `exponential`, `linear` or `constant`.
    pub annealing: String,
    pub sinkhorn: u32,
    pub conjugate: u32,
    /// `auto`, `exact` or `approximate`: how the neighbours are found whose graph geodesic distances follow.
    pub neighbours: String,
    pub dirichlet: f32,
    /// Weight of the shared features, where both sides have some.
    pub fused: f32,
    /// Weight of the known pairs, where there are some.
    pub pairs: f32,
    /// ε of the transport between all points.
    pub eps: f32,
    /// `relaxed`, `relaxed-all`, `strict-x`, `strict-y` or `strict`: whose rows the last transport of linear maps may leave
    /// without a partner, and whether networks are trained for it as well.
    pub marginals: String,
    /// `auto`, `try` or `off`: whether groups that the other side may lack are left out in turn.
    pub groups: String,
    pub seed: u32,
}

/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    pub phase: String,
    pub done: u32,
    pub of: u32,
    /// Of the whole run, from 0 to 1.
    pub share: f64,
}

/// One of several alignments that a run has found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CandidateRow {
    /// `linear`, `mlp` or `saved`.
    pub encoder: String,
    /// Where it comes from, in words.
    pub origin: String,
    /// The mean plan Spearman, by which candidates are ranked.
    pub score: f64,
    /// The nuclear norm of `XᵀΠY`, by which linear maps are chosen.
    pub nuclear_norm: Option<f64>,
    /// The correlation of the third moments of both sides under a linear map.
    pub third_moment: Option<f64>,
    /// Whether it is clearly different from the chosen one, and some score prefers it or nearly.
    pub alternative: bool,
    /// How far its matches are from those of the best: 0 the same, ½ unrelated.
    pub difference: f64,
}

/// A figure with what it would be if nothing were known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureRow {
    /// The name for automation: `foscttm`, `label-transfer`, …
    pub key: String,
    pub name: String,
    pub value: f64,
    pub null: f64,
    pub lower_is_better: bool,
    /// One sentence on what it says.
    pub about: String,
    /// Whether it needs labels or true pairs.
    pub known: bool,
}

/// Something worth knowing about a run, and what might be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub what: String,
    pub fix: String,
    /// Settings that would follow the advice, to be taken over with one click.
    pub options: Option<Box<AlignOptions>>,
    /// A step on the columns of a side that would follow it.
    pub step: Option<(Side, Step)>,
    pub serious: bool,
}

/// A label column of one side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabelColumn {
    pub name: String,
    /// The different labels; the codes travel as bulk data, −1 for missing.
    pub names: Vec<String>,
}

/// What a run has found. Bulk, in this order, points as rows of two:
/// `0` X and `1` Y in the aligned view; `2` X and `3` Y each by itself (principal axes);
/// `4` the match of each x and `5` of each y (row numbers, −1 for none), `6` and `7` their confidence (empty
/// where it was not measured);
/// `8` and `9` the label codes of X and Y (empty without labels);
/// `10` the plan as a picture, `picture` squared, rows and columns in the order of the aligned view;
/// `11` for every true pair its share of closer points, sorted (empty without truth);
/// `12` and `13` what each x and each y keeps of its weight, 1 on average, and `14` and `15` whether it has no partner, 1 or 0
/// (empty where that was not looked for);
/// `16` and `17` the share of each row's mass that its match gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub n: u32,
    pub m: u32,
    /// Best first; `shown` is the one whose figures and points these are.
    pub candidates: Vec<CandidateRow>,
    pub shown: u32,
    /// A candidate that is clearly different and nearly as good.
    pub rival: Option<u32>,
    /// How far the chosen one's nuclear norm is above that of the best clearly different one.
    pub margin: Option<f64>,
    pub figures: Vec<FigureRow>,
    /// How the points were matched.
    pub way: Way,
    pub findings: Vec<Finding>,
    /// What speaks for it, in a sentence, where something does.
    pub verdict: Option<String>,
    /// Of both sides; shared label names have the same code on both.
    pub labels: [LabelColumn; 2],
    pub picture: u32,
    /// None where nothing was trained, or not all of it in one go.
    pub train_s: Option<f64>,
    pub infer_s: f64,
    /// Whether these are new points rather than those of training.
    pub new_points: bool,
    /// How many rows a side this was computed on, where it was on a part.
    pub part: Option<u32>,
    /// Whether the encoders were trained in another run, and only applied in this one.
    pub trained_before: bool,
    /// How the training of the run that this comes from ended; none where nothing is known of it.
    pub ending: Option<Ending>,
}

/// How the training of a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// Steps that the networks were trained, of those that were set; 0 of 0 where none was trained.
    pub step: u32,
    pub of: u32,
    /// Why it went no further.
    pub early: Option<Early>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Early {
    /// Somebody asked for it.
    Stopped,
    /// Nothing moved any more.
    Converged,
}

impl Ending {
    /// After so many steps of so many, asked to end early or not.
    pub fn new(step: u32, of: u32, asked: bool) -> Self {
        let early = match (step < of, asked) {
            // Without a network there is no step to tell by.
            (_, true) if of == 0 => Some(Early::Stopped),
            (true, true) => Some(Early::Stopped),
            (true, false) => Some(Early::Converged),
            (false, _) => None,
        };
        Self { step: step.min(of), of, early }
    }
}

/// One line of the table of matches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchRow {
    pub x: u32,
    pub x_id: String,
    pub x_label: String,
    pub y: u32,
    pub y_id: String,
    pub y_label: String,
    /// How sure the match is; none where it was not measured.
    pub confidence: Option<f32>,
    /// The share of the row's mass that the match gets.
    pub share: f32,
    pub second: u32,
    pub second_id: String,
    /// Whether the row of X has no partner: its match is only the nearest there is.
    pub alone: bool,
}

/// What can be taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Export {
    /// Matches with confidence and second choice, CSV.
    Matches,
    /// The largest entries of every row of the plan, CSV.
    PlanTop,
    /// The whole plan, NPY.
    PlanDense,
    Embeddings(Side),
    /// Where the plan sends X among Y's points, NPY.
    Projection,
    /// safetensors.
    Model,
    Onnx(Side),
    /// The run record, JSON.
    Record,
    /// All of these in a ZIP.
    Everything,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_training_ends_by_request_by_itself_or_at_its_end() {
        assert_eq!(Ending::new(140, 300, true).early, Some(Early::Stopped));
        assert_eq!(Ending::new(288, 300, false).early, Some(Early::Converged));
        assert_eq!(Ending::new(300, 300, false).early, None);
        assert_eq!(Ending::new(300, 300, true).early, None, "there was nothing left to stop");
        assert_eq!(Ending::new(0, 0, true).early, Some(Early::Stopped));
        assert_eq!(Ending::new(0, 0, false).early, None);
    }
}
