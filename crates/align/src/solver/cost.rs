//! The cost between two embeddings, and its gradient. Either kind bounds its own scale, which would run away
//! otherwise: squared distances by their mean, the cosine by its nature.

use compute::kernels::matmul::{self, Epilogue, Layout};
use compute::kernels::sqm_grad::{self, SqmGrad};
use compute::kernels::{Activation, row_dots, sqm_moments, sqm_sides, unit_rows, unit_rows_grad};
use compute::plan::{Mat, Plan};

/// Which cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CostKind {
    #[default]
    Sqm,
    Cosine,
}

/// Embeddings of both sides as rows whose inner products are the cost but for its sign: `−C = left·rightᵀ`, up to a
/// constant, which no plan feels. Whoever holds no cost works with these.
pub enum Factors {
    Sqm(SqmFactors),
    Cosine([Unit; 2]),
}

impl Factors {
    /// Records them for stacks of embeddings, one row a point: two dispatches.
    pub fn forward(plan: &mut Plan, kind: CostKind, z: Mat, w: Mat) -> Self {
        match kind {
            CostKind::Sqm => Self::Sqm(SqmFactors::forward(plan, z, w)),
            CostKind::Cosine => Self::Cosine([z, w].map(|side| Unit::forward(plan, side))),
        }
    }

    /// `[left, right]`.
    pub fn sides(&self) -> [Mat; 2] {
        match self {
            Self::Sqm(factors) => halves(factors.sides, factors.n),
            Self::Cosine(sides) => sides.map(|side| side.rows),
        }
    }

    /// Room for what [`Factors::backward`] takes: `[∂L/∂C · right, (∂L/∂C)ᵀ · left]`.
    pub fn products(&self, plan: &mut Plan) -> [Mat; 2] {
        match self {
            Self::Sqm(SqmFactors { sides, n, .. }) => {
                let products = plan.mats("cost gradient products", sides.batch, sides.rows, sides.cols);
                halves(products, *n)
            }
            Self::Cosine(sides) => sides.map(|Unit { rows, .. }| {
                plan.mats("cost gradient product", rows.batch, rows.rows, rows.cols)
            }),
        }
    }

    /// Records the way from these products to the gradients of both embeddings: two dispatches.
    pub fn backward(&self, plan: &mut Plan, products: [Mat; 2]) -> [Mat; 2] {
        match self {
            Self::Sqm(factors) => factors.backward(plan, products),
            Self::Cosine(sides) => [0, 1].map(|side| sides[side].backward(plan, products[side])),
        }
    }
}

/// A recorded cost of either kind.
pub struct Cost {
    factors: Factors,
    cost: Mat,
}

impl Cost {
    /// Records the forward pass for stacks of embeddings, one row a point: three dispatches.
    pub fn forward(plan: &mut Plan, kind: CostKind, z: Mat, w: Mat) -> Self {
        let factors = Factors::forward(plan, kind, z, w);
        let (batch, n, m) = (z.batch, z.rows, w.rows);
        let cost = plan.mats("cost", batch, n, m);
        let constant = match kind {
            // Rounding must not make a squared distance negative.
            CostKind::Sqm => Epilogue::Bias(plan.mats("zero", batch, 1, m), Activation::Relu),
            CostKind::Cosine => Epilogue::Bias(ones(plan, batch, m).reshaped(1, m), Activation::Identity),
        };
        let [left, right] = factors.sides();
        matmul::record(plan, Layout::NT, -1.0, [left, right, cost], constant);
        Self { factors, cost }
    }

    /// C.
    pub fn cost(&self) -> Mat {
        self.cost
    }

    /// Records the backward pass, from ∂L/∂C to the gradients of both embeddings: four dispatches.
    pub fn backward(&self, plan: &mut Plan, grad: Mat) -> [Mat; 2] {
        let [left, right] = self.factors.sides();
        let products = self.factors.products(plan);
        matmul::record(plan, Layout::NN, 1.0, [grad, right, products[0]], Epilogue::None);
        matmul::record(plan, Layout::TN, 1.0, [grad, left, products[1]], Epilogue::None);
        self.factors.backward(plan, products)
    }
}

/// `S_ij = |z_i − w_j|²`, `C = S / mean(S)`. The backward pass differentiates through the mean.
///
/// The mean is known from the moments of both embeddings, so C is one matrix product of scaled embeddings that
/// carry their squared lengths along (`shaders/sqm_sides.wgsl`), and so is every sum over ∂C that the backward
/// pass needs.
pub struct SqmFactors {
    moments: Mat,
    /// The rows of z above those of w.
    sides: Mat,
    n: u32,
}

impl SqmFactors {
    fn forward(plan: &mut Plan, z: Mat, w: Mat) -> Self {
        let (batch, n, m, d) = (z.batch, z.rows, w.rows, z.cols);
        let moments = sqm_moments::moments(plan, batch, d);
        sqm_moments::record(plan, [z, w, moments]);
        let sides = plan.mats("scaled embeddings", batch, n + m, d + 2);
        sqm_sides::record(plan, [z, w, moments, sides]);
        Self { moments, sides, n }
    }

    fn backward(&self, plan: &mut Plan, [of_z, _]: [Mat; 2]) -> [Mat; 2] {
        let Self { moments, sides, n } = *self;
        let (batch, m, d) = (sides.batch, sides.rows - n, sides.cols - 2);
        let products = Mat { rows: sides.rows, ..of_z };
        let inner = plan.mats("cost gradient times cost", batch, 1, 1);
        let flat = |rows: Mat| rows.reshaped(1, rows.rows * rows.cols);
        row_dots::record(plan, [flat(of_z), flat(halves(sides, n)[0]), inner]);
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

/// Embeddings scaled to length 1, and what their lengths were: `C_ij = 1 − ⟨z_i/|z_i|, w_j/|w_j|⟩`. An embedding of
/// length zero has no direction: it is at distance 1 from everything, and no gradient moves it.
#[derive(Clone, Copy)]
pub struct Unit {
    rows: Mat,
    lengths: Mat,
}

impl Unit {
    fn forward(plan: &mut Plan, side: Mat) -> Self {
        let rows = plan.mats("unit embedding", side.batch, side.rows, side.cols);
        let lengths = plan.mats("embedding lengths", side.batch, side.rows, 1);
        unit_rows::record(plan, [side, rows, lengths]);
        Self { rows, lengths }
    }

    fn backward(&self, plan: &mut Plan, product: Mat) -> Mat {
        let Self { rows, lengths } = *self;
        let out = plan.mats("embedding gradient", rows.batch, rows.rows, rows.cols);
        // The cost falls where the product grows.
        unit_rows_grad::record(plan, -1.0, [product, rows, lengths, out]);
        out
    }
}

/// A stack of column vectors of ones.
fn ones(plan: &mut Plan, batch: u32, rows: u32) -> Mat {
    let ones = plan.mats("ones", batch, rows, 1);
    plan.set_initial(ones.buf, &vec![1.0; batch as usize * rows as usize]);
    ones
}
