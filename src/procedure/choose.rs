//! Choosing without the truth: every candidate is applied to the data, and the plans are compared by how
//! well matched distances agree in rank.

use super::control::{Control, Failure};
use super::linear::rows;
use super::transport::transport;
use super::{LossChoice, Settings, Sides};
use crate::exec::Device;
use crate::geometry::Dense;
use crate::geometry::features::Preparation;
use crate::geometry::panel::Distance;
use crate::geometry::ranks::mid_ranks;
use crate::metrics::plan::spearman;
use crate::solver::infer::Encoders;
use crate::solver::sinkhorn::uniform;

/// What a linear run starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Signatures, which also guide the first half of the run.
    Fused,
    /// Signatures, for the start only.
    Signature,
    /// A nearly uniform plan.
    Noise,
}

/// Where a candidate comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Linear { start: Start, refined: bool },
    Network { distance: Distance, loss: LossChoice, subsample: u32 },
}

impl Origin {
    /// What its encoders expect to see.
    pub fn preparation(self) -> Preparation {
        match self {
            Self::Linear { .. } => Preparation::Linear,
            Self::Network { distance, .. } => Preparation::Network {
                unit_rows: matches!(distance, Distance::Cosine | Distance::Centred | Distance::Correlation),
            },
        }
    }

    pub(super) fn start(self) -> Start {
        match self {
            Self::Linear { start, .. } => start,
            Self::Network { .. } => Start::Noise,
        }
    }

    pub fn encoder(self) -> &'static str {
        match self {
            Self::Linear { .. } => "linear",
            Self::Network { .. } => "mlp",
        }
    }
}

/// Trained encoders and how well they do, as far as one can tell without the truth.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub encoders: Encoders,
    pub origin: Origin,
    /// Plan Spearman for every distance of the panel.
    pub spearman: Vec<f64>,
    /// Their mean, by which candidates are ranked.
    pub score: f64,
    /// The match of each judged row among the judged rows of the other side.
    pub matches: Vec<usize>,
    /// How far the transport was from its marginals.
    pub error: f32,
}

/// All candidates, best first.
pub struct Alignment {
    pub candidates: Vec<Candidate>,
}

impl Alignment {
    pub(super) fn rank(mut candidates: Vec<Candidate>) -> Self {
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
        Self { candidates }
    }

    pub fn best(&self) -> Option<&Candidate> {
        self.candidates.first()
    }
}

/// Distances and ranks of the judged rows, once for all candidates.
pub(super) struct Judge {
    rows: [Vec<usize>; 2],
    panel: Vec<(Distance, [Dense; 2], [Dense; 2])>,
    inputs: Vec<(Preparation, [Dense; 2])>,
    eps: f32,
}

impl Judge {
    pub(super) fn new(sides: &Sides, settings: &Settings) -> Self {
        let chosen = sides.judged(settings.seed);
        let [x, y] = sides.points();
        let points = [rows(x, &chosen[0]), rows(y, &chosen[1])];
        let panel = settings
            .distances
            .iter()
            .map(|&distance| {
                let within = points.each_ref().map(|side| distance.matrix(side));
                let ranks = within.each_ref().map(|d| mid_ranks(d, &uniform(d.cols() as u32)));
                (distance, within, ranks)
            })
            .collect();
        let preparations = [
            Preparation::Linear,
            Preparation::Network { unit_rows: true },
            Preparation::Network { unit_rows: false },
        ];
        let inputs = preparations
            .into_iter()
            .map(|preparation| {
                let [x, y] = sides.inputs(preparation);
                (preparation, [rows(&x, &chosen[0]), rows(&y, &chosen[1])])
            })
            .collect();
        Self { rows: chosen, panel, inputs, eps: settings.eps }
    }

    /// The judged rows of both sides.
    pub(super) fn rows(&self) -> [&[usize]; 2] {
        [&self.rows[0], &self.rows[1]]
    }

    /// Distances among the judged rows of one side.
    pub(super) fn distances(&self, distance: Distance, side: usize) -> &Dense {
        let found = self.panel.iter().find(|(d, _, _)| *d == distance);
        &found.unwrap_or(&self.panel[0]).1[side]
    }

    /// Applies encoders to the judged rows and scores the plan.
    pub(super) async fn candidate(
        &self,
        device: &Device,
        encoders: Encoders,
        origin: Origin,
        control: &mut impl Control,
    ) -> Result<Candidate, Failure> {
        let preparation = origin.preparation();
        let found = self.inputs.iter().find(|(p, _)| *p == preparation).unwrap_or(&self.inputs[0]);
        let coupling = transport(device, &encoders, [&found.1[0], &found.1[1]], self.eps, control).await?;
        let spearman: Vec<f64> =
            self.panel.iter().map(|(_, _, [rx, ry])| spearman(rx, ry, &coupling.plan)).collect();
        let score = spearman.iter().sum::<f64>() / spearman.len().max(1) as f64;
        Ok(Candidate {
            encoders,
            origin,
            spearman,
            score,
            matches: coupling.matches(),
            error: coupling.error,
        })
    }
}
