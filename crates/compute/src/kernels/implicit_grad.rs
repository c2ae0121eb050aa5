//! The last formula of the implicit backward pass: from the adjoint potentials to the cost's gradient.

use super::support::{Case, CaseBuilder, dot, scheduled_row};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Clock, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        rows: u32, cols: u32,
        plan_offset: u32, plan_stride: u32,
        grad_offset: u32, grad_stride: u32,
        s_offset: u32, s_stride: u32,
        a_offset: u32, a_stride: u32,
        beta_offset: u32, beta_stride: u32,
        out_offset: u32, out_stride: u32,
        columns: u32, steps: u32, eps_column: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "implicit_grad",
    summary: "gradient of the cost through the plan",
    wgsl: wgsl!("grid", "clock", "row_sum", => "implicit_grad"),
    bindings: &[
        Binding::read("plan"),
        Binding::read("grad"),
        Binding::read("s"),
        Binding::read("a"),
        Binding::read("beta"),
        Binding::read("schedule"),
        Binding::read("step").u32(),
        Binding::write("out"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// The operands of [`record`].
#[derive(Clone, Copy, Debug)]
pub struct ImplicitGrad {
    /// Π.
    pub plan: Mat,
    /// G = ∂L/∂Π.
    pub grad: Mat,
    /// (G∘Π)1.
    pub s: Mat,
    /// Row sums of Π.
    pub a: Mat,
    pub beta: Mat,
    /// ∂L/∂C.
    pub out: Mat,
    pub clock: Clock,
    pub eps_column: u32,
}

/// Records `out = −(1/ε) Π∘(G − α1ᵀ − 1βᵀ)`, `α = (s − Πβ)/a`.
pub fn record(recording: &mut Plan, op: &ImplicitGrad) {
    let ImplicitGrad { plan, grad, s, a, beta, out, clock, eps_column } = *op;
    for other in [grad, out] {
        assert_eq!(
            (plan.rows, plan.cols, plan.batch),
            (other.rows, other.cols, other.batch),
            "implicit_grad"
        );
    }
    assert_eq!((s.rows, a.rows, beta.rows), (plan.rows, plan.rows, plan.cols), "implicit_grad");
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
        beta_offset: beta.offset,
        beta_stride: beta.stride,
        out_offset: out.offset,
        out_stride: out.stride,
        columns: clock.columns,
        steps: clock.steps,
        eps_column,
    };
    let buffers = [plan.buf, grad.buf, s.buf, a.buf, beta.buf, clock.schedule, clock.step, out.buf];
    recording.record(&KERNEL, &params, &[], &buffers, linear_grid(plan.rows.into(), 1, plan.batch));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([plan, grad, s, a, beta, schedule, step], [out]) = call.buffers();
    let eps = scheduled_row(schedule, step, p.steps, p.columns)[p.eps_column as usize];
    // Divisions are slow.
    let factor = -1.0 / eps;
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let plan = part(plan, p.plan_offset, p.plan_stride, z, rows * cols);
        let grad = part(grad, p.grad_offset, p.grad_stride, z, rows * cols);
        let s = part(s, p.s_offset, p.s_stride, z, rows);
        let a = part(a, p.a_offset, p.a_stride, z, rows);
        let beta = part(beta, p.beta_offset, p.beta_stride, z, cols);
        let out = part_mut(out, p.out_offset, p.out_stride, z, rows * cols);
        let lines = out.chunks_exact_mut(cols).zip(plan.chunks_exact(cols).zip(grad.chunks_exact(cols)));
        for ((out, (plan, grad)), (s, a)) in lines.zip(s.iter().zip(a)) {
            let alpha = (s - dot(plan, beta)) / a;
            for (out, ((plan, grad), beta)) in out.iter_mut().zip(plan.iter().zip(grad).zip(beta)) {
                *out = factor * plan * (grad - alpha - beta);
            }
        }
    }
}

pub fn cases() -> Vec<Case> {
    let shapes = [[1, 1, 1], [2, 17, 31], [1, 65, 5]];
    shapes
        .into_iter()
        .map(|[batch, n, m]| {
            let mut case = CaseBuilder::new(format!("{batch} × {n}×{m}"));
            let plan = case.random("plan", [batch, n, m], 0.0, 1.0);
            let grad = case.random("grad", [batch, n, m], -1.0, 1.0);
            let s = case.random("s", [batch, n, 1], -1.0, 1.0);
            let a = case.random("a", [batch, n, 1], 0.5, 1.5);
            let beta = case.random("beta", [batch, m, 1], -1.0, 1.0);
            let out = case.gapped("out", [batch, n, m]);
            let clock = case.plan.set_schedule(2, &[9.0, 0.2]);
            let op = ImplicitGrad { plan, grad, s, a, beta, out, clock, eps_column: 1 };
            record(&mut case.plan, &op);
            case.compare(&[out.buf], 1e-5)
        })
        .collect()
}
