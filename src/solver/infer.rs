//! Inference: trained encoders applied to any points, and one entropic transport between the results.

use super::annealing::Annealing;
use super::cost::{Cost, CostKind};
use super::mlp::{Arena, Mlp, MlpShape};
use super::sinkhorn::{Marginals, Sinkhorn, uniform};
use crate::kernels::matmul::{self, Epilogue, Layout};
use crate::kernels::tick;
use crate::plan::{Mat, PassId, Plan};

/// The encoders of one fit.
#[derive(Clone, Debug, PartialEq)]
pub enum Encoders {
    /// Two networks, with their parameters one after the other.
    Networks { shapes: [MlpShape; 2], weights: Vec<f32>, cost: CostKind },
    /// `enc_x(x) = xW`, `enc_y(y) = y`; W is row-major, `dims[0]×dims[1]`.
    Linear { dims: [u32; 2], map: Vec<f32> },
    /// None: the points are embedded already.
    Embedded { dim: u32, cost: CostKind },
}

impl Encoders {
    /// The dimensions of both sides' inputs.
    pub fn inputs(&self) -> [u32; 2] {
        match self {
            Self::Networks { shapes, .. } => shapes.each_ref().map(|shape| shape.sizes[0]),
            Self::Linear { dims, .. } => *dims,
            Self::Embedded { dim, .. } => [*dim; 2],
        }
    }

    /// The cost between what they make of both sides.
    fn cost(&self) -> CostKind {
        match self {
            Self::Networks { cost, .. } | Self::Embedded { cost, .. } => *cost,
            Self::Linear { .. } => CostKind::Sqm,
        }
    }

    /// Records the embedding of both sides in a pass of its own.
    fn record(&self, plan: &mut Plan, [x, y]: [Mat; 2]) -> (PassId, [Mat; 2]) {
        match self {
            Self::Networks { shapes, weights, .. } => {
                let mut arena = Arena::new(plan, 1, shapes.iter().map(MlpShape::parameters).sum());
                arena.set_initial(plan, weights);
                let encoders = shapes.each_ref().map(|shape| Mlp::new(&mut arena, shape));
                let pass = plan.begin_pass("embed");
                let [enc_x, enc_y] = encoders;
                (pass, [(enc_x, x), (enc_y, y)].map(|(enc, points)| enc.forward(plan, points).output()))
            }
            Self::Linear { dims, map } => {
                let w = plan.mat("map", dims[0], dims[1]);
                plan.set_initial(w.buf, map);
                let mapped = plan.mat("mapped points", x.rows, dims[1]);
                let pass = plan.begin_pass("embed");
                matmul::record(plan, Layout::NN, 1.0, [x, w, mapped], Epilogue::None);
                (pass, [mapped, y])
            }
            Self::Embedded { .. } => (plan.begin_pass("embed"), [x, y]),
        }
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
}

impl Infer {
    /// Records the inference for points given row by row, at this ε.
    pub fn record(encoders: &Encoders, points: [&[f32]; 2], eps: f32) -> Self {
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
        let sinkhorn = Sinkhorn::new(&mut plan, 1, Marginals { a: &a, b: &b }, clock, 0);

        let kind = encoders.cost();
        let (embed, [x_embedded, y_embedded]) = encoders.record(&mut plan, inputs);
        let cost = Cost::forward(&mut plan, kind, x_embedded, y_embedded);

        let transport = plan.begin_pass("transport");
        sinkhorn.record(&mut plan, cost.cost(), PER_STEP);
        let error = plan.mat("marginal error", 1, 1);
        sinkhorn.record_error(&mut plan, error);
        tick::record(&mut plan, error.buf, ring, clock);
        Self { plan, embed, transport, falling, x_embedded, y_embedded, coupling: sinkhorn.plan }
    }
}
