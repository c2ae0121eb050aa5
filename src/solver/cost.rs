//! The cost between two embeddings: squared distances, normalised by their mean.

use crate::kernels::matmul::{self, Epilogue, Layout};
use crate::kernels::reduce::{self, Operation};
use crate::kernels::sqm_grad::{self, SqmGrad};
use crate::kernels::{Quotient, bias_grad, divide, mat_t_vec, row_dots, sqm_rows};
use crate::plan::{Mat, Plan};

/// `S_ij = |z_i − w_j|²`, `C = S / mean(S)`. The mean bounds the scale, which would run away otherwise;
/// the backward pass differentiates through it.
pub struct SqmCost {
    z: Mat,
    w: Mat,
    cost: Mat,
    mean: Mat,
}

impl SqmCost {
    /// Records the forward pass for stacks of embeddings (one row a point): six dispatches.
    pub fn forward(plan: &mut Plan, z: Mat, w: Mat) -> Self {
        let (batch, n, m) = (z.batch, z.rows, w.rows);
        let [z2, w2] = [z, w].map(|side| {
            let squares = plan.mats("squared norms", batch, side.rows, 1);
            reduce::record(plan, Operation::SumSquares, 1.0, side, squares);
            squares
        });
        let cost = plan.mats("cost", batch, n, m);
        matmul::record(plan, Layout::NT, -2.0, [z, w, cost], Epilogue::None);
        let sums = plan.mats("cost sums", batch, n, 1);
        sqm_rows::record(plan, [z2, w2, cost, sums]);
        let mean = plan.mats("mean cost", batch, 1, 1);
        let scale = 1.0 / (f64::from(n) * f64::from(m));
        reduce::record(plan, Operation::Sum, scale as f32, sums.reshaped(1, n), mean);
        divide::record(plan, mean, cost);
        Self { z, w, cost, mean }
    }

    /// C.
    pub fn cost(&self) -> Mat {
        self.cost
    }

    /// Records the backward pass, from ∂L/∂C to the gradients of both embeddings: ten dispatches.
    ///
    /// With `κ = mean(∂C∘C)` the gradient of S is `(∂C − κ)/mean(S)`.
    pub fn backward(&self, plan: &mut Plan, grad: Mat) -> [Mat; 2] {
        let (batch, n, m, d) = (self.z.batch, self.z.rows, self.w.rows, self.z.cols);
        let dots = plan.mats("cost gradient dots", batch, n, 1);
        row_dots::record(plan, [grad, self.cost, dots]);
        let kappa = plan.mats("kappa", batch, 1, 1);
        let scale = 1.0 / (f64::from(n) * f64::from(m));
        reduce::record(plan, Operation::Sum, scale as f32, dots.reshaped(1, n), kappa);

        let rho_z = plan.mats("row sums of the cost gradient", batch, n, 1);
        reduce::record(plan, Operation::Sum, 1.0, grad, rho_z);
        let rho_w = plan.mats("column sums of the cost gradient", batch, m, 1);
        let ones = ones(plan, batch, n);
        mat_t_vec::record(plan, [grad, ones, rho_w], Quotient::Plain);

        let mut side = |layout, (own, rho): (Mat, Mat), other: Mat| {
            let product = plan.mats("cost gradient product", batch, own.rows, d);
            matmul::record(plan, layout, 1.0, [grad, other, product], Epilogue::None);
            let others = plan.mats("embedding sums", batch, 1, d);
            bias_grad::record(plan, other, others);
            let out = plan.mats("embedding gradient", batch, own.rows, d);
            let (count, mean) = (other.rows, self.mean);
            sqm_grad::record(plan, &SqmGrad { z: own, product, rho, others, count, kappa, mean, out });
            out
        };
        [side(Layout::NN, (self.z, rho_z), self.w), side(Layout::TN, (self.w, rho_w), self.z)]
    }
}

/// A stack of column vectors of ones.
pub(super) fn ones(plan: &mut Plan, batch: u32, rows: u32) -> Mat {
    let ones = plan.mats("ones", batch, rows, 1);
    plan.set_initial(ones.buf, &vec![1.0; batch as usize * rows as usize]);
    ones
}
