//! The right-hand side of the implicit backward pass, and the plan's column sums on the way.

use super::support::{Case, CaseBuilder};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, params};

params! {
    struct Params {
        rows: u32, cols: u32,
        plan_offset: u32, plan_stride: u32,
        grad_offset: u32, grad_stride: u32,
        s_offset: u32, s_stride: u32,
        a_offset: u32, a_stride: u32,
        c_offset: u32, c_stride: u32,
        right_offset: u32, right_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "implicit_right",
    summary: "right-hand side for the gradient through the plan",
    wgsl: wgsl!("column_sum", => "implicit_right"),
    bindings: &[
        Binding::read("plan"),
        Binding::read("grad"),
        Binding::read("s"),
        Binding::read("a"),
        Binding::write("c"),
        Binding::write("right"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// The operands of [`record`].
#[derive(Clone, Copy, Debug)]
pub struct ImplicitRight {
    /// Π.
    pub plan: Mat,
    /// G = ∂L/∂Π.
    pub grad: Mat,
    /// (G∘Π)1.
    pub s: Mat,
    /// Row sums of Π.
    pub a: Mat,
    /// Column sums of Π.
    pub c: Mat,
    /// (G∘Π)ᵀ1 − Πᵀ(s/a).
    pub right: Mat,
}

/// Records `c_j = Σ_i Π_ij` and `right_j = Σ_i Π_ij (G_ij − s_i/a_i)`.
pub fn record(recording: &mut Plan, op: &ImplicitRight) {
    let ImplicitRight { plan, grad, s, a, c, right } = *op;
    assert_eq!((plan.rows, plan.cols, plan.batch), (grad.rows, grad.cols, grad.batch), "implicit_right");
    assert_eq!((s.rows, a.rows, c.rows, right.rows), (plan.rows, plan.rows, plan.cols, plan.cols));
    let params = Params {
        rows: plan.rows,
        cols: plan.cols,
        plan_offset: plan.offset,
        plan_stride: plan.stride,
        grad_offset: grad.offset,
        grad_stride: grad.stride,
        s_offset: s.offset,
        s_stride: s.stride,
        a_offset: a.offset,
        a_stride: a.stride,
        c_offset: c.offset,
        c_stride: c.stride,
        right_offset: right.offset,
        right_stride: right.stride,
    };
    let buffers = [plan.buf, grad.buf, s.buf, a.buf, c.buf, right.buf];
    recording.record(&KERNEL, &params, &[], &buffers, [plan.cols.div_ceil(64), 1, plan.batch]);
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([plan, grad, s, a], [c, right]) = call.buffers();
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let plan = part(plan, p.plan_offset, p.plan_stride, z, rows * cols);
        let grad = part(grad, p.grad_offset, p.grad_stride, z, rows * cols);
        let s = part(s, p.s_offset, p.s_stride, z, rows);
        let a = part(a, p.a_offset, p.a_stride, z, rows);
        let c = part_mut(c, p.c_offset, p.c_stride, z, cols);
        let right = part_mut(right, p.right_offset, p.right_stride, z, cols);
        c.fill(0.0);
        right.fill(0.0);
        let lines = plan.chunks_exact(cols).zip(grad.chunks_exact(cols));
        for ((plan, grad), (s, a)) in lines.zip(s.iter().zip(a)) {
            let mean = s / a;
            let sums = c.iter_mut().zip(right.iter_mut());
            for ((c, right), (plan, grad)) in sums.zip(plan.iter().zip(grad)) {
                *c += plan;
                *right += plan * (grad - mean);
            }
        }
    }
}

pub fn cases() -> Vec<Case> {
    let shapes = [[1, 1, 1], [2, 9, 70], [1, 131, 66]];
    shapes
        .into_iter()
        .map(|[batch, n, m]| {
            let mut case = CaseBuilder::new(format!("{batch} × {n}×{m}"));
            let plan = case.random("plan", [batch, n, m], 0.0, 1.0);
            let grad = case.random("grad", [batch, n, m], -1.0, 1.0);
            let s = case.random("s", [batch, n, 1], -1.0, 1.0);
            let a = case.random("a", [batch, n, 1], 0.5, 1.5);
            let [c, right] = ["c", "right"].map(|label| case.gapped(label, [batch, m, 1]));
            record(&mut case.plan, &ImplicitRight { plan, grad, s, a, c, right });
            case.compare(&[c.buf, right.buf], 1e-5)
        })
        .collect()
}
