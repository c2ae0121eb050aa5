//! The cost between two embeddings, and its gradient. Either kind bounds its own scale, which would run away
//! otherwise: squared distances by their mean, the cosine by its nature.

use crate::kernels::matmul::{self, Epilogue, Layout};
use crate::kernels::sqm_grad::{self, SqmGrad};
use crate::kernels::{Activation, row_dots, sqm_moments, sqm_sides, unit_rows, unit_rows_grad};
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
///
/// The mean is known from the moments of both embeddings, so C is one matrix product of scaled embeddings that
/// carry their squared lengths along (`shaders/sqm_sides.wgsl`), and so is every sum over ∂C that the backward
/// pass needs.
pub struct SqmCost {
    moments: Mat,
    /// The rows of z above those of w.
    sides: Mat,
    n: u32,
    cost: Mat,
}

impl SqmCost {
    /// Records the forward pass for stacks of embeddings (one row a point): three dispatches.
    pub fn forward(plan: &mut Plan, z: Mat, w: Mat) -> Self {
        let (batch, n, m, d) = (z.batch, z.rows, w.rows, z.cols);
        let moments = sqm_moments::moments(plan, batch, d);
        sqm_moments::record(plan, [z, w, moments]);
        let sides = plan.mats("scaled embeddings", batch, n + m, d + 2);
        sqm_sides::record(plan, [z, w, moments, sides]);
        let cost = plan.mats("cost", batch, n, m);
        let [left, right] = halves(sides, n);
        // Rounding must not make a squared distance negative.
        let zero = plan.mats("zero", batch, 1, m);
        let positive = Epilogue::Bias(zero, Activation::Relu);
        matmul::record(plan, Layout::NT, -1.0, [left, right, cost], positive);
        Self { moments, sides, n, cost }
    }

    /// C.
    pub fn cost(&self) -> Mat {
        self.cost
    }

    /// Records the backward pass, from ∂L/∂C to the gradients of both embeddings: four dispatches.
    pub fn backward(&self, plan: &mut Plan, grad: Mat) -> [Mat; 2] {
        let Self { moments, sides, n, .. } = *self;
        let (batch, m, d) = (sides.batch, sides.rows - n, sides.cols - 2);
        let products = plan.mats("cost gradient products", batch, sides.rows, sides.cols);
        let ([z, w], [of_z, of_w]) = (halves(sides, n), halves(products, n));
        matmul::record(plan, Layout::NN, 1.0, [grad, w, of_z], Epilogue::None);
        matmul::record(plan, Layout::TN, 1.0, [grad, z, of_w], Epilogue::None);
        let inner = plan.mats("cost gradient times cost", batch, 1, 1);
        let flat = |rows: Mat| rows.reshaped(1, rows.rows * rows.cols);
        row_dots::record(plan, [flat(of_z), flat(z), inner]);
        let [dz, dw] = [n, m].map(|rows| plan.mats("embedding gradient", batch, rows, d));
        sqm_grad::record(plan, &SqmGrad { sides, products, moments, inner, dz, dw });
        [dz, dw]
    }
}

/// The first `rows` rows of every matrix in a stack, and the others.
fn halves(whole: Mat, rows: u32) -> [Mat; 2] {
    let rest = Mat { rows: whole.rows - rows, offset: whole.offset + rows * whole.cols, ..whole };
    [Mat { rows, ..whole }, rest]
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
fn ones(plan: &mut Plan, batch: u32, rows: u32) -> Mat {
    let ones = plan.mats("ones", batch, rows, 1);
    plan.set_initial(ones.buf, &vec![1.0; batch as usize * rows as usize]);
    ones
}
