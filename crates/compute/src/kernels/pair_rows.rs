//! The negative log-likelihood of known pairs under the plan, and its gradient.

use super::support::{Case, CaseBuilder, at_least};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        rows: u32, cols: u32,
        w_offset: u32, w_stride: u32,
        plan_offset: u32, plan_stride: u32,
        a_offset: u32, a_stride: u32,
        grad_offset: u32, grad_stride: u32,
        sums_offset: u32, sums_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "pair_rows",
    summary: "log-likelihood of known pairs",
    wgsl: wgsl!("grid", "row_sum", => "pair_rows"),
    bindings: &[
        Binding::read("w"),
        Binding::read("plan"),
        Binding::read("a"),
        Binding::write("grad"),
        Binding::write("sums"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// The smallest value of the plan that is told apart from zero.
const FLOOR: f32 = 1e-30;

/// The operands of [`record`].
#[derive(Clone, Copy, Debug)]
pub struct PairRows {
    /// Weights, positive where a pair is known, zero elsewhere.
    pub w: Mat,
    /// Π.
    pub plan: Mat,
    /// The marginal of the rows.
    pub a: Mat,
    pub grad: Mat,
    /// One value a row.
    pub sums: Mat,
}

/// Records `sums_i = −Σ_j w_ij log(Π_ij/a_i)` and `grad_ij = −w_ij/Π_ij`.
pub fn record(recording: &mut Plan, op: &PairRows) {
    let PairRows { w, plan, a, grad, sums } = *op;
    for other in [plan, grad] {
        assert_eq!((w.rows, w.cols, w.batch), (other.rows, other.cols, other.batch), "pair_rows: sizes");
    }
    assert_eq!(
        (a.rows, a.batch, sums.rows, sums.batch),
        (w.rows, w.batch, w.rows, w.batch),
        "pair_rows: sizes"
    );
    let params = Params {
        rows: w.rows,
        cols: w.cols,
        w_offset: w.offset,
        w_stride: w.stride,
        plan_offset: plan.offset,
        plan_stride: plan.stride,
        a_offset: a.offset,
        a_stride: a.stride,
        grad_offset: grad.offset,
        grad_stride: grad.stride,
        sums_offset: sums.offset,
        sums_stride: sums.stride,
    };
    let grid = linear_grid(w.rows.into(), 1, w.batch);
    recording.record(&KERNEL, &params, &[], &[w.buf, plan.buf, a.buf, grad.buf, sums.buf], grid);
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([w, plan, a], [grad, sums]) = call.buffers();
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let w = part(w, p.w_offset, p.w_stride, z, rows * cols);
        let plan = part(plan, p.plan_offset, p.plan_stride, z, rows * cols);
        let a = part(a, p.a_offset, p.a_stride, z, rows);
        let grad = part_mut(grad, p.grad_offset, p.grad_stride, z, rows * cols);
        let sums = part_mut(sums, p.sums_offset, p.sums_stride, z, rows);
        for (i, sum) in sums.iter_mut().enumerate() {
            let mut total = 0f64;
            for e in i * cols..(i + 1) * cols {
                let value = at_least(FLOOR, plan[e]);
                grad[e] = -w[e] / value;
                // Most pairs are not known, and a logarithm is slow.
                if w[e] != 0.0 {
                    total += f64::from(w[e]) * f64::from(a[i] / value).ln();
                }
            }
            *sum = total as f32;
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    // The second of each has a plan that has underflowed to zero: finite all the same.
    for [batch, n, m] in [[1, 1, 1], [2, 7, 65], [1, 70, 130]] {
        for high in [1.0, 0.0] {
            let mut case = CaseBuilder::new(format!("{batch} × {n}×{m}, up to {high}"));
            let w = case.random("w", [batch, n, m], 0.0, 1.0);
            let plan = case.random("plan", [batch, n, m], 0.5 * high, high);
            let a = case.random("a", [batch, n, 1], 0.1, 1.0);
            let grad = case.gapped("grad", [batch, n, m]);
            let sums = case.gapped("sums", [batch, n, 1]);
            record(&mut case.plan, &PairRows { w, plan, a, grad, sums });
            cases.push(case.compare(&[grad.buf, sums.buf], 1e-5));
        }
    }
    cases
}
