//! The gradient of a loss through the transport plan, exactly, without unrolling an iteration.
//!
//! With `G = ∂L/∂Π`, `s = (G∘Π)1`, `t = (G∘Π)ᵀ1` and the plan's *actual* sums r, c, the adjoint potentials
//! solve
//! ```text
//! [diag r  Π; Πᵀ  diag c] [α; β] = [s; t],      ∂L/∂C = −(1/ε) Π∘(G − α1ᵀ − 1βᵀ)
//! ```
//! Eliminating α leaves `(diag c − Πᵀ diag(1/r) Π) β = t − Πᵀ(s/r)`, which conjugate gradients solve with
//! nothing but products of the plan with vectors.

use super::cost::ones;
use super::sinkhorn::Sinkhorn;
use crate::kernels::cg::{self, Cg};
use crate::kernels::implicit_grad::{self, ImplicitGrad};
use crate::kernels::{Quotient, col_dots, mat_t_vec, mat_vec, row_dots};
use crate::plan::{Clock, Mat, Plan};

/// When to stop: the residual relative to the right-hand side. A smaller one buys nothing.
const TOLERANCE: f32 = 1e-3;

/// The results of a backward pass through the plan.
pub struct Implicit {
    /// ∂L/∂C.
    pub cost_grad: Mat,
    /// s = (G∘Π)1. Its sum is ⟨G, Π⟩, from which quadratic losses get their value.
    pub s: Mat,
}

/// Records the backward pass with at most `iterations` iterations of conjugate gradients:
/// `3·iterations + 7` dispatches.
pub fn record(
    plan: &mut Plan,
    sinkhorn: &Sinkhorn,
    grad: Mat,
    iterations: u32,
    (clock, eps_column): (Clock, u32),
) -> Implicit {
    let (pi, r, c) = (sinkhorn.plan, sinkhorn.r, sinkhorn.c);
    let (batch, n, m) = (pi.batch, pi.rows, pi.cols);
    let mut vector = |label, rows| plan.mats(label, batch, rows, 1);
    let [s, rows] = ["s", "rows"].map(|label| vector(label, n));
    let [t, product, probe, beta] = ["t", "product", "probe", "beta"].map(|label| vector(label, m));
    row_dots::record(plan, [grad, pi, s]);
    col_dots::record(plan, [grad, pi, t]);
    // s/r, as the product of the one-column matrix s with the number one.
    let one = ones(plan, batch, 1);
    mat_vec::record(plan, [s, one, rows], Quotient::OverWeight(r));
    mat_t_vec::record(plan, [pi, rows, product], Quotient::Plain);

    let work = cg::work(plan, batch, m);
    let step = Cg { c, t, product, work, probe, beta, tolerance: TOLERANCE };
    cg::record_start(plan, &step);
    for _ in 0..iterations {
        mat_vec::record(plan, [pi, probe, rows], Quotient::OverWeight(r));
        mat_t_vec::record(plan, [pi, rows, product], Quotient::Plain);
        cg::record_step(plan, &step);
    }

    mat_vec::record(plan, [pi, beta, rows], Quotient::WeightMinus(s));
    let cost_grad = plan.mats("cost gradient", batch, n, m);
    let op = ImplicitGrad { plan: pi, grad, numerator: rows, r, beta, out: cost_grad, clock, eps_column };
    implicit_grad::record(plan, &op);
    Implicit { cost_grad, s }
}
