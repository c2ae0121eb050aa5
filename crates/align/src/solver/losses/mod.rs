//! The losses, one file each. A loss turns a plan into `G = ∂L/∂Π`.

mod carried;
pub mod classic;
pub mod frobenius;
pub mod rank_gw;
pub mod soft_rank;
pub mod sums;

use compute::kernels::matmul::{self, Epilogue, Layout};
use compute::kernels::reduce::{self, Operation};
use compute::kernels::{Activation, accumulate, row_dots};
use compute::plan::{Mat, Plan};

/// What a loss or a term leaves behind.
#[derive(Clone, Copy, Debug)]
pub struct Graded {
    /// ∂L/∂Π, n×m; of a term on the cost, ∂L/∂C.
    pub grad: Mat,
    /// L, 1×1 for every fit.
    pub value: Mat,
}

impl Graded {
    /// Records `self ← self + weight·term`, gradient and value: two dispatches. What is added to has to be
    /// written anew in every step, which a loss does.
    pub fn add(&self, plan: &mut Plan, weight: f32, term: &Graded) {
        accumulate::record(plan, weight, term.grad, self.grad);
        accumulate::record(plan, weight, term.value, self.value);
    }
}

/// Whether both distance matrices equal their transposes; it saves products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    Symmetric,
    General,
}

/// Records `scale · operation` over all elements of a matrix: row by row, then over the rows. Two dispatches.
pub(super) fn total(plan: &mut Plan, operation: Operation, scale: f32, x: Mat) -> Mat {
    let rows = plan.mats("row totals", x.batch, x.rows, 1);
    reduce::record(plan, operation, 1.0, x, rows);
    total_of_rows(plan, scale, rows)
}

/// Records `scale · ⟨a, b⟩`: two dispatches.
pub(super) fn inner(plan: &mut Plan, scale: f32, a: Mat, b: Mat) -> Mat {
    let rows = plan.mats("row totals", a.batch, a.rows, 1);
    row_dots::record(plan, [a, b, rows]);
    total_of_rows(plan, scale, rows)
}

/// Records `scale` times the sum of a column vector.
pub(super) fn total_of_rows(plan: &mut Plan, scale: f32, rows: Mat) -> Mat {
    let value = plan.mats("value", rows.batch, 1, 1);
    reduce::record(plan, Operation::Sum, scale, rows.reshaped(1, rows.rows), value);
    value
}

/// Records `alpha · U (mask ∘ LᵀΠR) Vᵀ` for `[U, L, R, V]`: the gradient of a quadratic loss whose matrices
/// are thin products, without anything n×n. Four dispatches.
fn through_factors(
    plan: &mut Plan,
    alpha: f32,
    pi: Mat,
    [u, left, right, v]: [Mat; 4],
    mask: Option<Mat>,
) -> Mat {
    let (batch, n, m, k, l) = (pi.batch, pi.rows, pi.cols, left.cols, right.cols);
    let through = plan.mats("plan times factors", batch, n, l);
    matmul::record(plan, Layout::NN, 1.0, [pi, right, through], Epilogue::None);
    let core = plan.mats("loss core", batch, k, l);
    // The derivative of a rectifier is a mask.
    let epilogue = mask.map_or(Epilogue::None, |mask| Epilogue::Gate(mask, Activation::Relu));
    matmul::record(plan, Layout::TN, 1.0, [left, through, core], epilogue);
    let back = plan.mats("core times factors", batch, k, m);
    matmul::record(plan, Layout::NT, 1.0, [core, v, back], Epilogue::None);
    let grad = plan.mats("plan gradient", batch, n, m);
    matmul::record(plan, Layout::NN, alpha, [u, back, grad], Epilogue::None);
    grad
}
