//! The update of a Sinkhorn scaling whose weight is relaxed.

use super::support::{Case, CaseBuilder, at_least, scheduled_row};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Clock, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        len: u32,
        slack: f32,
        w_offset: u32, w_stride: u32,
        x_offset: u32, x_stride: u32,
        columns: u32, steps: u32, eps_column: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "relaxed_scaling",
    summary: "Sinkhorn scaling with relaxed marginals",
    wgsl: wgsl!("grid", "clock", => "relaxed_scaling"),
    bindings: &[
        Binding::read("w"),
        Binding::read("schedule"),
        Binding::read("step").u32(),
        Binding::write("x"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// The least that a weight or a sum counts as.
const LEAST: f32 = 1e-37;

/// Records `x ← (w/x)^τ` with `τ = λ/(λ+ε)`; `slack` is 1/λ. Both are column vectors.
pub fn record(plan: &mut Plan, slack: f32, [w, x]: [Mat; 2], clock: Clock, eps_column: u32) {
    assert_eq!((w.rows, w.cols, w.batch), (x.rows, 1, x.batch), "relaxed_scaling: sizes");
    let params = Params {
        len: x.rows,
        slack,
        w_offset: w.offset,
        w_stride: w.stride,
        x_offset: x.offset,
        x_stride: x.stride,
        columns: clock.columns,
        steps: clock.steps,
        eps_column,
    };
    let buffers = [w.buf, clock.schedule, clock.step, x.buf];
    plan.record(&KERNEL, &params, &[], &buffers, linear_grid(x.len(), 256, x.batch));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([w, schedule, step], [x]) = call.buffers();
    let eps = scheduled_row(schedule, step, p.steps, p.columns)[p.eps_column as usize];
    let tau = 1.0 / (1.0 + p.slack * eps);
    for z in 0..batch {
        let w = part(w, p.w_offset, p.w_stride, z, p.len as usize);
        let x = part_mut(x, p.x_offset, p.x_stride, z, p.len as usize);
        for (x, w) in x.iter_mut().zip(w) {
            *x = (tau * (at_least(LEAST, *w).ln() - at_least(LEAST, *x).ln())).exp();
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for [batch, len] in [[1, 1], [2, 300], [1, 7]] {
        for slack in [0.5, 20.0] {
            let mut case = CaseBuilder::new(format!("{batch} × {len}, slack {slack}"));
            let w = case.random("w", [batch, len, 1], 0.01, 3.0);
            let x = case.random("x", [batch, len, 1], 0.1, 3.0);
            let clock = case.plan.set_schedule(2, &[9.0, 0.05]);
            record(&mut case.plan, slack, [w, x], clock, 1);
            cases.push(case.compare(&[x.buf], 1e-5));
        }
    }
    cases
}
