//! The training step of [`align`](super::align) for the classic loss on all points at once, with nothing that has a
//! place for every pair: distances of both sides are thin products, and the plan is computed anew wherever it is
//! needed, from embeddings and potentials. Memory grows with the points, time with their pairs.
//!
//! With `DX = U diag(s) Uᵀ`, `DY = V diag(t) Vᵀ` the gradient of the loss is itself a thin product,
//! `G = P Vᵀ` with `P = −4 U (s∘UᵀΠV∘t)`, and so is what goes back to the cost,
//!
//! `∂L/∂C = −(1/ε) Π∘(G − α1ᵀ − 1βᵀ) = −(1/ε) Π∘([P, −α, −1][V, 1, β]ᵀ)`.
//!
//! So one kernel does it all ([`pair_apply`]): a plan, weighted by a thin product, times a matrix. Both of its operands
//! lie side by side in one matrix a side: the factor of the cost, the potential, then the weights.
//!
//! A step is recorded in parts, each a submit of its own, so that a slow device stays responsive.

use super::align::{AlignSettings, STATS};
use super::cost::Factors;
use super::implicit::TOLERANCE;
use super::marginals::Relaxation;
use super::mlp::{Arena, Mlp, MlpShape};
use super::streamed::{HalfSteps, share_of};
use crate::solver::align::Align;
use compute::kernels::cg::{self, Cg};
use compute::kernels::matmul::{self, Epilogue, Layout};
use compute::kernels::pair_apply::{self, PairApply};
use compute::kernels::reduce::{self, Operation};
use compute::kernels::{accumulate, adam, panels, place, row_dots, tick};
use compute::plan::{BufId, Clock, Mat, PassId, Plan};
use compute::rng::Rng;

/// Distances within a side as `U diag(s) Uᵀ`: U is points × rank.
#[derive(Clone, Copy, Debug)]
pub struct Thin {
    pub factors: Mat,
    /// diag(s), rank × rank.
    pub diagonal: Mat,
}

/// What to align. Recorded by the caller into the same plan.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// Encoder inputs, one row a point.
    pub inputs: [Mat; 2],
    pub distances: [Thin; 2],
}

/// Columns of the schedule: ε with a whole Sinkhorn step, ε with one of length zero, then those of Adam.
const EPS: u32 = 0;
const STILL: u32 = 3;
const RATE: u32 = 6;
const COLUMNS: u32 = 9;

/// A recorded training run.
pub struct Whole {
    /// A step: all of these in order.
    pub parts: Vec<PassId>,
    /// The parameters of enc_x, then those of enc_y.
    pub weights: BufId,
    /// Their gradients, as the last step left them.
    pub gradients: BufId,
    /// Where the last step has put the points of both sides.
    pub embedded: [Mat; 2],
    /// The potentials of the last step, f and g.
    pub potentials: [Mat; 2],
    /// From what the next step follows, besides the clock.
    pub state: [BufId; 5],
}

impl Whole {
    /// Records the step into a plan that holds the problem, with about `pairs` pairs of points in a part.
    pub fn record(plan: &mut Plan, settings: &AlignSettings, problem: &Problem, pairs: u64) -> Self {
        let [x, y] = problem.inputs;
        let (n, m) = (x.rows, y.rows);
        let shapes = Align::shapes(settings, [x.cols, y.cols]);
        let schedule: Vec<f32> = (0..settings.steps)
            .flat_map(|t| {
                let eps = settings.annealing.eps(t, settings.steps);
                [eps, 1.0, 0.0, eps, 0.0, 0.0].into_iter().chain(adam::schedule_entry(t, settings.rate))
            })
            .collect();
        let clock = plan.set_schedule(COLUMNS, &schedule);
        let ring = plan.set_stats(STATS, settings.steps);
        let mut arena = Arena::new(plan, 1, shapes.iter().map(MlpShape::parameters).sum());
        let mut rng = Rng::new(settings.seed);
        let initial: Vec<f32> = shapes.iter().flat_map(|shape| shape.initial(&mut rng)).collect();
        arena.set_initial(plan, &initial);
        let [enc_x, enc_y] = shapes.each_ref().map(|shape| Mlp::new(&mut arena, shape));

        let mut parts = vec![plan.begin_pass("encoders")];
        let [pass_x, pass_y] = [(&enc_x, x), (&enc_y, y)].map(|(enc, input)| enc.forward(plan, input));
        let factors = Factors::forward(plan, settings.cost, pass_x.output(), pass_y.output());
        let [left, right] = factors.sides();
        let columns = plan.mat("columns' points", panels::padded(m), right.cols);
        // The kernel takes every product twice, as a squared distance would.
        panels::record(plan, 0.5, right, columns);
        let transport = HalfSteps::new(plan, [left, columns], m, clock, pairs, Relaxation::STRICT);
        // A step of length zero only empties the sums, which are of the encoders as they were.
        for stride in [STILL].into_iter().chain((0..settings.sinkhorn).map(|_| EPS)) {
            transport.iteration(plan, &mut parts, stride);
        }

        let back = Back::new(plan, problem, [left, right], clock, pairs);
        let HalfSteps { f, g, sums, .. } = transport;
        let values = plan.mat("step statistics", STATS, 1);
        let value = |offset| Mat { rows: 1, offset, ..values };
        let products = factors.products(plan);
        let loss = back.record(plan, &mut parts, [f, g], sums, settings.conjugate, products);
        reduce::record(plan, Operation::Sum, 0.5, loss.reshaped(1, n), value(0));
        let [dz, dw] = factors.backward(plan, products);
        enc_x.backward(plan, &pass_x, dz);
        enc_y.backward(plan, &pass_y, dw);
        arena.record_adam(plan, clock, RATE);
        transport.error(plan, value(1), EPS);
        tick::record(plan, values.buf, ring, clock);
        let (weights, gradients) = arena.buffers();
        let [parameters, first, second] = arena.state();
        Self {
            parts,
            weights,
            gradients,
            embedded: [pass_x.output(), pass_y.output()],
            potentials: [f, g],
            state: [parameters, first, second, f.buf, g.buf],
        }
    }
}

/// The way back from the loss to the cost.
struct Back {
    distances: [Thin; 2],
    /// The factors of the cost.
    factors: [Mat; 2],
    /// For both sides the factor of the cost, the potential beside a 1, and the weights.
    sides: [Mat; 2],
    clock: Clock,
    pairs: u64,
}

impl Back {
    fn new(plan: &mut Plan, problem: &Problem, factors: [Mat; 2], clock: Clock, pairs: u64) -> Self {
        let distances = problem.distances;
        let (dim, rank) = (factors[0].cols, distances[1].factors.cols);
        let pitch = dim + 2 + rank + 2;
        // What is 1 stays so: beside the other side's potential and beside its α or β.
        let sides = [0, 1].map(|side| {
            let points = factors[side].rows;
            let mat = plan.mat("points, potentials and weights", points, pitch);
            let mut row = vec![0.0; pitch as usize];
            row[dim as usize + 1 - side] = 1.0;
            row[pitch as usize - 1 - side] = if side == 0 { -1.0 } else { 1.0 };
            plan.set_initial(mat.buf, &row.repeat(points as usize));
            mat
        });
        Self { distances, factors, sides, clock, pairs }
    }

    /// The columns that hold points and potentials.
    fn dim(&self) -> u32 {
        self.factors[0].cols + 2
    }

    /// Records everything from the plan of these potentials to the products that the cost takes back, and returns
    /// `s = (G∘Π)1`. The first part continues the pass under way.
    fn record(
        &self,
        plan: &mut Plan,
        parts: &mut Vec<PassId>,
        [f, g]: [Mat; 2],
        sums: Mat,
        iterations: u32,
        products: [Mat; 2],
    ) -> Mat {
        let ([dx, dy], [left, right]) = (self.distances, self.sides);
        let (n, m, dim, rank) = (left.rows, right.rows, self.dim(), dy.factors.cols);
        for (side, potential) in [f, g].into_iter().enumerate() {
            place::record(plan, 1.0, self.factors[side], self.sides[side], 0);
            place::record(plan, 1.0, potential, self.sides[side], dim - 2 + side as u32);
        }
        place::record(plan, 1.0, dy.factors, right, dim);

        // P, and s from ΠV.
        let through = plan.mat("plan times factors", n, rank);
        self.apply(plan, parts, 0, 0, [dy.factors, through], (1.0, false));
        let core = plan.mat("loss core", dx.factors.cols, rank);
        matmul::record(plan, Layout::TN, 1.0, [dx.factors, through, core], Epilogue::None);
        let [scaled, both] = ["scaled core", "loss core"].map(|label| plan.mat(label, core.rows, rank));
        matmul::record(plan, Layout::NN, 1.0, [dx.diagonal, core, scaled], Epilogue::None);
        matmul::record(plan, Layout::NN, 1.0, [scaled, dy.diagonal, both], Epilogue::None);
        let weights = plan.mat("gradient factors", n, rank);
        matmul::record(plan, Layout::NN, -4.0, [dx.factors, both, weights], Epilogue::None);
        place::record(plan, 1.0, weights, left, dim);
        let s = plan.mat("s", n, 1);
        row_dots::record(plan, [weights, through, s]);

        // t − Πᵀ(s/a): −s/a stands where −α will.
        let count = n as f32;
        place::record(plan, -count, s, left, dim + rank);
        let ones = plan.mat("ones", n, 1);
        plan.set_initial(ones.buf, &vec![1.0; n as usize]);
        let [product, probe, beta] = ["product", "probe", "beta"].map(|label| plan.mat(label, m, 1));
        let rows = plan.mat("rows", n, 1);
        self.apply(plan, parts, 1, rank + 1, [ones, product], (1.0, false));
        let work = cg::work(plan, 1, m);
        let step = Cg { c: sums, product, work, probe, beta, tolerance: TOLERANCE, singular: true };
        cg::record_start(plan, &step);
        for _ in 0..iterations {
            self.apply(plan, parts, 0, 0, [probe, rows], (count, false));
            self.apply(plan, parts, 1, 0, [rows, product], (1.0, false));
            cg::record_step(plan, &step);
        }

        // α = (s − Πβ)/a.
        let alpha = plan.mat("alpha", n, 1);
        self.apply(plan, parts, 0, 0, [beta, alpha], (-count, false));
        accumulate::record(plan, count, s, alpha);
        place::record(plan, -1.0, alpha, left, dim + rank);
        place::record(plan, 1.0, beta, right, dim + rank + 1);
        self.apply(plan, parts, 0, rank + 2, [self.factors[1], products[0]], (-1.0, true));
        self.apply(plan, parts, 1, rank + 2, [self.factors[0], products[1]], (-1.0, true));
        s
    }

    /// Records a product with the plan, or for `side` 1 with its transpose, in parts.
    fn apply(
        &self,
        plan: &mut Plan,
        parts: &mut Vec<PassId>,
        side: usize,
        rank: u32,
        [b, out]: [Mat; 2],
        (scale, over_eps): (f32, bool),
    ) {
        let (left, right) = (self.sides[side], self.sides[1 - side]);
        let (dim, clock) = (self.dim(), self.clock);
        let op = PairApply { left, right, dim, rank, b, out, scale, over_eps, clock, eps_column: EPS };
        let share = share_of([left.rows, right.rows], self.pairs);
        for first in (0..left.rows).step_by(share as usize) {
            parts.push(plan.begin_pass("products with the plan"));
            pair_apply::record(plan, &op, first, share.min(left.rows - first));
        }
    }
}
