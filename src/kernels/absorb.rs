//! The end of a block of Sinkhorn scalings: they become part of the potentials.

use super::support::{Case, CaseBuilder, scheduled_row};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Clock, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        n: u32, m: u32,
        u_offset: u32, u_stride: u32,
        v_offset: u32, v_stride: u32,
        f_offset: u32, f_stride: u32,
        g_offset: u32, g_stride: u32,
        columns: u32, steps: u32, eps_column: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "absorb",
    summary: "scalings into potentials",
    wgsl: wgsl!("grid", "clock", => "absorb"),
    bindings: &[
        Binding::read("u"),
        Binding::read("v"),
        Binding::read("schedule"),
        Binding::read("step").u32(),
        Binding::write("f"),
        Binding::write("g"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Records `f += ε log u`, `g += ε log v` for `[u, v]` and `[f, g]`.
pub fn record(plan: &mut Plan, [u, v]: [Mat; 2], [f, g]: [Mat; 2], clock: Clock, eps_column: u32) {
    assert_eq!((u.rows, v.rows), (f.rows, g.rows), "absorb: sizes");
    let params = Params {
        n: f.rows,
        m: g.rows,
        u_offset: u.offset,
        u_stride: u.stride,
        v_offset: v.offset,
        v_stride: v.stride,
        f_offset: f.offset,
        f_stride: f.stride,
        g_offset: g.offset,
        g_stride: g.stride,
        columns: clock.columns,
        steps: clock.steps,
        eps_column,
    };
    let buffers = [u.buf, v.buf, clock.schedule, clock.step, f.buf, g.buf];
    plan.record(&KERNEL, &params, &[], &buffers, linear_grid(f.rows.max(g.rows).into(), 256, f.batch));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([u, v, schedule, step], [f, g]) = call.buffers();
    let eps = scheduled_row(schedule, step, p.steps, p.columns)[p.eps_column as usize];
    for z in 0..batch {
        let u = part(u, p.u_offset, p.u_stride, z, p.n as usize);
        let v = part(v, p.v_offset, p.v_stride, z, p.m as usize);
        let f = part_mut(f, p.f_offset, p.f_stride, z, p.n as usize);
        let g = part_mut(g, p.g_offset, p.g_stride, z, p.m as usize);
        for (potential, scaling) in f.iter_mut().zip(u).chain(g.iter_mut().zip(v)) {
            *potential += eps * scaling.max(1e-37).ln();
        }
    }
}

pub fn cases() -> Vec<Case> {
    let shapes = [[1, 1, 1], [2, 300, 7], [1, 5, 260]];
    shapes
        .into_iter()
        .map(|[batch, n, m]| {
            let mut case = CaseBuilder::new(format!("{batch} × {n} and {m}"));
            let u = case.random("u", [batch, n, 1], 0.01, 3.0);
            let v = case.random("v", [batch, m, 1], 0.01, 3.0);
            let f = case.random("f", [batch, n, 1], -1.0, 1.0);
            let g = case.random("g", [batch, m, 1], -1.0, 1.0);
            let clock = case.plan.set_schedule(1, &[0.3]);
            record(&mut case.plan, [u, v], [f, g], clock, 0);
            case.compare(&[f.buf, g.buf], 1e-5)
        })
        .collect()
}
