//! Entropic transport between points in one space, recorded so that nothing has a place for every pair: a plan row
//! exists while its masses are added up, and then never again. Memory grows with the points, time with their pairs.
//!
//! An iteration is `g += …` from the columns' sums, then f from g, and the sums of the columns that follow. So whenever
//! an iteration has ended f and g belong together, the rows of their plan meet their weights, and the statistics say
//! how far the columns are from theirs. It is recorded in parts, each a submit of its own.

use super::marginals::Relaxation;
use compute::kernels::pair_sinkhorn::{self, GROUP, PairSinkhorn};
use compute::kernels::reduce::{self, Operation};
use compute::kernels::relax::{self, Relax};
use compute::kernels::target::{self, Target};
use compute::kernels::{Quotient, accumulate, mat_t_vec, miss, panels, tick};
use compute::plan::{Clock, Mat, PassId, Plan};

pub use compute::kernels::panels::packed;

/// The sizes of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub rows: u32,
    pub cols: u32,
    pub dim: u32,
}

impl Extent {
    pub fn pairs(&self) -> u64 {
        u64::from(self.rows) * u64::from(self.cols)
    }
}

/// The statistics of an iteration, in the order of the ring's columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// How far the columns are from their marginal ([`HalfSteps::error`]).
    pub error: f32,
    /// The dual value of strict marginals, up to a constant: what every iteration is to raise.
    pub dual: f32,
}

/// Iterations whose statistics the ring keeps.
const KEPT: u32 = 64;

/// What an iteration is told: the columns of the one row of the schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stride {
    pub eps: f32,
    /// How long a step is; Sinkhorn's is 1.
    pub alpha: f32,
    /// How much of the step before is added.
    pub beta: f32,
}

impl Stride {
    /// Sinkhorn's own step.
    pub fn plain(eps: f32) -> Self {
        Self { eps, alpha: 1.0, beta: 0.0 }
    }

    pub fn words(&self) -> [f32; 3] {
        [self.eps, self.alpha, self.beta]
    }
}

/// The half-steps of a transport that holds no plan, for whoever records them.
#[derive(Clone, Copy, Debug)]
pub struct HalfSteps {
    /// The points of the rows, and those of the columns in [`panels`].
    pub points: [Mat; 2],
    /// Potentials without the squares: `f − |x|²`, `g − |y|²`.
    pub f: Mat,
    pub g: Mat,
    pub velocity: Mat,
    /// What the columns hold.
    pub sums: Mat,
    /// |y|², for who relaxes the columns: what they are to hold depends on their whole potential.
    pub squares: Mat,
    relaxation: Relaxation,
    clock: Clock,
    /// Rows of a part: whole groups, or all there are.
    share: u32,
    partial: Mat,
    masses: Mat,
    ones: Mat,
    weights: Mat,
    /// What the columns are to hold where their weights are relaxed.
    target: Mat,
}

impl HalfSteps {
    /// Lays them out with about `pairs` pairs of points in a part. Both sides weigh all their points the same, as strictly
    /// as `relaxation` says.
    pub fn new(
        plan: &mut Plan,
        [x, y]: [Mat; 2],
        cols: u32,
        clock: Clock,
        pairs: u64,
        relaxation: Relaxation,
    ) -> Self {
        let rows = x.rows;
        let share = share_of([rows, cols], pairs);
        let [f, g, velocity, sums] = [("f", rows), ("g", cols), ("velocity", cols), ("column sums", cols)]
            .map(|(label, len)| plan.mat(label, len, 1));
        let partial = plan.mat("groups' masses", share.div_ceil(GROUP), cols);
        let masses = plan.mat("masses", cols, 1);
        let ones = plan.mat("ones", partial.rows, 1);
        plan.set_initial(ones.buf, &vec![1.0; partial.rows as usize]);
        let weights = plan.mat("weights", cols, 1);
        plan.set_initial(weights.buf, &vec![1.0 / cols as f32; cols as usize]);
        // A strict transport has no use for them.
        let extra = if relaxation.y.is_some() { cols } else { 1 };
        let [squares, target] = ["squares", "target"].map(|label| plan.mat(label, extra, 1));
        let points = [x, y];
        Self {
            points,
            f,
            g,
            velocity,
            sums,
            squares,
            relaxation,
            clock,
            share,
            partial,
            masses,
            ones,
            weights,
            target,
        }
    }

    /// Records an iteration, each part of it a pass of its own: the columns' step from their sums by the three columns
    /// of the schedule from `stride` on, then f from g, and the sums of the columns that follow.
    pub fn iteration(&self, plan: &mut Plan, parts: &mut Vec<PassId>, stride: u32) {
        let Self { points: [x, y], f, g, velocity, sums, relaxation, clock, partial, masses, ones, .. } =
            *self;
        let slack = [0, 1].map(|side| relaxation.slack(side));
        let pair = PairSinkhorn { x, y, g, f, partial, slack: slack[0], clock, eps_column: stride };
        for first in (0..x.rows).step_by(self.share as usize) {
            parts.push(plan.begin_pass("part of an iteration"));
            if first == 0 {
                let weights = self.record_target(plan, stride);
                let op = Relax { sums, velocity, g, weights, slack: slack[1], clock, first_column: stride };
                relax::record(plan, &op);
            }
            let here = self.share.min(x.rows - first);
            pair_sinkhorn::record(plan, &pair, first, here);
            let groups = here.div_ceil(GROUP);
            let [partial, ones] = [partial, ones].map(|mat| Mat { rows: groups, ..mat });
            mat_t_vec::record(plan, [partial, ones, masses], Quotient::Plain);
            accumulate::record(plan, 1.0, masses, sums);
        }
    }

    /// Records what the columns are to hold, given g as it stands at the ε of a column of the schedule.
    fn record_target(&self, plan: &mut Plan, eps_column: u32) -> Mat {
        let Self { g, weights: b, squares: q, target: out, relaxation, clock, .. } = *self;
        if relaxation.y.is_none() {
            return b;
        }
        target::record(plan, &Target { b, g, q, out, slack: relaxation.slack(1), clock, eps_column });
        out
    }

    /// Records how far the columns are from their weights, `Σ_j |b − c_j|`; where marginals are relaxed, from the masses
    /// that g asks for, as [`Sinkhorn::record_error`](super::sinkhorn::Sinkhorn::record_error) says. ε is this column of
    /// the schedule.
    pub fn error(&self, plan: &mut Plan, out: Mat, eps_column: u32) {
        if !self.relaxation.is_strict() {
            let target = self.record_target(plan, eps_column);
            return miss::record(plan, [self.sums, target, out]);
        }
        let [weights, sums] = [self.weights, self.sums].map(|column| column.reshaped(1, column.rows));
        reduce::record_apart(plan, 1.0, [weights, sums], out);
    }
}

/// Rows of a part with about `pairs` pairs: whole groups, or all there are.
pub fn share_of([rows, cols]: [u32; 2], pairs: u64) -> u32 {
    let groups = (pairs / u64::from(cols) / u64::from(GROUP)).max(1);
    u64::from(rows).min(groups * u64::from(GROUP)) as u32
}

/// A recorded transport. Buffers start as zeros: who plays it writes the points, `g`, `sums` and the schedule.
pub struct Streamed {
    pub plan: Plan,
    /// An iteration: all of these in order.
    pub parts: Vec<PassId>,
    /// With their weights as sums of the columns, the first iteration leaves g as it is.
    pub steps: HalfSteps,
    /// The schedule has one row, a [`Stride`], which may be rewritten between iterations.
    pub clock: Clock,
}

impl Streamed {
    /// Records it with about `pairs` pairs of points in a part. Only sizes are taken, so that what does not fit is
    /// refused before anything large exists.
    pub fn record(extent: Extent, pairs: u64, relaxation: Relaxation) -> Self {
        let Extent { rows, cols, dim } = extent;
        let mut plan = Plan::new();
        let x = plan.mat("rows' points", rows, dim);
        let y = plan.mat("columns' points", panels::padded(cols), dim);
        let statistics = plan.mat("statistics", 1, 2);
        let means = plan.mat("mean potentials", 1, 2);
        let clock = plan.set_schedule(3, &Stride::plain(1.0).words());
        let ring = plan.set_stats(2, KEPT);
        let steps = HalfSteps::new(&mut plan, [x, y], cols, clock, pairs, relaxation);

        let mut parts = Vec::new();
        steps.iteration(&mut plan, &mut parts, 0);
        let cell = |mat: Mat, offset| Mat { offset, rows: 1, cols: 1, ..mat };
        steps.error(&mut plan, cell(statistics, 0), 0);
        for (at, side) in [steps.f, steps.g].into_iter().enumerate() {
            let mean = 1.0 / side.rows as f32;
            let line = side.reshaped(1, side.rows);
            reduce::record(&mut plan, Operation::Sum, mean, line, cell(means, at as u32));
        }
        reduce::record(&mut plan, Operation::Sum, 1.0, means, cell(statistics, 1));
        tick::record(&mut plan, statistics.buf, ring, clock);
        Self { plan, parts, steps, clock }
    }
}
