//! Entropic optimal transport by Sinkhorn iterations, warm-started from step to step.

use compute::kernels::gibbs::{self, Gibbs};
use compute::kernels::reduce::{self, Operation};
use compute::kernels::target::{self, Target};
use compute::kernels::{Quotient, absorb, mat_t_vec, mat_vec, miss, normalise, relaxed_scaling};
use compute::plan::{Clock, Mat, Plan};

pub use super::marginals::{Marginals, Relaxation, uniform};

/// A solver on the device: a potential that lives from step to step, and the plan it gives.
pub struct Sinkhorn {
    /// The potential of the columns, in units of the cost. That of the rows follows from it.
    pub g: Mat,
    /// Π = exp((f⊕g − C)/ε). Its rows meet their marginal; where marginals are relaxed, it is divided by its mass.
    pub plan: Mat,
    vectors: Vectors,
    relaxed: Option<Relaxed>,
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

/// What they need besides where marginals are relaxed.
#[derive(Clone, Copy)]
struct Relaxed {
    relaxation: Relaxation,
    /// The sums of the plan's rows; while the iterations run, those of the kernel.
    r: Mat,
    /// What the columns are to hold.
    t: Mat,
    mass: Mat,
    /// As many as there are columns.
    ones: Mat,
    /// The potential is held as it is: there is nothing to add to it.
    nothing: Mat,
}

impl Relaxed {
    fn new(plan: &mut Plan, batch: u32, [n, m]: [u32; 2], relaxation: Relaxation) -> Self {
        let ones = plan.mats("ones", batch, m, 1);
        plan.set_initial(ones.buf, &vec![1.0; (batch * m) as usize]);
        Self {
            relaxation,
            r: plan.mats("plan rows", batch, n, 1),
            t: plan.mats("target", batch, m, 1),
            mass: plan.mats("mass", batch, 1, 1),
            ones,
            nothing: plan.mats("nothing", batch, m, 1),
        }
    }
}

impl Sinkhorn {
    /// Lays out a solver for `batch` problems of the same marginals; ε is a column of the schedule.
    pub fn new(plan: &mut Plan, batch: u32, marginals: Marginals<'_>, clock: Clock, eps_column: u32) -> Self {
        let Marginals { a, b, relaxation } = marginals;
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
        let relaxed = (!relaxation.is_strict()).then(|| Relaxed::new(plan, batch, [n, m], relaxation));
        let plan = plan.mats("plan", batch, n, m);
        Self { g, plan, vectors, relaxed, clock, eps_column }
    }

    /// The same solver with relaxed marginals: either goes on from the potential that the other leaves, and has its plan
    /// where the other has it.
    pub fn relaxed(&self, plan: &mut Plan, relaxation: Relaxation) -> Self {
        let Mat { batch, rows, cols, .. } = self.plan;
        let relaxed = Some(Relaxed::new(plan, batch, [rows, cols], relaxation));
        Self { relaxed, ..*self }
    }

    /// The weights of the rows, a column vector.
    pub fn a(&self) -> Mat {
        self.vectors.a
    }

    /// The weights of the columns.
    pub fn b(&self) -> Mat {
        self.vectors.b
    }

    /// The sums of the plan's rows: their weights, unless these are relaxed.
    pub fn rows(&self) -> Mat {
        self.relaxed.map_or(self.vectors.a, |relaxed| relaxed.r)
    }

    /// 1/λ of a side; 0 where its weights are met.
    pub fn slack(&self, side: usize) -> f32 {
        self.relaxed.map_or(0.0, |relaxed| relaxed.relaxation.slack(side))
    }

    /// Records how far the columns of the plan are from their marginal, `Σ_j |b_j − c_j|`, into `out` (1×1), and returns
    /// their sums c. Two dispatches. Where marginals are relaxed, the masses `b_j exp((ε log b_j − g_j)/λ)` that g asks for
    /// stand in the place of b, both divided by their sum: at the optimum the columns hold just these.
    pub fn record_error(&self, plan: &mut Plan, out: Mat) -> Mat {
        let c = self.record_columns(plan);
        self.record_error_of(plan, c, out);
        c
    }

    /// Records the sums c of the plan's columns.
    pub fn record_columns(&self, plan: &mut Plan) -> Mat {
        let Vectors { b, ones, .. } = self.vectors;
        let c = plan.mats("plan columns", b.batch, b.rows, 1);
        mat_t_vec::record(plan, [self.plan, ones, c], Quotient::Plain);
        c
    }

    /// As [`Sinkhorn::record_error`], where the column sums c are at hand.
    pub fn record_error_of(&self, plan: &mut Plan, c: Mat, out: Mat) {
        if self.relaxed.is_some() {
            let target = self.record_target(plan);
            return miss::record(plan, [c, target, out]);
        }
        let [b, c] = [self.vectors.b, c].map(|column| column.reshaped(1, column.rows));
        reduce::record_apart(plan, 1.0, [b, c], out);
    }

    /// Records what the columns are to hold, given the potential as it stands.
    fn record_target(&self, plan: &mut Plan) -> Mat {
        let b = self.vectors.b;
        let Some(Relaxed { relaxation, t, nothing, .. }) = self.relaxed else { return b };
        let slack = relaxation.slack(1);
        if slack == 0.0 {
            return b;
        }
        let (clock, eps_column) = (self.clock, self.eps_column);
        target::record(plan, &Target { b, g: self.g, q: nothing, out: t, slack, clock, eps_column });
        t
    }

    /// Records `iterations` iterations from where the potential stands, and the plan they lead to.
    ///
    /// The first half-step is taken in the log domain, `K = exp((f⊕g − C)/ε)` with the f that makes every row
    /// sum to its weight, so that nothing can overflow whatever the cost has become. Then scalings
    /// `v = b/(Kᵀu)`, `u = a/(Kv)`, far cheaper than exponentials; the last v is absorbed into g, and its u is
    /// again a half-step in the log domain. The rows of the plan meet their marginal; how far the columns are
    /// from theirs tells how well it has converged. `2·iterations + 2` dispatches, without iterations one.
    ///
    /// Relaxed half-steps are, with `ℓ_i = LSE_j((g_j − C_ij)/ε)` and `τ = λ/(λ+ε)`,
    /// `log r_i = log a_i + (1−τ) ℓ_i`, `f_i = ε (log r_i − ℓ_i)`. As scalings of K, whose rows sum to r and whose columns g
    /// asks to hold t ([`Sinkhorn::record_error`]), they are `v = (t/(Kᵀu))^τ`, `u = (r/(Kv))^τ`. In the end the plan is
    /// divided by its mass, which makes it the optimum among the plans of mass 1.
    pub fn record(&self, plan: &mut Plan, cost: Mat, iterations: u32) {
        let Vectors { a, u, v, ones, .. } = self.vectors;
        let (clock, eps_column) = (self.clock, self.eps_column);
        let slacks = [0, 1].map(|side| self.slack(side));
        let gibbs = Gibbs { cost, g: self.g, a, out: self.plan, clock, eps_column, slack: slacks[0] };
        gibbs::record(plan, &gibbs);
        let mut weights = [a, self.vectors.b];
        if let (Some(relaxed), true) = (self.relaxed, iterations > 0) {
            if slacks[0] > 0.0 {
                mat_vec::record(plan, [self.plan, relaxed.ones, relaxed.r], Quotient::Plain);
                weights[0] = relaxed.r;
            }
            weights[1] = self.record_target(plan);
        }
        // The product of a half-step, and what becomes of it.
        let scaling = |plan: &mut Plan, side: usize, from: Mat, out: Mat| {
            let product = [mat_vec::record, mat_t_vec::record][side];
            if slacks[side] > 0.0 {
                product(plan, [self.plan, from, out], Quotient::Plain);
                relaxed_scaling::record(plan, slacks[side], [weights[side], out], clock, eps_column);
            } else {
                product(plan, [self.plan, from, out], Quotient::WeightOver(weights[side]));
            }
        };
        for iteration in 0..iterations {
            if iteration > 0 {
                scaling(plan, 0, v, u);
            }
            scaling(plan, 1, if iteration == 0 { ones } else { u }, v);
        }
        if iterations > 0 {
            absorb::record(plan, v, self.g, clock, eps_column);
            gibbs::record(plan, &gibbs);
        }
        if let Some(Relaxed { r, mass, ones, .. }) = self.relaxed {
            mat_vec::record(plan, [self.plan, ones, r], Quotient::Plain);
            reduce::record(plan, Operation::Sum, 1.0, r.reshaped(1, r.rows), mass);
            normalise::record(plan, mass, self.plan);
            normalise::record(plan, mass, r);
        }
    }
}
