//! The paper's Eq. 4: `mean((DX − P DY Pᵀ)²)` with `P = Π/a`. It equals the classic loss at a permutation and
//! differs from it for soft plans.

use super::carried::Carried;
use super::{Graded, Symmetry, total};
use compute::kernels::mse_grad;
use compute::kernels::reduce::Operation;
use compute::plan::{Mat, Plan};

/// Records the loss for distances `[DX, DY]` and the marginal `a` of the rows, a column vector: eight dispatches
/// if the distances are symmetric, eleven if not.
pub fn record(plan: &mut Plan, [x, y]: [Mat; 2], symmetry: Symmetry, pi: Mat, a: Mat) -> Graded {
    let carried = Carried::forward(plan, y, symmetry, pi, a);
    let grad = plan.mats("gradient of the carried distances", pi.batch, pi.rows, pi.rows);
    mse_grad::record(plan, carried.distances, x, grad);
    let value = total(plan, Operation::SumSquares, 0.25 * x.len() as f32, grad);
    Graded { grad: carried.backward(plan, grad, true), value }
}
