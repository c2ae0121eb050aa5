//! Inference: trained encoders applied to any points, and one entropic transport between the results.

use super::annealing::Annealing;
use super::cost::{Cost, CostKind};
use super::mlp::{Arena, Mlp, MlpShape};
use super::sinkhorn::{Marginals, Relaxation, Sinkhorn, uniform};
use compute::kernels::matmul::{self, Epilogue, Layout};
use compute::kernels::tick;
use compute::plan::{Mat, PassId, Plan};

/// The encoders of one fit.
#[derive(Clone, Debug, PartialEq)]
pub enum Encoders {
    /// Two networks, with their parameters one after the other.
    Networks { shapes: [MlpShape; 2], weights: Vec<f32>, cost: CostKind },
    /// `enc_x(x) = xA`, `enc_y(y) = yB`; without B the points of Y stay where they are.
    Linear { x: LinearMap, y: Option<LinearMap> },
    /// None: the points are embedded already.
    Embedded { dim: u32, cost: CostKind },
}

/// A matrix that points are multiplied with: a row for each of their coordinates, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearMap {
    pub rows: u32,
    pub cols: u32,
    pub values: Vec<f32>,
}

impl Encoders {
    /// The dimensions of both sides' inputs.
    pub fn inputs(&self) -> [u32; 2] {
        match self {
            Self::Networks { shapes, .. } => shapes.each_ref().map(|shape| shape.sizes[0]),
            Self::Linear { x, y } => [x.rows, y.as_ref().map_or(x.cols, |y| y.rows)],
            Self::Embedded { dim, .. } => [*dim; 2],
        }
    }

    /// The dimensions of the space they share.
    pub fn outputs(&self) -> usize {
        let last = match self {
            Self::Networks { shapes, .. } => shapes[0].sizes.last().copied().unwrap_or(0),
            Self::Linear { x, .. } => x.cols,
            Self::Embedded { dim, .. } => *dim,
        };
        last as usize
    }

    /// The cost between what they make of both sides.
    pub fn cost(&self) -> CostKind {
        match self {
            Self::Networks { cost, .. } | Self::Embedded { cost, .. } => *cost,
            Self::Linear { .. } => CostKind::Sqm,
        }
    }

    /// Whether the points of this side stay where they are.
    pub fn keeps(&self, side: usize) -> bool {
        match self {
            Self::Networks { .. } => false,
            Self::Linear { y, .. } => side == 1 && y.is_none(),
            Self::Embedded { .. } => true,
        }
    }

    /// Records the embedding of one side's points.
    fn record(&self, plan: &mut Plan, side: usize, points: Mat) -> Mat {
        match self {
            Self::Networks { shapes, weights, .. } => {
                let own = shapes[side].parameters();
                let first = if side == 0 { 0 } else { shapes[0].parameters() };
                let mut arena = Arena::new(plan, 1, own);
                arena.set_initial(plan, &weights[first..first + own]);
                Mlp::new(&mut arena, &shapes[side]).forward(plan, points).output()
            }
            Self::Linear { x, y } => match if side == 0 { Some(x) } else { y.as_ref() } {
                Some(map) => {
                    let w = plan.mat("map", map.rows, map.cols);
                    plan.set_initial(w.buf, &map.values);
                    let mapped = plan.mat("mapped points", points.rows, map.cols);
                    matmul::record(plan, Layout::NN, 1.0, [points, w, mapped], Epilogue::None);
                    mapped
                }
                None => points,
            },
            Self::Embedded { .. } => points,
        }
    }
}

/// A recorded embedding of some points of one side; others may be written in their place.
pub struct Embedding {
    pub plan: Plan,
    pub pass: PassId,
    pub points: Mat,
    pub embedded: Mat,
}

impl Embedding {
    /// Records it for so many points at a time.
    pub fn record(encoders: &Encoders, side: usize, rows: u32) -> Self {
        let mut plan = Plan::new();
        let points = plan.mat("points", rows, encoders.inputs()[side]);
        let pass = plan.begin_pass("embed");
        let embedded = encoders.record(&mut plan, side, points);
        Self { plan, pass, points, embedded }
    }
}

/// ε falls from this while the potentials converge, because cold iterations at a small ε need thousands.
const START: f32 = 1.0;
/// Sinkhorn iterations for each value of ε.
pub const PER_STEP: u32 = 10;

/// How many steps ε takes to fall: each takes a third off it, about what warm-started iterations follow.
pub fn falling(eps: f32) -> u32 {
    1 + ((START / eps).max(1.0).ln() / 1.5f32.ln()).ceil() as u32
}

/// A recorded inference, with the whole plan in memory.
pub struct Infer {
    pub plan: Plan,
    /// Embeds both sides; played once.
    pub embed: PassId,
    /// Goes on with the transport. Its statistic is the marginal error.
    pub transport: PassId,
    /// How often `transport` has to be played until ε has fallen; then as often as it takes.
    pub falling: u32,
    pub x_embedded: Mat,
    pub y_embedded: Mat,
    /// Π.
    pub coupling: Mat,
    /// What its columns hold, and their potential.
    pub columns: Mat,
    pub g: Mat,
}

impl Infer {
    /// Records the inference for points given row by row, at this ε. All points of a side weigh the same, and as strictly
    /// as `relaxation` says.
    pub fn record(encoders: &Encoders, points: [&[f32]; 2], eps: f32, relaxation: Relaxation) -> Self {
        let mut plan = Plan::new();
        let mut dims = encoders.inputs().into_iter();
        let inputs = points.map(|data| {
            let cols = dims.next().unwrap_or(1);
            let mat = plan.mat("points", data.len() as u32 / cols, cols);
            plan.set_initial(mat.buf, data);
            mat
        });
        let falling = falling(eps);
        let annealing = Annealing { start: START.max(eps), end: eps, share: 1.0, ..Annealing::default() };
        let schedule: Vec<f32> = (0..falling).map(|t| annealing.eps(t, falling)).collect();
        let clock = plan.set_schedule(1, &schedule);
        let ring = plan.set_stats(1, 64);
        let (a, b) = (uniform(inputs[0].rows), uniform(inputs[1].rows));
        let marginals = Marginals { a: &a, b: &b, relaxation };
        let sinkhorn = Sinkhorn::new(&mut plan, 1, marginals, clock, 0);

        let kind = encoders.cost();
        let embed = plan.begin_pass("embed");
        let [x_embedded, y_embedded] = [0, 1].map(|side| encoders.record(&mut plan, side, inputs[side]));
        let cost = Cost::forward(&mut plan, kind, x_embedded, y_embedded);

        let transport = plan.begin_pass("transport");
        sinkhorn.record(&mut plan, cost.cost(), PER_STEP);
        let error = plan.mat("marginal error", 1, 1);
        let columns = sinkhorn.record_error(&mut plan, error);
        tick::record(&mut plan, error.buf, ring, clock);
        let (coupling, g) = (sinkhorn.plan, sinkhorn.g);
        Self { plan, embed, transport, falling, x_embedded, y_embedded, coupling, columns, g }
    }
}
