//! Smoothness of the cost along both neighbour graphs: `tr(Cᵀ LX C) + tr(C LY Cᵀ)`, with L the combinatorial
//! Laplacian. Neighbours of one side should be equally far from everything on the other.

use super::super::losses::{Graded, inner};
use compute::kernels::accumulate;
use compute::kernels::matmul::{self, Epilogue, Layout};
use compute::plan::{Mat, Plan};

/// Records the term for symmetric Laplacians `[LX, LY]`; `grad` is that of the cost, `2(LX C + C LY)`, and the
/// value `½⟨grad, C⟩`. Five dispatches.
pub fn record(plan: &mut Plan, [lx, ly]: [Mat; 2], cost: Mat) -> Graded {
    let [grad, right] = ["Dirichlet gradient", "Dirichlet gradient of Y"]
        .map(|label| plan.mats(label, cost.batch, cost.rows, cost.cols));
    matmul::record(plan, Layout::NN, 2.0, [lx, cost, grad], Epilogue::None);
    matmul::record(plan, Layout::NN, 2.0, [cost, ly, right], Epilogue::None);
    accumulate::record(plan, 1.0, right, grad);
    Graded { grad, value: inner(plan, 0.5, grad, cost) }
}
