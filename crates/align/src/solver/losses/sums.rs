//! The part of a quadratic loss that depends on the sums of the plan only, its rows' r and its columns' c.
//!
//! A quadratic loss `Σ (R_X,ik − R_Y,jl)² Π_ij Π_kl` is, of a plan of mass 1,
//!
//! `rᵀ(R_X∘R_X)r + cᵀ(R_Y∘R_Y)c − 2⟨R_X Π R_Yᵀ, Π⟩`
//!
//! with R the ranks or the distances. Where the plan meets its weights, r = a and c = b, all but the last term is a constant,
//! which [`classic`](super::classic) and [`rank_gw`](super::rank_gw) leave out. A relaxed plan cannot do without it: it would
//! be drawn to rows with large entries of R, whatever they are matched with. Beside it stands `κ (KL(r|a) + KL(c|b))`, so that
//! a row does not give its weight away for next to nothing.

use super::Graded;
use compute::kernels::{Quotient, accumulate, log_ratio, mat_vec, outer_add, row_dots};
use compute::plan::{Mat, Plan};

/// κ, beside ranks between 0 and 1 or distances whose mean is a half.
const KAPPA: f32 = 0.05;

/// What is constant during a run, for every fit of the stack.
#[derive(Clone, Copy, Debug)]
pub struct Sums {
    /// `S = Q + Qᵀ` with `Q = R∘R` of either side, n×n and m×m: symmetric, so that `rᵀQr = ½ rᵀSr` has the gradient `S r`.
    pub squares: [Mat; 2],
    /// `aᵀQ_X a + bᵀQ_Y b`, 1×1. It is taken off, so that the loss goes on where it stood with strict marginals.
    pub constant: Mat,
}

impl Sums {
    /// Records the part for `[[r, a], [c, b]]`, the sums of a plan and their weights, and adds it to a loss without it: the
    /// gradient `(S_X r + κ log(r/a)) ⊕ (S_Y c + κ log(c/b))`, and the value. Fourteen dispatches.
    pub fn add(&self, plan: &mut Plan, sides: [[Mat; 2]; 2], loss: &Graded) {
        let [of_rows, of_columns] = [0, 1].map(|side| {
            let [sums, weights] = sides[side];
            let mut vector = |label, rows| plan.mats(label, sums.batch, rows, 1);
            let [product, grad] =
                ["squares times sums", "gradient of the sums"].map(|l| vector(l, sums.rows));
            let value = vector("value of the sums", 1);
            mat_vec::record(plan, [self.squares[side], sums, product], Quotient::Plain);
            log_ratio::record(plan, KAPPA, [sums, weights, grad]);
            // Half of the product is in the value, ⟨r, ½ S r + κ log(r/a)⟩, and all of it in the gradient.
            accumulate::record(plan, 0.5, product, grad);
            row_dots::record(plan, [sums.reshaped(1, sums.rows), grad.reshaped(1, sums.rows), value]);
            accumulate::record(plan, 0.5, product, grad);
            accumulate::record(plan, 1.0, value, loss.value);
            grad
        });
        outer_add::record(plan, [of_rows, of_columns, loss.grad]);
        accumulate::record(plan, -1.0, self.constant, loss.value);
    }
}
