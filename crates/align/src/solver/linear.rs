//! The linear mode: `enc_x(x) = xW`, `enc_y(y) = y` with W orthogonal, annealed from inner-product
//! Gromov-Wasserstein to Procrustes.
//!
//! A step, from the plan Π of the last one, with ε, p and λ from the schedule:
//! ```text
//! M = XᵀΠY = U diag(s) Vᵀ,   W = U (s/s₁)^p Vᵀ,   S = XWYᵀ,   Π = Sinkhorn((S/std(S) + λG)/ε)
//! ```
//! S is, up to scale, the gradient of the Schatten-(1+p) norm of XᵀΠY to the power 1+p: p = 1 is
//! inner-product Gromov-Wasserstein, p = 0 Procrustes. G says which points look alike from the inside
//! (`geometry::signature`). Several starts are a stack.

use super::sinkhorn::{Marginals, Sinkhorn, uniform};
use compute::kernels::jacobi::{self, Jacobi};
use compute::kernels::matmul::{self, Epilogue, Layout};
use compute::kernels::reduce::{self, Operation};
use compute::kernels::similarity::{self, Similarity};
use compute::kernels::tick;
use compute::plan::{Mat, PassId, Plan};

/// One row of the schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    pub eps: f32,
    /// p, the power of the spectrum.
    pub power: f32,
    /// λ, how much the guide counts.
    pub lambda: f32,
}

/// The annealing of a start: `steps` stages, of which the first is for the plan to start from.
pub fn start_schedule(steps: u32) -> Vec<Stage> {
    let first = Stage { eps: 0.3, power: 1.0, lambda: 0.0 };
    let falling = (0.85 * steps as f32 - 1.0).max(1.0);
    let loops = (0..steps).map(|t| {
        let way = (t as f32 / falling).min(1.0);
        Stage { eps: 0.5 * 0.2f32.powf(way), power: 1.0 - way, lambda: 0.5 * (1.0 - 2.0 * way).max(0.0) }
    });
    std::iter::once(first).chain(loops).collect()
}

/// The annealing of a lift, from a plan whose leading coordinates are about right.
pub fn lift_schedule(steps: u32) -> Vec<Stage> {
    let falling = (0.85 * steps as f32 - 1.0).max(1.0);
    let first = Stage { eps: 0.3, power: 0.5, lambda: 0.0 };
    let loops = (0..steps).map(|t| {
        let way = (t as f32 / falling).min(1.0);
        Stage { eps: 0.3 * (1.0f32 / 3.0).powf(way), power: 0.5 * (1.0 - way), lambda: 0.0 }
    });
    std::iter::once(first).chain(loops).collect()
}

/// A plan of a map at one ε, so often as it takes to converge.
pub fn still_schedule(eps: f32, steps: u32) -> Vec<Stage> {
    vec![Stage { eps, power: 0.0, lambda: 0.0 }; steps as usize]
}

/// The annealing of a refinement, from a W that is nearly right: the first stage is for the plan of that W.
pub fn refine_schedule(steps: u32) -> Vec<Stage> {
    (0..=steps)
        .map(|t| {
            let way = (t.saturating_sub(1) as f32 / (steps as f32 - 1.0).max(1.0)).min(1.0);
            Stage { eps: 0.2 * 0.5f32.powf(way), power: 0.2 * (1.0 - way), lambda: 0.0 }
        })
        .collect()
}

/// Statistics of a step, for every fit: `[⟨S, Π⟩/std(S), marginal error]`.
pub const STATS: u32 = 2;

/// Sinkhorn iterations a step.
pub const ITERATIONS: u32 = 10;
/// Jacobi sweeps a step: warm-started, so few.
const SWEEPS: u32 = 2;

const EPS: u32 = 0;
const POWER: u32 = 1;
const LAMBDA: u32 = 2;
const COLUMNS: u32 = 3;

/// What to align: for every fit of the stack n points of X, m of Y, prepared (`geometry::features`).
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    pub x: Mat,
    pub y: Mat,
    /// G, n×m.
    pub guide: Mat,
    /// Whether a fit listens to G after the start: 1 or 0, 1×1.
    pub weight: Mat,
}

/// A recorded run.
pub struct Linear {
    /// Π from the guide alone; played once, instead of `resume`.
    pub start: PassId,
    /// Π from the W that `map` holds.
    pub resume: PassId,
    /// One step.
    pub step: PassId,
    /// W, dx×dy.
    pub map: Mat,
    /// Π.
    pub coupling: Mat,
}

impl Linear {
    /// Records a run into a plan that holds the problem.
    pub fn record(plan: &mut Plan, stages: &[Stage], problem: &Problem) -> Self {
        let Problem { x, y, guide, weight } = *problem;
        let (batch, n, m, dx, dy) = (x.batch, x.rows, y.rows, x.cols, y.cols);
        let schedule: Vec<f32> = stages.iter().flat_map(|s| [s.eps, s.power, s.lambda]).collect();
        let clock = plan.set_schedule(COLUMNS, &schedule);
        let ring = plan.set_stats(STATS * batch, stages.len() as u32);
        let (a, b) = (uniform(n), uniform(m));
        let sinkhorn = Sinkhorn::new(plan, batch, Marginals::strict(&a, &b), clock, EPS);
        let coupling = sinkhorn.plan;

        let map = plan.mats("map", batch, dx, dy);
        let mapped = plan.mats("mapped points", batch, n, dy);
        let s = plan.mats("similarities", batch, n, m);
        let moments = plan.mats("moments", batch, 2, 1);
        let rows = plan.mats("row moments", batch, n, 1);
        let cost = plan.mats("cost", batch, n, m);
        let values = plan.mats("step statistics", batch, STATS, 1);
        let value = |offset| Mat { rows: 1, offset, ..values };
        let op = Similarity { s, moments, guide, weight, cost, clock, lambda_column: LAMBDA };
        let transport = |plan: &mut Plan| {
            sinkhorn.record(plan, cost, ITERATIONS);
            compute::kernels::row_dots::record(plan, [coupling, cost, rows]);
            reduce::record(plan, Operation::Sum, -1.0, rows.reshaped(1, n), value(0));
            sinkhorn.record_error(plan, value(1));
            tick::record(plan, values.buf, ring, clock);
        };
        let apply = |plan: &mut Plan| {
            matmul::record(plan, Layout::NN, 1.0, [x, map, mapped], Epilogue::None);
            matmul::record(plan, Layout::NT, 1.0, [mapped, y, s], Epilogue::None);
            for (i, operation) in [Operation::Sum, Operation::SumSquares].into_iter().enumerate() {
                reduce::record(plan, operation, 1.0, s, rows);
                let total = Mat { rows: 1, offset: i as u32, ..moments };
                reduce::record(plan, Operation::Sum, 1.0, rows.reshaped(1, n), total);
            }
            similarity::record(plan, &op);
            transport(plan);
        };

        let start = plan.begin_pass("start");
        similarity::record_start(plan, &op);
        transport(plan);
        let resume = plan.begin_pass("resume");
        apply(plan);

        // The rotations work on columns, so the side with fewer dimensions gives them.
        let turned = dy > dx;
        let small = dx.min(dy);
        let v = plan.mats("right vectors", batch, small, small);
        let identity: Vec<f32> = (0..small * small).map(|e| f32::from(e % (small + 1) == 0)).collect();
        plan.set_initial(v.buf, &identity.repeat(batch as usize));
        let through = plan.mats("transported points", batch, n, dy);
        let cross = plan.mats("cross moments", batch, dx.max(dy), small);
        let product = plan.mats("rotated", batch, dx.max(dy), small);
        let powered = plan.mats("powered", batch, dx.max(dy), small);
        let step = plan.begin_pass("step");
        matmul::record(plan, Layout::NN, 1.0, [coupling, y, through], Epilogue::None);
        let sides = if turned { [through, x] } else { [x, through] };
        matmul::record(plan, Layout::TN, 1.0, [sides[0], sides[1], cross], Epilogue::None);
        matmul::record(plan, Layout::NN, 1.0, [cross, v, product], Epilogue::None);
        let op = Jacobi { a: product, v, out: powered, sweeps: SWEEPS, clock, power_column: POWER };
        jacobi::record(plan, &op);
        let factors = if turned { [v, powered, map] } else { [powered, v, map] };
        matmul::record(plan, Layout::NT, 1.0, factors, Epilogue::None);
        apply(plan);
        Self { start, resume, step, map, coupling }
    }
}
