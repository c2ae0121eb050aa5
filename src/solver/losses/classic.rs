//! The classic Gromov-Wasserstein loss: `aᵀ(DX∘DX)a + bᵀ(DY∘DY)b − 2⟨DX Π DY, Π⟩`.
//!
//! Only the last term depends on the plan; its gradient is `G = −4 DX Π DY` for symmetric distances, and the
//! term itself is `½⟨G, Π⟩`.

use super::{Graded, inner};
use crate::kernels::matmul::{self, Epilogue, Layout};
use crate::plan::{Mat, Plan};

/// How the distances of both sides are at hand.
#[derive(Clone, Copy, Debug)]
pub enum Distances {
    /// Symmetric matrices, n×n and m×m.
    Dense { x: Mat, y: Mat },
    /// `DX = U diag(s) Uᵀ`, `DY = V diag(t) Vᵀ`: cosine and squared Euclidean distances are of rank d + 1
    /// and d + 2. Then nothing n×n is needed, and the gradient `−4 U (s∘UᵀΠV∘t) Vᵀ` costs far less.
    LowRank { u: Mat, us: Mat, v: Mat, vt: Mat },
}

/// Records `G = −4 DX Π DY`: two dispatches dense, four of low rank.
pub fn record(plan: &mut Plan, distances: &Distances, pi: Mat) -> Mat {
    let (batch, n, m) = (pi.batch, pi.rows, pi.cols);
    let grad = plan.mats("plan gradient", batch, n, m);
    let mut product = |layout, alpha, a: Mat, b: Mat, (rows, cols)| {
        let out = plan.mats("loss product", batch, rows, cols);
        matmul::record(plan, layout, alpha, [a, b, out], Epilogue::None);
        out
    };
    match *distances {
        Distances::Dense { x, y } => {
            let left = product(Layout::NN, 1.0, x, pi, (n, m));
            matmul::record(plan, Layout::NN, -4.0, [left, y, grad], Epilogue::None);
        }
        Distances::LowRank { u, us, v, vt } => {
            let (k, l) = (u.cols, v.cols);
            let right = product(Layout::NN, 1.0, pi, vt, (n, l));
            let core = product(Layout::TN, 1.0, us, right, (k, l));
            let back = product(Layout::NT, 1.0, core, v, (k, m));
            matmul::record(plan, Layout::NN, -4.0, [u, back, grad], Epilogue::None);
        }
    }
    grad
}

/// As [`record`], with the part of the loss that depends on the plan as the value: two dispatches more.
pub fn graded(plan: &mut Plan, distances: &Distances, pi: Mat) -> Graded {
    let grad = record(plan, distances, pi);
    Graded { grad, value: inner(plan, 0.5, grad, pi) }
}
