//! Rank first, then compare: Gromov-Wasserstein between the row ranks of both sides' distances, the
//! default loss for ranks.
//!
//! `L = aᵀ(RX∘RX)a + bᵀ(RY∘RY)b − 2⟨RX Π RYᵀ, Π⟩` with `R` the mid-ranks of each row
//! (`geometry::ranks`), which are not symmetric; the gradient is `G = −2(RX Π RYᵀ + RXᵀ Π RY)`. Hard row
//! ranks commute with permutations, so this equals the paper's Eq. 6 at every permutation, and on soft plans
//! it stays blind to any monotone warp of a row. A constant taken off all ranks changes nothing, because the
//! plan's sums are fixed.

use super::{Graded, inner, through_factors};
use compute::kernels::matmul::{self, Epilogue, Layout};
use compute::plan::{Mat, Plan};

/// How the ranks of both sides are at hand.
#[derive(Clone, Copy, Debug)]
pub enum Ranks {
    /// `[RX | RXᵀ]`, n×2n, and RY, m×m.
    Dense { x: Mat, y: Mat },
    /// Thin products `RX ≈ A Bᵀ`, `RY ≈ A′B′ᵀ`: then both terms of the gradient are blocks on the diagonal of
    /// one product, `−2 [A|B] (mask ∘ [B|A]ᵀ Π [B′|A′]) [A′|B′]ᵀ`.
    Thin { x: Halves, y: Halves, mask: Mat },
}

/// `[A|B]` and `[B|A]` of one side.
#[derive(Clone, Copy, Debug)]
pub struct Halves {
    pub ab: Mat,
    pub ba: Mat,
}

/// The mask of [`Ranks::Thin`] for products of these widths, row-major: ones in the two blocks on the
/// diagonal.
pub fn mask(x: u32, y: u32) -> Vec<f32> {
    let (rows, cols) = (2 * x, 2 * y);
    (0..rows).flat_map(|i| (0..cols).map(move |j| f32::from((i < x) == (j < y)))).collect()
}

/// Records G: three dispatches dense, four thin.
pub fn record(plan: &mut Plan, ranks: &Ranks, pi: Mat) -> Mat {
    match *ranks {
        Ranks::Dense { x, y } => {
            let (batch, n, m) = (pi.batch, pi.rows, pi.cols);
            // Π RYᵀ above Π RY, so that one product sums both terms.
            let stacked = plan.mats("ranked plan", batch, 2 * n, m);
            let top = Mat { rows: n, ..stacked };
            let bottom = Mat { offset: stacked.offset + n * m, ..top };
            matmul::record(plan, Layout::NT, 1.0, [pi, y, top], Epilogue::None);
            matmul::record(plan, Layout::NN, 1.0, [pi, y, bottom], Epilogue::None);
            let grad = plan.mats("plan gradient", batch, n, m);
            matmul::record(plan, Layout::NN, -2.0, [x, stacked, grad], Epilogue::None);
            grad
        }
        Ranks::Thin { x, y, mask } => through_factors(plan, -2.0, pi, [x.ab, x.ba, y.ba, y.ab], Some(mask)),
    }
}

/// As [`record`], with the part of the loss that depends on the plan as the value: two dispatches more.
pub fn graded(plan: &mut Plan, ranks: &Ranks, pi: Mat) -> Graded {
    let grad = record(plan, ranks, pi);
    Graded { grad, value: inner(plan, 0.5, grad, pi) }
}
