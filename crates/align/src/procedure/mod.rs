//! The whole procedure: several fits of both kinds of encoders, all applied to the data, and a choice among
//! them that needs no truth.
//!
//! The same code runs in the worker and in the native measuring commands, on either executor.

mod chance;
mod confidence;
mod control;
mod convergence;
mod embedding;
mod groups;
mod linear;
mod network;
mod objective;
mod partners;
mod reached;
mod relaxed;
mod selection;
mod sides;
mod starved;
mod streamed;
mod transport;
mod whole;
mod without_encoders;

pub use chance::{ROWS as CHANCE_ROWS, chance};
pub use confidence::{COMPARED as CONFIDENCE_ROWS, FreshFits, MAPS as FRESH_MAPS};
pub use control::{Control, Failure, NoControl, Progress, Statistics, View, Watching};
pub use groups::{COMPARED as GROUP_ROWS, FEW as FEW_FOR_GROUPS, GroupChoice, steps as group_steps};
pub use linear::{
    FRESH_COORDINATES, LIFT_STEPS, MORE_STARTS, REFINE_STEPS, START_STEPS as LINEAR_STEPS, deep_size,
    is_skewed, lift_size, refine_size, sample_size as linear_sample, search_size,
};
pub use objective::{Form, objective};
pub use partners::matched;
pub use relaxed::suits as suits_relaxed_networks;
pub use selection::{Alignment, Candidate, LOOKED, LeftOut, Origin, Scores, Start};
pub use sides::{JUDGED, Sides, pairs_within};
pub use streamed::streamed;
pub use transport::{Coupling, Way, transport, transport_by};
pub use whole::{RANK as THIN, suits as suits_all_points};
pub use without_encoders::entropic_gw;

use crate::geometry::nearest::SearchChoice;
use crate::geometry::panel::{Measure, thin_measure};
use crate::solver::align::AlignSettings;
use crate::solver::infer::Encoders;
use crate::solver::marginals::Relaxation;
use compute::exec::Device;

/// Which encoders are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncoderChoice {
    /// Both kinds, in one pool.
    Both,
    Networks,
    Linear,
}

/// What the networks minimise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossChoice {
    Classic,
    Frobenius,
    RankGw,
    SoftRank,
}

impl LossChoice {
    pub const ALL: [Self; 4] = [Self::Classic, Self::Frobenius, Self::RankGw, Self::SoftRank];

    pub fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Frobenius => "frobenius",
            Self::RankGw => "rank-gw",
            Self::SoftRank => "soft-rank",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|l| l.name() == name)
    }
}

/// The settings of a procedure. The defaults are for data of any kind.
#[derive(Clone, Debug)]
pub struct Settings {
    pub encoder: EncoderChoice,
    pub loss: LossChoice,
    /// How the sides are measured: the networks are trained on each measure, and candidates are judged by all.
    /// Empty: as the sides suggest ([`Sides::default_panel`]).
    pub measures: Vec<Measure>,
    /// Network fits for each measure, each on its own subsample.
    pub fits: u32,
    /// Points a side that a network is trained on.
    pub sample: usize,
    /// Whether they are trained on all points instead, at once, as [`suits_all_points`] says.
    pub all_points: bool,
    pub train: AlignSettings,
    /// Steps after which every fit gets a new subsample; 0 for the same all along. None: as the sides suggest
    /// ([`Settings::redrawn`]).
    pub redraw: Option<u32>,
    /// How the neighbours are looked for whose graph geodesics follow.
    pub neighbours: SearchChoice,
    /// Weight of the smoothness of the cost along both neighbour graphs; 0 for none.
    pub dirichlet: f32,
    /// Weight of the shared features, where the sides have some.
    pub fused: f32,
    /// Weight of the known pairs, where there are some.
    pub pairs: f32,
    /// Linear starts.
    pub starts: Vec<Start>,
    /// How many of [`MORE_STARTS`] are made beside them, at most.
    pub more_starts: usize,
    /// How many of the linear starts are refined.
    pub refined: usize,
    /// ε of the transports, relative to the mean cost.
    pub eps: f32,
    /// How far the last transport of a linear candidate, between all points, may depart from equal weights: groups that
    /// only one side has then give their weight to others. Candidates are compared by strict transports.
    pub relaxation: Relaxation,
    /// Whether networks are trained with relaxed marginals in the last fifth of their steps, as [`suits_relaxed_networks`]
    /// says. Their last transport is then as relaxed as that of a linear candidate.
    pub relaxed_networks: bool,
    /// Whether groups of rows are left out in turn.
    pub groups: GroupChoice,
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        use Start::{Fused, Noise, Signature, Skew};
        Self {
            encoder: EncoderChoice::Both,
            loss: LossChoice::RankGw,
            measures: Vec::new(),
            fits: 1,
            sample: 300,
            all_points: false,
            train: AlignSettings::default(),
            redraw: None,
            neighbours: SearchChoice::Auto,
            dirichlet: 0.0,
            fused: 1.0,
            pairs: 1.0,
            starts: vec![Skew, Fused, Signature, Noise],
            more_starts: MORE_STARTS.len(),
            refined: 6,
            eps: 0.05,
            relaxation: Relaxation::both(RELAXED),
            relaxed_networks: false,
            groups: GroupChoice::Auto,
            seed: 1,
        }
    }
}

impl Settings {
    /// The measures for these sides.
    pub fn panel(&self, sides: &Sides) -> Vec<Measure> {
        match &self.measures[..] {
            [] if self.all_points => vec![thin_measure(sides.dims())],
            [] => sides.default_panel(),
            chosen => chosen.to_vec(),
        }
    }

    /// How far the last transport of encoders may depart from equal weights. Networks that were trained with weights that are
    /// met have part of what they have learnt in their potentials: relaxing their transport makes it worse.
    pub fn relaxed(&self, encoders: &Encoders) -> Relaxation {
        match encoders {
            Encoders::Linear { .. } => self.relaxation,
            Encoders::Networks { .. } if self.relaxed_networks => self.relaxation,
            Encoders::Networks { .. } | Encoders::Embedded { .. } => Relaxation::STRICT,
        }
    }

    /// How far the transport may depart that tells who has a partner: further, on the same sides.
    fn telling(&self) -> Relaxation {
        let telling = |lambda: Option<f32>| lambda.map(|_| TELLING);
        Relaxation { x: telling(self.relaxation.x), y: telling(self.relaxation.y) }
    }

    /// Points of a side of so many rows that a network is trained on. Where it will be compared with maps, which have far fewer
    /// parameters, a third of the rows is left to score it on. Of large sides it sees a new part every few steps anyway.
    pub fn trained_on(&self, rows: usize) -> usize {
        let held_back = self.encoder == EncoderChoice::Both && rows <= JUDGED;
        let seen = if held_back { rows - rows / 3 } else { rows };
        self.sample.min(seen)
    }

    /// Steps after which every fit gets a new subsample of these sides; none for the same all along.
    pub fn redrawn(&self, sides: &Sides) -> Option<u32> {
        let large = sides.is_large(0) || sides.is_large(1);
        self.redraw.or(large.then_some(REDRAW)).filter(|every| *every > 0)
    }
}

/// λ of the last transport of a linear candidate. Less of it helps a little more where groups are missing, and moves
/// results between equal sides by more than 0.003.
pub const RELAXED: f32 = 0.5;

/// λ of the transport that tells points without a partner from others: it does so best.
const TELLING: f32 = 0.2;

/// Steps after which subsamples of large sides are drawn anew.
const REDRAW: u32 = 25;

/// Networks that score this close to the best of them are refined into linear maps as well.
const PROMISING: f64 = 0.05;

/// Trains all candidates, applies each to the data, and ranks them.
pub async fn align(
    device: &Device,
    sides: &Sides,
    settings: &Settings,
    control: &mut impl Control,
) -> Result<Alignment, Failure> {
    let networks = settings.encoder != EncoderChoice::Linear;
    suits_relaxed_networks(settings)?;
    if networks && settings.all_points {
        suits_all_points(sides, settings)?;
    }
    let control = &mut reached::Marked::new(sides, settings, control).await?;
    let scorer = selection::Scorer::new(sides, settings, control).await?;
    let mut candidates = Vec::new();
    let mut search = linear::Search::new(device, sides, settings, &scorer);
    if settings.encoder != EncoderChoice::Networks {
        search.start(control).await?;
    }
    if networks {
        let networks = if settings.all_points {
            whole::candidates(device, sides, settings, &scorer, control).await?
        } else {
            network::candidates(device, sides, settings, &scorer, control).await?
        };
        let best = networks.iter().map(|(network, _)| network.score).fold(f64::MIN, f64::max);
        for (place, (mut network, plan)) in networks.into_iter().enumerate() {
            if settings.encoder == EncoderChoice::Both && network.score >= best - PROMISING * best.abs() {
                network.expressed = search.follow(sides, (place, &network, &plan), control).await?;
            }
            candidates.push(network);
        }
    }
    let skewness = search.skewness();
    candidates.extend(search.finish(control).await?);
    let alignment = scorer.choose(candidates)?;
    let without = groups::without_a_group(device, sides, settings, &scorer, &alignment, control).await?;
    let mut alignment = match without {
        Some(candidate) => scorer.beside(alignment, candidate),
        None => alignment,
    };
    let mut canonical = linear::Canonical::new(device, settings, scorer.prepared());
    for candidate in &mut alignment.candidates {
        canonical.turn(&mut candidate.encoders, control).await?;
    }
    Ok(Alignment { skewness, ..alignment })
}

/// The rank agreement of any plan between all points, as candidates have it: the mean plan Spearman over the panel.
pub async fn plan_spearman(
    sides: &Sides,
    settings: &Settings,
    coupling: &Coupling,
    control: &mut impl Control,
) -> Result<f64, Failure> {
    selection::Scorer::new(sides, settings, control).await?.agreement_of_whole(coupling, control).await
}

/// Encoders of another run, as the only candidate for these sides: what their plan between all points is worth.
pub async fn recalled(
    sides: &Sides,
    settings: &Settings,
    encoders: Encoders,
    coupling: &Coupling,
    control: &mut impl Control,
) -> Result<Alignment, Failure> {
    let scorer = selection::Scorer::new(sides, settings, control).await?;
    scorer.only(encoders, Origin::Saved, coupling, control).await
}

/// Applies a candidate to all points, and finds out which of them have no partner.
pub async fn infer(
    device: &Device,
    sides: &Sides,
    candidate: &Candidate,
    settings: &Settings,
    control: &mut impl Control,
) -> Result<Coupling, Failure> {
    let watch = &mut Watching::new(control, "preparing points");
    let [x, y] = sides.inputs(candidate.origin.preparations(), watch).await?;
    let relaxation = settings.relaxed(&candidate.encoders);
    matched(device, &candidate.encoders, [&x, &y], settings, relaxation, control).await
}

/// Applies a candidate to all points, as the end of a run: what it reaches is told, and taken up by a second attempt.
pub async fn conclude(
    device: &Device,
    sides: &Sides,
    settings: &Settings,
    candidate: &Candidate,
    control: &mut impl Control,
) -> Result<Coupling, Failure> {
    let marked = reached::Marked::new(sides, settings, control).await?;
    let control = &mut marked.of(&format!("{:?}", candidate.origin));
    infer(device, sides, candidate, settings, control).await
}
