//! The gradient of a loss through the transport plan, exactly, without unrolling an iteration.
//!
//! With `G = ∂L/∂Π`, `s = (G∘Π)1`, `t = (G∘Π)ᵀ1` and the plan's *actual* sums a (the rows meet their
//! marginal), c (the columns may not, yet), the adjoint potentials solve
//! ```text
//! [diag a  Π; Πᵀ  diag c] [α; β] = [s; t],      ∂L/∂C = −(1/ε) Π∘(G − α1ᵀ − 1βᵀ)
//! ```
//! Eliminating α leaves `(diag c − Πᵀ diag(1/a) Π) β = t − Πᵀ(s/a)`, which conjugate gradients solve with
//! nothing but products of the plan with vectors.
//!
//! Where marginals are relaxed, and the mass kept at 1, G is less its mean `μ = ⟨G, Π⟩`, the sums of the rows are r, and
//! ```text
//! [diag(r)/τx  Π; Πᵀ  diag(c)/τy] [α; β] = [s − μr; t − μc],
//! (diag(c)/τy − τx Πᵀ diag(1/r) Π) β = t − μc − τx Πᵀ((s − μr)/r),      α = τx (s − μr − Πβ)/r
//! ```
//! which is the system above with `a = r/τx`, `c/τy` for c, and `s + μ(r/τx − r)` for s: what then stands for α is α + μ. It
//! is positive definite if any τ is below 1: there is no null vector to project out.

use super::sinkhorn::Sinkhorn;
use compute::kernels::cg::{self, Cg};
use compute::kernels::implicit_grad::{self, ImplicitGrad};
use compute::kernels::implicit_right::{self, ImplicitRight};
use compute::kernels::over_tau::{self, OverTau};
use compute::kernels::reduce::{self, Operation};
use compute::kernels::{Quotient, mat_t_vec, mat_vec, row_dots};
use compute::plan::{Clock, Mat, Plan};

/// When to stop: the residual relative to the right-hand side. A smaller one buys nothing.
pub(super) const TOLERANCE: f32 = 1e-3;

/// The results of a backward pass through the plan.
pub struct Implicit {
    /// ∂L/∂C.
    pub cost_grad: Mat,
    /// s = (G∘Π)1. Its sum is ⟨G, Π⟩, from which quadratic losses get their value.
    pub s: Mat,
    /// The plan's column sums.
    pub c: Mat,
}

/// Records the backward pass with at most `iterations` iterations of conjugate gradients:
/// `3·iterations + 4` dispatches.
pub fn record(
    plan: &mut Plan,
    sinkhorn: &Sinkhorn,
    grad: Mat,
    iterations: u32,
    time: (Clock, u32),
) -> Implicit {
    let cost_grad = plan.mats("cost gradient", grad.batch, grad.rows, grad.cols);
    record_into(plan, sinkhorn, [grad, cost_grad], iterations, time)
}

/// As [`record`], for `[G, ∂L/∂C]`: into a matrix that is at hand.
pub fn record_into(
    plan: &mut Plan,
    sinkhorn: &Sinkhorn,
    [grad, cost_grad]: [Mat; 2],
    iterations: u32,
    (clock, eps_column): (Clock, u32),
) -> Implicit {
    let (pi, slack) = (sinkhorn.plan, [0, 1].map(|side| sinkhorn.slack(side)));
    let (batch, n, m) = (pi.batch, pi.rows, pi.cols);
    let singular = slack == [0.0; 2];
    let mut vector = |label, rows| plan.mats(label, batch, rows, 1);
    let [s, rows] = ["s", "rows"].map(|label| vector(label, n));
    let [c, product, probe, beta] =
        ["plan columns", "product", "probe", "beta"].map(|label| vector(label, m));
    row_dots::record(plan, [grad, pi, s]);
    let (mut a, mut of_rows, mut of_columns) = (sinkhorn.rows(), s, c);
    if singular {
        implicit_right::record(plan, &ImplicitRight { plan: pi, grad, s, a, c, right: product });
    } else {
        let mut vector = |label, rows| plan.mats(label, batch, rows, 1);
        let [over, shifted] = ["rows over tau", "shifted s"].map(|label| vector(label, n));
        let [columns, nothing, unread] =
            ["columns over tau", "nothing", "unread"].map(|label| vector(label, m));
        let mean = vector("mean", 1);
        reduce::record(plan, Operation::Sum, 1.0, s.reshaped(1, n), mean);
        let rows = OverTau { x: a, s, mean, out: over, shifted, slack: slack[0], clock, eps_column };
        over_tau::record(plan, &rows);
        (a, of_rows) = (over, shifted);
        implicit_right::record(plan, &ImplicitRight { plan: pi, grad, s: of_rows, a, c, right: product });
        let (x, s, slack) = (c, nothing, slack[1]);
        let op = OverTau { x, s, mean, out: columns, shifted: unread, slack, clock, eps_column };
        over_tau::record(plan, &op);
        of_columns = columns;
    }

    let work = cg::work(plan, batch, m);
    let step = Cg { c: of_columns, product, work, probe, beta, tolerance: TOLERANCE, singular };
    cg::record_start(plan, &step);
    for _ in 0..iterations {
        mat_vec::record(plan, [pi, probe, rows], Quotient::OverWeight(a));
        mat_t_vec::record(plan, [pi, rows, product], Quotient::Plain);
        cg::record_step(plan, &step);
    }

    implicit_grad::record(
        plan,
        &ImplicitGrad { plan: pi, grad, s: of_rows, a, beta, out: cost_grad, clock, eps_column },
    );
    Implicit { cost_grad, s, c }
}
