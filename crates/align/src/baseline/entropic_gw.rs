//! Entropic Gromov-Wasserstein with the square loss: the update of POT's `entropic_gromov_wasserstein`
//! (Peyré, Cuturi & Solomon, ICML 2016).
//!
//! From `T = a bᵀ`, each outer iteration solves an entropic transport whose cost is the gradient of the loss
//! at the last plan:
//! ```text
//! C = 2(constC − 2 DX T DY),   constC_ij = Σ_k DX_ik² a_k + Σ_l DY_jl² b_l,   T ← Sinkhorn(C, ε)
//! ```
//! `constC` is a number for each row plus one for each column. Adding such numbers to a cost only shifts the
//! potentials by them and leaves the plan as it is, so `−4 DX T DY` is enough: the gradient of
//! [`classic`], dense or of low rank.
//!
//! One thing differs: the potentials go on from the last outer iteration instead of from zero. That is the
//! same plan when Sinkhorn converges, in far fewer iterations, and the recorded statistics tell whether it did.

use crate::solver::losses::classic::{self, Distances};
use crate::solver::sinkhorn::{Marginals, Sinkhorn};
use compute::exec::{ExecError, Executor};
use compute::kernels::reduce::{self, Operation};
use compute::kernels::{change, tick};
use compute::plan::{Mat, PassId, Plan};

/// Sinkhorn iterations between two half-steps in the log domain, which keep the scalings within float32.
const BLOCK: u32 = 20;

/// Outer iterations between two looks at the statistics.
const LOOK: u32 = 5;

/// How to iterate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GwSettings {
    /// In units of the squared distances.
    pub eps: f32,
    /// Sinkhorn iterations in each outer iteration, rounded up to blocks of 20.
    pub sinkhorn: u32,
    /// The most outer iterations.
    pub outer: u32,
    /// [`solve`] stops when an outer iteration moves less than this share of the mass.
    pub tolerance: f32,
}

impl Default for GwSettings {
    fn default() -> Self {
        Self { eps: 5e-3, sinkhorn: 40, outer: 1000, tolerance: 1e-4 }
    }
}

/// Statistics of an outer iteration, for every problem of the stack: `[change, marginal error]`, as
/// `Σ_ij |T_ij − T_ij before|` and `Σ_j |b_j − Σ_i T_ij|`. The plan's mass is 1, so both are shares of it.
pub const STATS: u32 = 2;

/// A recorded solver.
pub struct EntropicGw {
    /// One outer iteration.
    pub step: PassId,
    /// T.
    pub coupling: Mat,
    settings: GwSettings,
}

impl EntropicGw {
    /// Records one outer iteration into a plan that holds the distances. The marginals are those of every
    /// problem in the stack.
    pub fn record(
        plan: &mut Plan,
        settings: &GwSettings,
        marginals: Marginals<'_>,
        distances: &Distances,
    ) -> Self {
        let batch = match distances {
            Distances::Dense { x, .. } => x.batch,
            Distances::LowRank { u, .. } => u.batch,
        };
        let clock = plan.set_schedule(1, &[settings.eps]);
        let ring = plan.set_stats(STATS * batch, settings.outer);
        let sinkhorn = Sinkhorn::new(plan, batch, marginals, clock, 0);
        let coupling = sinkhorn.plan;
        let product: Vec<f32> =
            marginals.a.iter().flat_map(|a| marginals.b.iter().map(move |b| a * b)).collect();
        let product = product.repeat(batch as usize);
        let kept = plan.mats("plan before", batch, coupling.rows, coupling.cols);
        for mat in [coupling, kept] {
            plan.set_initial(mat.buf, &product);
        }
        let moved = plan.mats("moved mass", batch, coupling.rows, 1);
        let values = plan.mats("step statistics", batch, STATS, 1);
        let value = |offset| Mat { rows: 1, offset, ..values };

        let step = plan.begin_pass("outer iteration");
        let cost = classic::record(plan, distances, coupling);
        for _ in 0..settings.sinkhorn.div_ceil(BLOCK).max(1) {
            sinkhorn.record(plan, cost, BLOCK);
        }
        change::record(plan, [coupling, kept, moved]);
        reduce::record(plan, Operation::Sum, 1.0, moved.reshaped(1, coupling.rows), value(0));
        sinkhorn.record_error(plan, value(1));
        tick::record(plan, values.buf, ring, clock);
        Self { step, coupling, settings: *settings }
    }
}

/// What [`solve`] arrived at.
#[derive(Clone, Debug, PartialEq)]
pub struct GwSolution {
    /// The plans of all problems, one after the other.
    pub coupling: Vec<f32>,
    /// Outer iterations that were played.
    pub outer: u32,
    /// The last change and marginal error, each the largest of the stack.
    pub change: f32,
    pub marginal_error: f32,
    /// The change fell below the tolerance.
    pub converged: bool,
}

/// Plays outer iterations on an executor that holds the recorded plan until no problem of the stack changes
/// any more, or until there have been enough.
pub async fn solve<E: Executor>(executor: &mut E, gw: &EntropicGw) -> Result<GwSolution, ExecError> {
    solve_watched(executor, gw, async |_| Ok(LOOK)).await
}

/// Where a solution stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Outer iterations that were played.
    pub outer: u32,
    /// How much of the way to a plan that stands still is done, from 0 to 1.
    pub share: f32,
}

/// As [`solve`], but looked at on the way: `watch` says how many outer iterations are played until the next look,
/// and may end the work.
pub async fn solve_watched<E: Executor, F: From<ExecError>>(
    executor: &mut E,
    gw: &EntropicGw,
    mut watch: impl AsyncFnMut(Look) -> Result<u32, F>,
) -> Result<GwSolution, F> {
    let GwSettings { outer: most, tolerance, .. } = gw.settings;
    let (mut outer, mut change, mut marginal_error) = (0, f32::MAX, f32::MAX);
    while outer < most && change >= tolerance {
        // The change falls about evenly in its logarithm.
        let share = (change.min(1.0).ln() / tolerance.min(0.5).ln()).max(outer as f32 / most as f32);
        let repeats = watch(Look { outer, share: share.min(1.0) }).await?.clamp(1, most - outer);
        executor.submit(gw.step, repeats)?;
        executor.settle(0).await?;
        outer += repeats;
        if let Some(stats) = executor.stats()? {
            let last = &stats.values[stats.values.len() - stats.columns as usize..];
            let largest =
                |offset| last.iter().skip(offset).step_by(STATS as usize).copied().fold(0.0, f32::max);
            (change, marginal_error) = (largest(0), largest(1));
        }
    }
    let coupling = executor.read(gw.coupling.buf).await?;
    Ok(GwSolution { coupling, outer, change, marginal_error, converged: change < tolerance })
}
