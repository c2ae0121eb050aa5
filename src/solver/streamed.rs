//! Entropic transport between points in one space, recorded so that nothing has a place for every pair: a plan row
//! exists while its masses are added up, and then never again. Memory grows with the points, time with their pairs.
//!
//! An iteration is `g += …` from the columns' sums, then f from g, and the sums of the columns that follow. So whenever
//! an iteration has ended f and g belong together, the rows of their plan meet their weights, and the statistics say
//! how far the columns are from theirs. It is recorded in parts, each a submit of its own.

use crate::kernels::pair_sinkhorn::{self, GROUP, PairSinkhorn};
use crate::kernels::reduce::{self, Operation};
use crate::kernels::relax::{self, Relax};
use crate::kernels::{Quotient, accumulate, mat_t_vec, tick};
use crate::plan::{Clock, Mat, PassId, Plan};

pub use crate::kernels::pair_sinkhorn::panels;

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
    /// `Σ_j |b − c_j|`.
    pub error: f32,
    /// The dual value, up to a constant: what every iteration is to raise.
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

/// A recorded transport. Buffers start as zeros: who plays it writes `x`, `y`, `g`, `sums` and the schedule.
pub struct Streamed {
    pub plan: Plan,
    /// An iteration: all of these in order.
    pub parts: Vec<PassId>,
    pub x: Mat,
    /// As [`panels`] lays them out.
    pub y: Mat,
    /// Potentials without the squares: `f − |x|²`, `g − |y|²`.
    pub f: Mat,
    pub g: Mat,
    pub velocity: Mat,
    /// What the columns hold; with their weights in it, the first iteration leaves g as it is.
    pub sums: Mat,
    /// The schedule has one row, a [`Stride`], which may be rewritten between iterations.
    pub clock: Clock,
}

impl Streamed {
    /// Records it with about `pairs` pairs of points in a part. Only sizes are taken, so that what does not fit is
    /// refused before anything large exists.
    pub fn record(extent: Extent, pairs: u64) -> Self {
        let Extent { rows, cols, dim } = extent;
        // Whole groups of rows, or all there are.
        let groups = (pairs / u64::from(cols) / u64::from(GROUP)).max(1);
        let share = u64::from(rows).min(groups * u64::from(GROUP)) as u32;

        let mut plan = Plan::new();
        let x = plan.mat("rows' points", rows, dim);
        let y = plan.mat("columns' points", pair_sinkhorn::padded(cols), dim);
        let [f, g, velocity, sums] = [("f", rows), ("g", cols), ("velocity", cols), ("column sums", cols)]
            .map(|(label, len)| plan.mat(label, len, 1));
        let partial = plan.mat("groups' masses", share.div_ceil(GROUP), cols);
        let masses = plan.mat("masses", cols, 1);
        let ones = plan.mat("ones", partial.rows, 1);
        plan.set_initial(ones.buf, &vec![1.0; partial.rows as usize]);
        let weight = 1.0 / cols as f32;
        let weights = plan.mat("weights", 1, cols);
        plan.set_initial(weights.buf, &vec![weight; cols as usize]);
        let statistics = plan.mat("statistics", 1, 2);
        let means = plan.mat("mean potentials", 1, 2);
        let clock = plan.set_schedule(3, &Stride::plain(1.0).words());
        let ring = plan.set_stats(2, KEPT);

        let pair = PairSinkhorn { x, y, g, f, partial, clock, eps_column: 0 };
        let mut parts = Vec::new();
        for first in (0..rows).step_by(share as usize) {
            parts.push(plan.begin_pass("part of an iteration"));
            if first == 0 {
                relax::record(&mut plan, &Relax { sums, velocity, g, weight, clock, first_column: 0 });
            }
            let here = share.min(rows - first);
            pair_sinkhorn::record(&mut plan, &pair, first, here);
            let groups = here.div_ceil(GROUP);
            let [partial, ones] = [partial, ones].map(|mat| Mat { rows: groups, ..mat });
            mat_t_vec::record(&mut plan, [partial, ones, masses], Quotient::Plain);
            accumulate::record(&mut plan, 1.0, masses, sums);
        }
        let cell = |mat: Mat, offset| Mat { offset, rows: 1, cols: 1, ..mat };
        let line = |mat: Mat| mat.reshaped(1, mat.rows);
        reduce::record_apart(&mut plan, 1.0, [weights, line(sums)], cell(statistics, 0));
        for (at, (side, len)) in [(f, rows), (g, cols)].into_iter().enumerate() {
            let mean = 1.0 / len as f32;
            reduce::record(&mut plan, Operation::Sum, mean, line(side), cell(means, at as u32));
        }
        reduce::record(&mut plan, Operation::Sum, 1.0, means, cell(statistics, 1));
        tick::record(&mut plan, statistics.buf, ring, clock);
        Self { plan, parts, x, y, f, g, velocity, sums, clock }
    }
}
