//! Entropic optimal transport by Sinkhorn iterations, warm-started from step to step.

use crate::kernels::gibbs::{self, Gibbs};
use crate::kernels::reduce::{self, Operation};
use crate::kernels::{Potential, Quotient, absorb, mat_t_vec, mat_vec, row_lse};
use crate::plan::{Clock, Mat, Plan};

/// The marginals of both sides; each sums to 1.
#[derive(Clone, Copy, Debug)]
pub struct Marginals<'a> {
    pub a: &'a [f32],
    pub b: &'a [f32],
}

/// Equal weights for `n` points.
pub fn uniform(n: u32) -> Vec<f32> {
    vec![1.0 / n as f32; n as usize]
}

/// A solver on the device: potentials that live from step to step, and the plan they give.
pub struct Sinkhorn {
    /// Potentials, in units of the cost.
    pub f: Mat,
    pub g: Mat,
    /// Π = exp((f⊕g − C)/ε).
    pub plan: Mat,
    /// Its actual row and column sums.
    pub r: Mat,
    pub c: Mat,
    vectors: Vectors,
    clock: Clock,
    eps_column: u32,
}

/// What the iterations work with.
#[derive(Clone, Copy)]
struct Vectors {
    a: Mat,
    b: Mat,
    log_a: Mat,
    u: Mat,
    v: Mat,
    ones: Mat,
}

impl Sinkhorn {
    /// Lays out a solver for `batch` problems of the same marginals; ε is a column of the schedule.
    pub fn new(plan: &mut Plan, batch: u32, marginals: Marginals<'_>, clock: Clock, eps_column: u32) -> Self {
        let Marginals { a, b } = marginals;
        let (n, m) = (a.len() as u32, b.len() as u32);
        let mut vector = |label, rows, values: Option<Vec<f32>>| {
            let mat = plan.mats(label, batch, rows, 1);
            if let Some(values) = values {
                plan.set_initial(mat.buf, &values.repeat(batch as usize));
            }
            mat
        };
        let logs: Vec<f32> = a.iter().map(|w| w.ln()).collect();
        let vectors = Vectors {
            a: vector("a", n, Some(a.to_vec())),
            b: vector("b", m, Some(b.to_vec())),
            log_a: vector("log a", n, Some(logs)),
            u: vector("u", n, None),
            v: vector("v", m, None),
            ones: vector("ones", n, Some(vec![1.0; n as usize])),
        };
        let [f, g] = [("f", n), ("g", m)].map(|(label, rows)| vector(label, rows, None));
        let [r, c] = [("plan rows", n), ("plan columns", m)].map(|(label, rows)| vector(label, rows, None));
        let plan = plan.mats("plan", batch, n, m);
        Self { f, g, plan, r, c, vectors, clock, eps_column }
    }

    /// The marginal of the rows, a column vector.
    pub fn a(&self) -> Mat {
        self.vectors.a
    }

    /// Records how far the columns of the plan are from their marginal, `Σ_j |b_j − c_j|`, into `out` (1×1).
    pub fn record_error(&self, plan: &mut Plan, out: Mat) {
        let miss = plan.mats("marginal miss", self.c.batch, self.c.rows, 1);
        mat_t_vec::record(plan, [self.plan, self.vectors.ones, miss], Quotient::WeightMinus(self.vectors.b));
        reduce::record(plan, Operation::SumAbs, 1.0, miss.reshaped(1, miss.rows), out);
    }

    /// Records `iterations` iterations from where the potentials stand, and the plan they lead to.
    ///
    /// One half-step in the log domain, `f = ε(log a − LSE((g − C)/ε))`, makes every row of
    /// `K = exp((f⊕g − C)/ε)` sum to its weight, so that nothing can overflow whatever the cost has become.
    /// Then scalings `v = b/(Kᵀu)`, `u = a/(Kv)`, far cheaper than log-sum-exps, which are absorbed into the
    /// potentials at the end. The rows of the plan meet their marginal; how far the columns are from theirs
    /// tells how well it has converged. `2·iterations + 5` dispatches.
    pub fn record(&self, plan: &mut Plan, cost: Mat, iterations: u32) {
        let Vectors { a, b, log_a, u, v, ones } = self.vectors;
        let (clock, eps_column) = (self.clock, self.eps_column);
        row_lse::record(plan, &Potential { cost, v: self.g, log_w: log_a, out: self.f, clock, eps_column });
        let gibbs = Gibbs { cost, f: self.f, g: self.g, out: self.plan, sums: self.r, clock, eps_column };
        gibbs::record(plan, &gibbs);
        for iteration in 0..iterations {
            let from = if iteration == 0 { ones } else { u };
            mat_t_vec::record(plan, [self.plan, from, v], Quotient::WeightOver(b));
            mat_vec::record(plan, [self.plan, v, u], Quotient::WeightOver(a));
        }
        if iterations > 0 {
            absorb::record(plan, [u, v], [self.f, self.g], clock, eps_column);
            gibbs::record(plan, &gibbs);
        }
        mat_t_vec::record(plan, [self.plan, ones, self.c], Quotient::Plain);
    }
}
