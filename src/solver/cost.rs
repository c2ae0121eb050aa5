//! The cost between two embeddings, and its gradient. Either kind bounds its own scale, which would run away
//! otherwise: squared distances by their mean, the cosine by its nature.

use crate::kernels::matmul::{self, Epilogue, Layout};
use crate::kernels::reduce::{self, Operation};
use crate::kernels::sqm_grad::{self, SqmGrad};
use crate::kernels::{
    Activation, Quotient, bias_grad, divide, mat_t_vec, row_dots, sqm_rows, unit_rows, unit_rows_grad,
};
use crate::plan::{Mat, Plan};

/// Which cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CostKind {
    #[default]
    Sqm,
    Cosine,
}

/// A recorded cost of either kind.
pub enum Cost {
    Sqm(SqmCost),
    Cosine(CosineCost),
}

impl Cost {
    /// Records the forward pass for stacks of embeddings, one row a point.
    pub fn forward(plan: &mut Plan, kind: CostKind, z: Mat, w: Mat) -> Self {
        match kind {
            CostKind::Sqm => Self::Sqm(SqmCost::forward(plan, z, w)),
            CostKind::Cosine => Self::Cosine(CosineCost::forward(plan, z, w)),
        }
    }

    /// C.
    pub fn cost(&self) -> Mat {
        match self {
            Self::Sqm(cost) => cost.cost(),
            Self::Cosine(cost) => cost.cost(),
        }
    }

    /// Records the backward pass, from ∂L/∂C to the gradients of both embeddings.
    pub fn backward(&self, plan: &mut Plan, grad: Mat) -> [Mat; 2] {
        match self {
            Self::Sqm(cost) => cost.backward(plan, grad),
            Self::Cosine(cost) => cost.backward(plan, grad),
        }
    }
}

/// `S_ij = |z_i − w_j|²`, `C = S / mean(S)`. The backward pass differentiates through the mean.
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

/// `C_ij = 1 − ⟨z_i/|z_i|, w_j/|w_j|⟩`. An embedding of length zero has no direction: it is at distance 1 from
/// everything, and no gradient moves it.
pub struct CosineCost {
    sides: [Unit; 2],
    cost: Mat,
}

/// Embeddings scaled to length 1, and what their lengths were.
#[derive(Clone, Copy)]
struct Unit {
    rows: Mat,
    lengths: Mat,
}

impl CosineCost {
    /// Records the forward pass for stacks of embeddings (one row a point): three dispatches.
    pub fn forward(plan: &mut Plan, z: Mat, w: Mat) -> Self {
        let (batch, n, m) = (z.batch, z.rows, w.rows);
        let sides = [z, w].map(|side| {
            let rows = plan.mats("unit embedding", batch, side.rows, side.cols);
            let lengths = plan.mats("embedding lengths", batch, side.rows, 1);
            unit_rows::record(plan, [side, rows, lengths]);
            Unit { rows, lengths }
        });
        let cost = plan.mats("cost", batch, n, m);
        let one = ones(plan, batch, m).reshaped(1, m);
        let one = Epilogue::Bias(one, Activation::Identity);
        matmul::record(plan, Layout::NT, -1.0, [sides[0].rows, sides[1].rows, cost], one);
        Self { sides, cost }
    }

    /// C.
    pub fn cost(&self) -> Mat {
        self.cost
    }

    /// Records the backward pass, from ∂L/∂C to the gradients of both embeddings: four dispatches.
    pub fn backward(&self, plan: &mut Plan, grad: Mat) -> [Mat; 2] {
        let mut side = |layout, own: Unit, other: Unit| {
            let Mat { batch, rows, cols, .. } = own.rows;
            let product = plan.mats("cost gradient product", batch, rows, cols);
            matmul::record(plan, layout, -1.0, [grad, other.rows, product], Epilogue::None);
            let out = plan.mats("embedding gradient", batch, rows, cols);
            unit_rows_grad::record(plan, [product, own.rows, own.lengths, out]);
            out
        };
        let [z, w] = self.sides;
        [side(Layout::NN, z, w), side(Layout::TN, w, z)]
    }
}

/// A stack of column vectors of ones.
pub(super) fn ones(plan: &mut Plan, batch: u32, rows: u32) -> Mat {
    let ones = plan.mats("ones", batch, rows, 1);
    plan.set_initial(ones.buf, &vec![1.0; batch as usize * rows as usize]);
    ones
}
