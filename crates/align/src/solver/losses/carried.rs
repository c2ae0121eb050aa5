//! The distances of Y carried over to the points of X, `M = P DY Pᵀ` with `P = Π/a`, whose rows sum to 1. What
//! the losses of the paper compare with DX, each in its own way.

use super::Symmetry;
use compute::kernels::matmul::{self, Epilogue, Layout};
use compute::kernels::{accumulate, outer_divide};
use compute::plan::{Mat, Plan};

pub(super) struct Carried {
    pi: Mat,
    a: Mat,
    y: Mat,
    symmetry: Symmetry,
    /// Π DY.
    left: Mat,
    /// M, n×n.
    pub(super) distances: Mat,
}

impl Carried {
    /// Records M: three dispatches. The weights divide at the end, where they cost least:
    /// `M_ij = (Π DY Πᵀ)_ij / (a_i a_j)`.
    pub(super) fn forward(plan: &mut Plan, y: Mat, symmetry: Symmetry, pi: Mat, a: Mat) -> Self {
        let (batch, n, m) = (pi.batch, pi.rows, pi.cols);
        let left = plan.mats("plan times distances", batch, n, m);
        matmul::record(plan, Layout::NN, 1.0, [pi, y, left], Epilogue::None);
        let distances = plan.mats("carried distances", batch, n, n);
        matmul::record(plan, Layout::NT, 1.0, [left, pi, distances], Epilogue::None);
        outer_divide::record(plan, [a, a, distances]);
        Self { pi, a, y, symmetry, left, distances }
    }

    /// Records ∂L/∂Π from ∂L/∂M, which is overwritten. With `Q_ij = (∂M)_ij / (a_i a_j)` it is
    /// `Q Π DYᵀ + Qᵀ Π DY`. Four dispatches if the distances are symmetric, five if not; two if the gradient
    /// is `even`, that is symmetric as well.
    pub(super) fn backward(&self, plan: &mut Plan, grad: Mat, even: bool) -> Mat {
        let (batch, n, m) = (self.pi.batch, self.pi.rows, self.pi.cols);
        outer_divide::record(plan, [self.a, self.a, grad]);
        let out = plan.mats("plan gradient", batch, n, m);
        if even && self.symmetry == Symmetry::Symmetric {
            matmul::record(plan, Layout::NN, 2.0, [grad, self.left, out], Epilogue::None);
            return out;
        }
        let right = match self.symmetry {
            Symmetry::Symmetric => self.left,
            Symmetry::General => {
                let right = plan.mats("plan times transposed distances", batch, n, m);
                matmul::record(plan, Layout::NT, 1.0, [self.pi, self.y, right], Epilogue::None);
                right
            }
        };
        matmul::record(plan, Layout::NN, 1.0, [grad, right, out], Epilogue::None);
        let other = plan.mats("other half of the plan gradient", batch, n, m);
        matmul::record(plan, Layout::TN, 1.0, [grad, self.left, other], Epilogue::None);
        accumulate::record(plan, 1.0, other, out);
        out
    }
}
