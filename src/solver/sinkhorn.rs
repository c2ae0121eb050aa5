//! Entropic optimal transport by Sinkhorn iterations, warm-started from step to step.

use crate::kernels::gibbs::{self, Gibbs};
use crate::kernels::{Quotient, absorb, mat_t_vec, mat_vec, reduce};
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

/// A solver on the device: a potential that lives from step to step, and the plan it gives.
pub struct Sinkhorn {
    /// The potential of the columns, in units of the cost. That of the rows follows from it.
    pub g: Mat,
    /// Π = exp((f⊕g − C)/ε). Its rows meet their marginal.
    pub plan: Mat,
    vectors: Vectors,
    clock: Clock,
    eps_column: u32,
}

/// What the iterations work with.
#[derive(Clone, Copy)]
struct Vectors {
    a: Mat,
    b: Mat,
    u: Mat,
    v: Mat,
    ones: Mat,
}

impl Sinkhorn {
    /// Lays out a solver for `batch` problems of the same marginals; ε is a column of the schedule.
    pub fn new(plan: &mut Plan, batch: u32, marginals: Marginals<'_>, clock: Clock, eps_column: u32) -> Self {
        let Marginals { a, b } = marginals;
        let (n, m) = (a.len() as u32, b.len() as u32);
        let mut vector = |label, rows, values: Option<&[f32]>| {
            let mat = plan.mats(label, batch, rows, 1);
            if let Some(values) = values {
                plan.set_initial(mat.buf, &values.repeat(batch as usize));
            }
            mat
        };
        let vectors = Vectors {
            a: vector("a", n, Some(a)),
            b: vector("b", m, Some(b)),
            u: vector("u", n, None),
            v: vector("v", m, None),
            ones: vector("ones", n, Some(&vec![1.0; a.len()])),
        };
        let g = vector("g", m, None);
        let plan = plan.mats("plan", batch, n, m);
        Self { g, plan, vectors, clock, eps_column }
    }

    /// The marginal of the rows, a column vector.
    pub fn a(&self) -> Mat {
        self.vectors.a
    }

    /// Records how far the columns of the plan are from their marginal, `Σ_j |b_j − c_j|`, into `out` (1×1), and returns
    /// their sums c. Two dispatches.
    pub fn record_error(&self, plan: &mut Plan, out: Mat) -> Mat {
        let Vectors { b, ones, .. } = self.vectors;
        let c = plan.mats("plan columns", b.batch, b.rows, 1);
        mat_t_vec::record(plan, [self.plan, ones, c], Quotient::Plain);
        self.record_error_of(plan, c, out);
        c
    }

    /// As [`Sinkhorn::record_error`], where the column sums c are at hand.
    pub fn record_error_of(&self, plan: &mut Plan, c: Mat, out: Mat) {
        let [b, c] = [self.vectors.b, c].map(|column| column.reshaped(1, column.rows));
        reduce::record_apart(plan, 1.0, [b, c], out);
    }

    /// Records `iterations` iterations from where the potential stands, and the plan they lead to.
    ///
    /// The first half-step is taken in the log domain, `K = exp((f⊕g − C)/ε)` with the f that makes every row
    /// sum to its weight, so that nothing can overflow whatever the cost has become. Then scalings
    /// `v = b/(Kᵀu)`, `u = a/(Kv)`, far cheaper than exponentials; the last v is absorbed into g, and its u is
    /// again a half-step in the log domain. The rows of the plan meet their marginal; how far the columns are
    /// from theirs tells how well it has converged. `2·iterations + 2` dispatches, without iterations one.
    pub fn record(&self, plan: &mut Plan, cost: Mat, iterations: u32) {
        let Vectors { a, b, u, v, ones } = self.vectors;
        let (clock, eps_column) = (self.clock, self.eps_column);
        let gibbs = Gibbs { cost, g: self.g, a, out: self.plan, clock, eps_column };
        gibbs::record(plan, &gibbs);
        for iteration in 0..iterations {
            if iteration > 0 {
                mat_vec::record(plan, [self.plan, v, u], Quotient::WeightOver(a));
            }
            let from = if iteration == 0 { ones } else { u };
            mat_t_vec::record(plan, [self.plan, from, v], Quotient::WeightOver(b));
        }
        if iterations > 0 {
            absorb::record(plan, v, self.g, clock, eps_column);
            gibbs::record(plan, &gibbs);
        }
    }
}
