//! The classic Gromov-Wasserstein loss: `aᵀ(DX∘DX)a + bᵀ(DY∘DY)b − 2⟨DX Π DY, Π⟩`.
//!
//! Only the last term depends on the plan; its gradient is `G = −4 DX Π DY` for symmetric distances, and the
//! term itself is `½⟨G, Π⟩`.

use super::{Graded, inner, through_factors};
use compute::kernels::matmul::{self, Epilogue, Layout};
use compute::plan::{Mat, Plan};

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
    match *distances {
        Distances::Dense { x, y } => {
            let left = plan.mats("distances times plan", pi.batch, pi.rows, pi.cols);
            matmul::record(plan, Layout::NN, 1.0, [x, pi, left], Epilogue::None);
            let grad = plan.mats("plan gradient", pi.batch, pi.rows, pi.cols);
            matmul::record(plan, Layout::NN, -4.0, [left, y, grad], Epilogue::None);
            grad
        }
        Distances::LowRank { u, us, v, vt } => through_factors(plan, -4.0, pi, [u, us, vt, v], None),
    }
}

/// As [`record`], with the part of the loss that depends on the plan as the value: two dispatches more.
pub fn graded(plan: &mut Plan, distances: &Distances, pi: Mat) -> Graded {
    let grad = record(plan, distances, pi);
    Graded { grad, value: inner(plan, 0.5, grad, pi) }
}
