//! Choosing without the truth: every candidate is applied to the data, and the plans are compared by how
//! well matched distances agree in rank.

use super::control::{Control, Failure, Watching};
use super::transport::{COMPARABLE, Coupling, transport_until};
use super::{LossChoice, Settings, Sides};
use crate::exec::Device;
use crate::geometry::Dense;
use crate::geometry::features::Preparation;
use crate::geometry::panel::{Distance, Measure};
use crate::geometry::ranks::mid_ranks_watched;
use crate::metrics::plan::{agreement_of, matches, spearman_of};
use crate::solver::infer::Encoders;
use crate::solver::sinkhorn::{Relaxation, uniform};
use crate::watch::{Cancelled, Watch};

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
    /// By what candidates are ranked: the mean of these, and where pairs are known how well they agree.
    pub score: f64,
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
    /// Known pairs, as places among the judged rows.
    known: Vec<(usize, usize)>,
    /// Those of X's judged rows from which distances are compared.
    anchors: Vec<usize>,
    eps: f32,
}

/// Anchors of the rank correlation, at most. All distances from each of them count, so that a few hundred tell
/// candidates apart as well as all points do, at a fraction of the cost.
const ANCHORS: usize = 400;

/// One measure of the panel on the judged rows.
struct Scale {
    measure: Measure,
    distances: [Dense; 2],
    ranks: [Dense; 2],
}

/// A part of a [`Judge`] that looks at few rows.
pub(super) struct Quick {
    ranks: [Dense; 2],
    anchors: Vec<usize>,
    most: usize,
}

impl Quick {
    /// Whether two quick scores and their matches say the same.
    pub(super) fn same(&self, (a, a_matches): (f64, &[usize]), (b, b_matches): (f64, &[usize])) -> bool {
        (a - b).abs() <= TIED * a.abs().max(b.abs())
            && apart(&self.ranks[1], a_matches, b_matches) < DIFFERENT
    }
}

impl<'a> Judge<'a> {
    pub(super) async fn new(
        sides: &'a Sides,
        settings: &Settings,
        control: &mut impl Control,
    ) -> Result<Self, Failure> {
        let watch = &mut Watching::new(control, "measuring distances");
        let chosen = sides.judged(settings.seed);
        let [x, y] = sides.points();
        let points = [x.picked(&chosen[0]), y.picked(&chosen[1])];
        let mut panel: Vec<Scale> = Vec::new();
        for measure in settings.panel(sides) {
            let (mut distances, mut ranks) = (Vec::new(), Vec::new());
            for (side, distance) in measure.sides().into_iter().enumerate() {
                // Measures may have a side in common.
                if let Some(scale) = panel.iter().find(|scale| scale.measure.sides()[side] == distance) {
                    distances.push(scale.distances[side].clone());
                    ranks.push(scale.ranks[side].clone());
                    continue;
                }
                let search = settings.neighbours;
                let far = sides.within(side, distance, &chosen[side], search, watch).await?;
                ranks.push(mid_ranks_watched(&far, &uniform(far.cols() as u32), watch).await?);
                distances.push(far);
            }
            if let (Ok(distances), Ok(ranks)) = (distances.try_into(), ranks.try_into()) {
                panel.push(Scale { measure, distances, ranks });
            }
        }
        let anchors = spread(chosen[0].len());
        let place = |side: usize, row: usize| chosen[side].binary_search(&row).ok();
        let known = sides.known().iter().filter_map(|&(i, j)| Some((place(0, i)?, place(1, j)?))).collect();
        Ok(Self { sides, rows: chosen, points, panel, known, anchors, eps: settings.eps })
    }

    /// The judged rows of both sides.
    pub(super) fn rows(&self) -> [&[usize]; 2] {
        [&self.rows[0], &self.rows[1]]
    }

    /// What a plan is worth: the mean rank correlation; where pairs are known, their agreement counts as much.
    fn score(&self, spearman: &[f64], plan: &Dense) -> f64 {
        if self.known.is_empty() {
            return mean(spearman);
        }
        0.5 * (mean(spearman) + agreement_of(plan, &self.known))
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
    ) -> Result<Coupling<Dense>, Failure> {
        let [x, y] = self.seen(origin, most);
        // Relaxed plans were worse to choose by: what has no partner is not counted against a candidate.
        let relaxation = Relaxation::STRICT;
        transport_until(COMPARABLE, device, encoders, [&x, &y], self.eps, relaxation, control).await
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

    /// Applies encoders to the judged rows and scores the plan, which comes with the candidate.
    pub(super) async fn candidate(
        &self,
        device: &Device,
        encoders: Encoders,
        origin: Origin,
        control: &mut impl Control,
    ) -> Result<(Candidate, Coupling<Dense>), Failure> {
        let coupling = self.couple(device, &encoders, origin, usize::MAX, control).await?;
        let watch = &mut Watching::new(control, "matching");
        let spearman = self.spearman(&coupling.plan, watch).await?;
        let score = self.score(&spearman, &coupling.plan);
        let (matches, error) = (coupling.matches(), coupling.error);
        Ok((Candidate { encoders, origin, spearman, score, difference: 0.0, matches, error }, coupling))
    }

    /// The rank agreement of a plan between all points, of which the judged rows count.
    pub(super) async fn agreement_of_whole(
        &self,
        coupling: &Coupling,
        control: &mut impl Control,
    ) -> Result<f64, Failure> {
        let watch = &mut Watching::new(control, "taking figures");
        Ok(mean(&self.spearman(&self.part(coupling), watch).await?))
    }

    /// Encoders whose plan between all points is there already, as the only candidate.
    pub(super) async fn only(
        &self,
        encoders: Encoders,
        origin: Origin,
        coupling: &Coupling,
        control: &mut impl Control,
    ) -> Result<Alignment, Failure> {
        let part = self.part(coupling);
        let watch = &mut Watching::new(control, "taking figures");
        let spearman = self.spearman(&part, watch).await?;
        let (score, matches, error) = (self.score(&spearman, &part), matches(&part), coupling.error);
        let candidate = Candidate { encoders, origin, spearman, score, difference: 0.0, matches, error };
        Ok(Alignment { candidates: vec![candidate], rival: None })
    }

    /// The plan between the judged rows.
    fn part(&self, coupling: &Coupling) -> Dense {
        let [x, y] =
            self.rows.each_ref().map(|rows| rows.iter().map(|&row| row as u32).collect::<Vec<u32>>());
        coupling.plan.part(&x, &y)
    }

    /// The plan Spearman by every measure of the panel.
    async fn spearman(&self, plan: &Dense, watch: &mut impl Watch) -> Result<Vec<f64>, Cancelled> {
        let mut each = Vec::with_capacity(self.panel.len());
        for Scale { ranks: [x, y], .. } in &self.panel {
            each.push(spearman_of(&self.anchors, x, y, plan, watch).await?);
        }
        Ok(each)
    }

    /// What quick looks at candidates share: the ranks, by the first measure, of at most `most` rows a side.
    pub(super) async fn quick(&self, most: usize, watch: &mut impl Watch) -> Result<Quick, Cancelled> {
        let Scale { distances, ranks, .. } = &self.panel[0];
        let mut ranks = ranks.clone();
        for (ranks, d) in ranks.iter_mut().zip(distances) {
            if d.rows() > most {
                let first = Dense::from_fn(most, most, |i, j| d.at(i, j));
                *ranks = mid_ranks_watched(&first, &uniform(most as u32), watch).await?;
            }
        }
        Ok(Quick { anchors: spread(ranks[0].rows()), ranks, most })
    }

    /// A quick score of encoders, and their matches among the rows looked at.
    pub(super) async fn glance(
        &self,
        device: &Device,
        encoders: &Encoders,
        origin: Origin,
        quick: &Quick,
        control: &mut impl Control,
    ) -> Result<(f64, Vec<usize>), Failure> {
        let coupling = self.couple(device, encoders, origin, quick.most, control).await?;
        let [x, y] = &quick.ranks;
        let watch = &mut Watching::new(control, "matching");
        Ok((spearman_of(&quick.anchors, x, y, &coupling.plan, watch).await?, coupling.matches()))
    }

    /// Ranks the candidates and looks for a rival.
    pub(super) fn choose(&self, mut candidates: Vec<Candidate>) -> Result<Alignment, Failure> {
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
        if candidates.is_empty() {
            return Err(Failure::Input("No candidate was asked for: choose at least one encoder.".into()));
        }
        // Where a linear map says the same as the first, nearly as well, it is taken: it has far fewer parameters to
        // be wrong with, and was not trained on what it is judged by.
        let agrees = |with: usize, other: &Candidate, share: f64| {
            near(&candidates[with], other, share) && self.difference(&candidates[with], other) < DIFFERENT
        };
        let simpler = candidates
            .iter()
            .position(|other| matches!(other.origin, Origin::Linear { .. }) && agrees(0, other, SIMPLER));
        // And of two such maps that tie, the one that was found without the networks: theirs has been refined for a few
        // steps only and is still on its way.
        let own = |first: usize| {
            candidates.iter().position(|other| match other.origin {
                Origin::Linear { start } => start != Start::Network && agrees(first, other, TIED),
                Origin::Network { .. } | Origin::Saved => false,
            })
        };
        let taken = simpler.map_or(0, |first| own(first).unwrap_or(first));
        candidates[..=taken].rotate_right(1);
        for i in 1..candidates.len() {
            candidates[i].difference = self.difference(&candidates[0], &candidates[i]);
        }
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

    fn difference(&self, a: &Candidate, b: &Candidate) -> f64 {
        apart(&self.panel[0].ranks[1], &a.matches, &b.matches)
    }
}

/// How far apart the matches of two candidates lie, in ranks of Y's distances: 0 the same, ½ unrelated.
fn apart(ranks: &Dense, a: &[usize], b: &[usize]) -> f64 {
    let sum: f64 = a.iter().zip(b).map(|(&a, &b)| f64::from(ranks.at(a, b))).sum();
    sum / a.len().max(1) as f64
}

/// Whether the other scores as well up to this share, or better.
fn near(best: &Candidate, other: &Candidate, share: f64) -> bool {
    other.score >= best.score - share * best.score.abs()
}

/// Up to [`ANCHORS`] of `n` rows, evenly.
fn spread(n: usize) -> Vec<usize> {
    let count = n.min(ANCHORS);
    (0..count).map(|i| i * n / count).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
