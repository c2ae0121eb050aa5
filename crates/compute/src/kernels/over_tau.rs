//! Sums of a relaxed plan as they stand in the system of its adjoint potentials.

use super::support::{Case, CaseBuilder, scheduled_row};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Clock, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        len: u32,
        slack: f32,
        x_offset: u32, x_stride: u32,
        s_offset: u32, s_stride: u32,
        mean_offset: u32, mean_stride: u32,
        out_offset: u32, out_stride: u32,
        shifted_offset: u32, shifted_stride: u32,
        columns: u32, steps: u32, eps_column: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "over_tau",
    summary: "sums of a relaxed plan for its gradient",
    wgsl: wgsl!("grid", "clock", => "over_tau"),
    bindings: &[
        Binding::read("x"),
        Binding::read("s"),
        Binding::read("mean"),
        Binding::read("schedule"),
        Binding::read("step").u32(),
        Binding::write("out"),
        Binding::write("shifted"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// The operands of [`record`], column vectors of the same length but for `mean`.
#[derive(Clone, Copy, Debug)]
pub struct OverTau {
    /// Sums of the plan, over rows or over columns.
    pub x: Mat,
    pub s: Mat,
    /// 1×1.
    pub mean: Mat,
    pub out: Mat,
    pub shifted: Mat,
    /// 1/λ; 0 where weights are met.
    pub slack: f32,
    pub clock: Clock,
    pub eps_column: u32,
}

/// Records `out = x/τ` and `shifted = s + mean·(x/τ − x)` with `1/τ = 1 + ε/λ`.
pub fn record(plan: &mut Plan, op: &OverTau) {
    let OverTau { x, s, mean, out, shifted, slack, clock, eps_column } = *op;
    assert!([s, out, shifted].iter().all(|v| v.len() == x.len() && v.batch == x.batch), "over_tau: vectors");
    assert_eq!((mean.len(), mean.batch), (1, x.batch), "over_tau: mean");
    let params = Params {
        len: x.len() as u32,
        slack,
        x_offset: x.offset,
        x_stride: x.stride,
        s_offset: s.offset,
        s_stride: s.stride,
        mean_offset: mean.offset,
        mean_stride: mean.stride,
        out_offset: out.offset,
        out_stride: out.stride,
        shifted_offset: shifted.offset,
        shifted_stride: shifted.stride,
        columns: clock.columns,
        steps: clock.steps,
        eps_column,
    };
    let buffers = [x.buf, s.buf, mean.buf, clock.schedule, clock.step, out.buf, shifted.buf];
    plan.record(&KERNEL, &params, &[], &buffers, linear_grid(x.len(), 256, x.batch));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([x, s, mean, schedule, step], [out, shifted]) = call.buffers();
    let eps = scheduled_row(schedule, step, p.steps, p.columns)[p.eps_column as usize];
    let len = p.len as usize;
    for z in 0..batch {
        let x = part(x, p.x_offset, p.x_stride, z, len);
        let s = part(s, p.s_offset, p.s_stride, z, len);
        let mean = mean[p.mean_offset as usize + z * p.mean_stride as usize];
        let out = part_mut(out, p.out_offset, p.out_stride, z, len);
        let shifted = part_mut(shifted, p.shifted_offset, p.shifted_stride, z, len);
        for ((out, shifted), (x, s)) in out.iter_mut().zip(shifted).zip(x.iter().zip(s)) {
            let rise = p.slack * eps * x;
            *out = x + rise;
            *shifted = s + mean * rise;
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for [batch, len] in [[1, 1], [2, 300], [1, 7]] {
        for slack in [0.0, 5.0] {
            let mut case = CaseBuilder::new(format!("{batch} × {len}, slack {slack}"));
            let shape = [batch, len, 1];
            let x = case.random("x", shape, 0.1, 1.0);
            let s = case.random("s", shape, -1.0, 1.0);
            let mean = case.random("mean", [batch, 1, 1], -2.0, 2.0);
            let [out, shifted] = ["out", "shifted"].map(|label| case.gapped(label, shape));
            let clock = case.plan.set_schedule(2, &[9.0, 0.2]);
            let op = OverTau { x, s, mean, out, shifted, slack, clock, eps_column: 1 };
            record(&mut case.plan, &op);
            cases.push(case.compare(&[out.buf, shifted.buf], 1e-6));
        }
    }
    cases
}
