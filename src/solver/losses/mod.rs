//! The losses, one file each. A loss turns a plan into `G = ∂L/∂Π`.

pub mod classic;
pub mod rank_gw;

use crate::kernels::Activation;
use crate::kernels::matmul::{self, Epilogue, Layout};
use crate::plan::{Mat, Plan};

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
