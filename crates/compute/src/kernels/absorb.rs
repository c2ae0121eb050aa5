//! The end of a block of Sinkhorn scalings: they become part of the potential.

use super::support::{Case, CaseBuilder, scheduled_row};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Clock, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        len: u32,
        v_offset: u32, v_stride: u32,
        g_offset: u32, g_stride: u32,
        columns: u32, steps: u32, eps_column: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "absorb",
    summary: "scalings into a potential",
    wgsl: wgsl!("grid", "clock", => "absorb"),
    bindings: &[
        Binding::read("v"),
        Binding::read("schedule"),
        Binding::read("step").u32(),
        Binding::write("g"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Records `g += ε log v`.
pub fn record(plan: &mut Plan, v: Mat, g: Mat, clock: Clock, eps_column: u32) {
    assert_eq!((v.rows, v.batch), (g.rows, g.batch), "absorb: sizes");
    let params = Params {
        len: g.rows,
        v_offset: v.offset,
        v_stride: v.stride,
        g_offset: g.offset,
        g_stride: g.stride,
        columns: clock.columns,
        steps: clock.steps,
        eps_column,
    };
    let buffers = [v.buf, clock.schedule, clock.step, g.buf];
    plan.record(&KERNEL, &params, &[], &buffers, linear_grid(g.rows.into(), 256, g.batch));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([v, schedule, step], [g]) = call.buffers();
    let eps = scheduled_row(schedule, step, p.steps, p.columns)[p.eps_column as usize];
    for z in 0..batch {
        let v = part(v, p.v_offset, p.v_stride, z, p.len as usize);
        let g = part_mut(g, p.g_offset, p.g_stride, z, p.len as usize);
        for (potential, scaling) in g.iter_mut().zip(v) {
            *potential += eps * scaling.max(1e-37).ln();
        }
    }
}

pub fn cases() -> Vec<Case> {
    let shapes = [[1, 1], [2, 300], [1, 7]];
    shapes
        .into_iter()
        .map(|[batch, m]| {
            let mut case = CaseBuilder::new(format!("{batch} × {m}"));
            let v = case.random("v", [batch, m, 1], 0.01, 3.0);
            let g = case.random("g", [batch, m, 1], -1.0, 1.0);
            let clock = case.plan.set_schedule(1, &[0.3]);
            record(&mut case.plan, v, g, clock, 0);
            case.compare(&[g.buf], 1e-5)
        })
        .collect()
}
