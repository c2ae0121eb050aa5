//! The gradient of a loss through the transport plan, exactly, without unrolling an iteration.
//!
//! With `G = ∂L/∂Π`, `s = (G∘Π)1`, `t = (G∘Π)ᵀ1` and the plan's *actual* sums a (the rows meet their
//! marginal), c (the columns may not, yet), the adjoint potentials solve
//! ```text
//! [diag a  Π; Πᵀ  diag c] [α; β] = [s; t],      ∂L/∂C = −(1/ε) Π∘(G − α1ᵀ − 1βᵀ)
//! ```
//! Eliminating α leaves `(diag c − Πᵀ diag(1/a) Π) β = t − Πᵀ(s/a)`, which conjugate gradients solve with
//! nothing but products of the plan with vectors.

use super::sinkhorn::Sinkhorn;
use crate::kernels::cg::{self, Cg};
use crate::kernels::implicit_grad::{self, ImplicitGrad};
use crate::kernels::implicit_right::{self, ImplicitRight};
use crate::kernels::{Quotient, mat_t_vec, mat_vec, row_dots};
use crate::plan::{Clock, Mat, Plan};

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
    (clock, eps_column): (Clock, u32),
) -> Implicit {
    let (pi, a) = (sinkhorn.plan, sinkhorn.a());
    let (batch, n, m) = (pi.batch, pi.rows, pi.cols);
    let mut vector = |label, rows| plan.mats(label, batch, rows, 1);
    let [s, rows] = ["s", "rows"].map(|label| vector(label, n));
    let [c, product, probe, beta] =
        ["plan columns", "product", "probe", "beta"].map(|label| vector(label, m));
    row_dots::record(plan, [grad, pi, s]);
    implicit_right::record(plan, &ImplicitRight { plan: pi, grad, s, a, c, right: product });

    let work = cg::work(plan, batch, m);
    let step = Cg { c, product, work, probe, beta, tolerance: TOLERANCE };
    cg::record_start(plan, &step);
    for _ in 0..iterations {
        mat_vec::record(plan, [pi, probe, rows], Quotient::OverWeight(a));
        mat_t_vec::record(plan, [pi, rows, product], Quotient::Plain);
        cg::record_step(plan, &step);
    }

    let cost_grad = plan.mats("cost gradient", batch, n, m);
    implicit_grad::record(
        plan,
        &ImplicitGrad { plan: pi, grad, s, a, beta, out: cost_grad, clock, eps_column },
    );
    Implicit { cost_grad, s, c }
}
