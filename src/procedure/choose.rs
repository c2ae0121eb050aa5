//! Choosing without the truth: every candidate is applied to the data, and the plans are compared by how
//! well matched distances agree in rank.

use super::control::{Control, Failure};
use super::sides::rows;
use super::transport::{Coupling, transport};
use super::{LossChoice, Settings, Sides};
use crate::exec::Device;
use crate::geometry::Dense;
use crate::geometry::features::Preparation;
use crate::geometry::panel::{Distance, Measure};
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
    /// The plan of trained networks.
    Network,
}

/// Where a candidate comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Linear { start: Start },
    Network { measure: Measure, loss: LossChoice, subsample: u32 },
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
    /// Plan Spearman for every measure of the panel.
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
    /// A candidate that is clearly different from the best and scores nearly as well: the data do not say which
    /// of them is right.
    pub rival: Option<usize>,
}

impl Alignment {
    pub fn best(&self) -> &Candidate {
        &self.candidates[0]
    }
}

/// Scores this close, relative to the best, count as nearly the same.
const CLOSE: f64 = 0.03;
/// What a linear map may score less than networks it agrees with.
const SIMPLER: f64 = 0.05;
/// Scores this close count as the same: a symmetry leaves less, and two different alignments seldom meet.
const TIED: f64 = 0.005;
/// Matches that lie this far apart in rank on average are clearly different; unrelated ones are half.
const DIFFERENT: f64 = 0.3;

/// Distances and ranks of the judged rows, once for all candidates.
pub(super) struct Judge<'a> {
    sides: &'a Sides,
    rows: [Vec<usize>; 2],
    points: [Dense; 2],
    panel: Vec<Scale>,
    eps: f32,
}

/// One measure of the panel on the judged rows.
struct Scale {
    measure: Measure,
    distances: [Dense; 2],
    ranks: [Dense; 2],
}

impl<'a> Judge<'a> {
    pub(super) fn new(sides: &'a Sides, settings: &Settings) -> Result<Self, Failure> {
        let chosen = sides.judged(settings.seed);
        let [x, y] = sides.points();
        let points = [rows(x, &chosen[0]), rows(y, &chosen[1])];
        let panel = settings
            .panel(sides)
            .into_iter()
            .map(|measure| {
                let distances =
                    [sides.within(0, measure.x, &chosen[0])?, sides.within(1, measure.y, &chosen[1])?];
                let ranks = distances.each_ref().map(evenly_ranked);
                Ok(Scale { measure, distances, ranks })
            })
            .collect::<Result<_, Failure>>()?;
        Ok(Self { sides, rows: chosen, points, panel, eps: settings.eps })
    }

    /// The judged rows of both sides.
    pub(super) fn rows(&self) -> [&[usize]; 2] {
        [&self.rows[0], &self.rows[1]]
    }

    /// The measures of the panel.
    pub(super) fn measures(&self) -> Vec<Measure> {
        self.panel.iter().map(|scale| scale.measure).collect()
    }

    /// Distances among the judged rows, by the `index`-th measure.
    pub(super) fn distances(&self, index: usize) -> &[Dense; 2] {
        &self.panel[index].distances
    }

    /// Applies encoders to the first judged rows, at most `most` a side.
    pub(super) async fn couple(
        &self,
        device: &Device,
        encoders: &Encoders,
        origin: Origin,
        most: usize,
        control: &mut impl Control,
    ) -> Result<Coupling, Failure> {
        let [x, y] = self.seen(origin, most);
        transport(device, encoders, [&x, &y], self.eps, control).await
    }

    /// What encoders of this origin see of the first judged rows, at most `most` a side.
    fn seen(&self, origin: Origin, most: usize) -> [Dense; 2] {
        let preparations = origin.preparations();
        [0, 1].map(|side| {
            let points = &self.points[side];
            let first = Dense::from_fn(points.rows().min(most), points.cols(), |i, j| points.at(i, j));
            self.sides.seen(side, preparations[side], &first)
        })
    }

    /// Applies encoders to the judged rows and scores the plan.
    pub(super) async fn candidate(
        &self,
        device: &Device,
        encoders: Encoders,
        origin: Origin,
        control: &mut impl Control,
    ) -> Result<Candidate, Failure> {
        let coupling = self.couple(device, &encoders, origin, usize::MAX, control).await?;
        let spearman: Vec<f64> =
            self.panel.iter().map(|Scale { ranks: [x, y], .. }| spearman(x, y, &coupling.plan)).collect();
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

    /// The score of a plan between all points, of which the judged rows count.
    pub(super) fn score_whole(&self, coupling: &Coupling) -> f64 {
        let [rx, ry] = &self.rows;
        let part = Dense::from_fn(rx.len(), ry.len(), |i, j| coupling.plan.at(rx[i], ry[j]));
        let sum: f64 = self.panel.iter().map(|Scale { ranks: [x, y], .. }| spearman(x, y, &part)).sum();
        sum / self.panel.len().max(1) as f64
    }

    /// A quick score of encoders on at most `most` rows a side, by the first measure only.
    pub(super) async fn glance(
        &self,
        device: &Device,
        encoders: &Encoders,
        origin: Origin,
        most: usize,
        control: &mut impl Control,
    ) -> Result<f64, Failure> {
        let coupling = self.couple(device, encoders, origin, most, control).await?;
        let [x, y] = &self.panel[0].distances;
        let part = |d: &Dense, n: usize| evenly_ranked(&Dense::from_fn(n, n, |i, j| d.at(i, j)));
        let (n, m) = (coupling.plan.rows(), coupling.plan.cols());
        Ok(spearman(&part(x, n), &part(y, m), &coupling.plan))
    }

    /// Ranks the candidates and looks for a rival.
    pub(super) fn choose(&self, mut candidates: Vec<Candidate>) -> Result<Alignment, Failure> {
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
        if candidates.is_empty() {
            return Err(Failure::Input("No candidate was asked for: choose at least one encoder.".into()));
        }
        // Where a linear map says the same as the first, nearly as well, it is taken: it has far fewer parameters to
        // be wrong with, and was not trained on what it is judged by.
        let simpler = candidates.iter().position(|other| {
            let linear = matches!(other.origin, Origin::Linear { .. });
            linear
                && near(&candidates[0], other, SIMPLER)
                && self.difference(&candidates[0], other) < DIFFERENT
        });
        candidates[..=simpler.unwrap_or(0)].rotate_right(1);
        let best = &candidates[0];
        let differ = |a: &Candidate, b: &Candidate| self.difference(a, b) > DIFFERENT;
        // Networks may score higher than any linear map and yet all have come to the same side of a symmetry. So
        // the others are also compared with candidates of their own kind that agree with the best.
        let rival = candidates.iter().position(|other| {
            differ(best, other)
                && (near(best, other, CLOSE)
                    || candidates.iter().any(|ally| {
                        let alike = ally.origin.encoder() == other.origin.encoder();
                        alike && near(ally, other, TIED) && !differ(best, ally) && differ(ally, other)
                    }))
        });
        Ok(Alignment { candidates, rival })
    }

    /// How far apart the matches of two candidates lie, in ranks of Y's distances: 0 the same, ½ unrelated.
    fn difference(&self, a: &Candidate, b: &Candidate) -> f64 {
        let ranks = &self.panel[0].ranks[1];
        let sum: f64 = a.matches.iter().zip(&b.matches).map(|(&a, &b)| f64::from(ranks.at(a, b))).sum();
        sum / a.matches.len().max(1) as f64
    }
}

/// Whether the other scores as well up to this share, or better.
fn near(best: &Candidate, other: &Candidate, share: f64) -> bool {
    other.score >= best.score - share * best.score.abs()
}

fn evenly_ranked(distances: &Dense) -> Dense {
    mid_ranks(distances, &uniform(distances.cols() as u32))
}
