//! The paper's Eq. 6: `mean((R(DX) − R(P DY Pᵀ))²)` with `P = Π/a` and R the soft ranks within each row, scaled
//! to (0, 1]. Only the order of distances counts, on each side in its own units.

use super::carried::Carried;
use super::{Graded, Symmetry, total};
use compute::kernels::reduce::Operation;
use compute::kernels::soft_rank::{self, Blocks, soft_ranks};
use compute::kernels::{mse_grad, soft_rank_grad, sort_rows};
use compute::plan::{Mat, Plan};

/// The softness that was measured to work: about a quarter as many blocks as points. At 1 and above the ranks
/// are an affine function of the distances and rank nothing; below 0.2 most values are blocks of their own,
/// have no gradient, and training stalls.
pub const TAU: f32 = 0.3;

/// What is constant during a run, for every fit of the stack.
#[derive(Clone, Copy, Debug)]
pub struct SoftRank {
    /// R(DX), n×n.
    pub target: Mat,
    /// DY, m×m.
    pub y: Mat,
    /// The softness of the ranks of `P DY Pᵀ`, 1×1: [`width`] of DY, whatever the plan is at the moment. A
    /// softness that followed the plan could be made small by making everything equal.
    pub width: Mat,
    pub symmetry: Symmetry,
}

impl SoftRank {
    /// Puts the constants into the plan, from stacks of distances `[DX, DY]` between `[n, m]` points.
    pub fn new(plan: &mut Plan, [x, y]: [&[f32]; 2], [n, m]: [u32; 2], tau: f32, symmetry: Symmetry) -> Self {
        let squares = |side: u32| side as usize * side as usize;
        let batch = (x.len() / squares(n)) as u32;
        assert_eq!(x.len(), batch as usize * squares(n), "soft_rank: DX");
        assert_eq!(y.len(), batch as usize * squares(m), "soft_rank: DY");
        let mut constant = |label, rows, cols, values: &[f32]| {
            let mat = plan.mats(label, batch, rows, cols);
            plan.set_initial(mat.buf, values);
            mat
        };
        let ranks: Vec<f32> = x
            .chunks_exact(squares(n))
            .flat_map(|fit| {
                let width = width(fit, n, tau);
                fit.chunks_exact(n as usize).flat_map(move |row| soft_ranks(row, width))
            })
            .collect();
        let widths: Vec<f32> = y.chunks_exact(squares(m)).map(|fit| width(fit, m, tau)).collect();
        Self {
            target: constant("soft ranks of X", n, n, &ranks),
            y: constant("distances of Y", m, m, y),
            width: constant("width of the soft ranks", 1, 1, &widths),
            symmetry,
        }
    }
}

/// τ times the mean of (row maximum − row minimum). For rows of n values that is n times the paper's δ.
pub fn width(distances: &[f32], points: u32, tau: f32) -> f32 {
    let spread = |row: &[f32]| {
        let (low, high) = row.iter().fold((f32::MAX, f32::MIN), |(low, high), &v| (low.min(v), high.max(v)));
        f64::from(high) - f64::from(low)
    };
    let sum: f64 = distances.chunks_exact(points as usize).map(spread).sum();
    // Distances that are all the same have no ranks; anything positive will do.
    (f64::from(tau) * sum / f64::from(points)).max(1e-12) as f32
}

/// Records the loss for the marginal `a` of the rows, a column vector: thirteen dispatches if the distances of Y
/// are symmetric, fourteen if not.
pub fn record(plan: &mut Plan, constants: &SoftRank, pi: Mat, a: Mat) -> Graded {
    let SoftRank { target, y, width, symmetry } = *constants;
    let carried = Carried::forward(plan, y, symmetry, pi, a);
    let blocks = Blocks::new(plan, target, width);
    sort_rows::record(plan, [carried.distances, blocks.sorted, blocks.order]);
    let [ranks, upstream, grad] =
        ["soft ranks", "gradient of the ranks", "gradient of the carried distances"]
            .map(|label| plan.mats(label, pi.batch, pi.rows, pi.rows));
    soft_rank::record(plan, &blocks, ranks);
    mse_grad::record(plan, ranks, target, upstream);
    let value = total(plan, Operation::SumSquares, 0.25 * target.len() as f32, upstream);
    soft_rank_grad::record(plan, &blocks, upstream, grad);
    Graded { grad: carried.backward(plan, grad, false), value }
}
