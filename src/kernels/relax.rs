//! The half-step of the columns in a transport whose plan is never held: their sums go into their potential.

use super::support::{Case, CaseBuilder, at_least, scheduled_row};
use super::wgsl;
use crate::plan::{Binding, Call, Clock, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        len: u32,
        weight: f32,
        c_offset: u32, v_offset: u32, g_offset: u32,
        columns: u32, steps: u32, first_column: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "relax",
    summary: "sums of columns into a potential",
    wgsl: wgsl!("grid", "clock", => "relax"),
    bindings: &[
        Binding::read("schedule"),
        Binding::read("step").u32(),
        Binding::write("c"),
        Binding::write("v"),
        Binding::write("g"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// The least a sum counts as.
const LEAST: f32 = 1e-37;

/// The operands of [`record`], vectors of the same length.
#[derive(Clone, Copy, Debug)]
pub struct Relax {
    /// What the columns hold.
    pub sums: Mat,
    /// The step before.
    pub velocity: Mat,
    /// Their potential.
    pub g: Mat,
    /// b, the same for every column.
    pub weight: f32,
    pub clock: Clock,
    /// The first of three columns of the schedule: ε, α, β.
    pub first_column: u32,
}

/// Records `v ← β v + α ε log(b/c)`, `g += v` and then `c = 0`.
pub fn record(plan: &mut Plan, op: &Relax) {
    let Relax { sums, velocity, g, weight, clock, first_column } = *op;
    assert!([sums, velocity, g].iter().all(|vec| vec.len() == g.len() && vec.batch == 1), "relax: sizes");
    assert!(first_column + 2 < clock.columns, "relax: the schedule's columns");
    let params = Params {
        len: g.len() as u32,
        weight,
        c_offset: sums.offset,
        v_offset: velocity.offset,
        g_offset: g.offset,
        columns: clock.columns,
        steps: clock.steps,
        first_column,
    };
    let buffers = [clock.schedule, clock.step, sums.buf, velocity.buf, g.buf];
    plan.record(&KERNEL, &params, &[], &buffers, linear_grid(g.len(), 256, 1));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let ([schedule, step], [c, v, g]) = call.buffers();
    let scalars = scheduled_row(schedule, step, p.steps, p.columns);
    let [eps, alpha, beta] = [0, 1, 2].map(|k| scalars[p.first_column as usize + k]);
    let c = &mut c[p.c_offset as usize..][..p.len as usize];
    let potentials = v[p.v_offset as usize..].iter_mut().zip(&mut g[p.g_offset as usize..]);
    for (c, (v, g)) in c.iter_mut().zip(potentials) {
        *v = beta * *v + alpha * eps * (p.weight / at_least(LEAST, *c)).ln();
        *g += *v;
        *c = 0.0;
    }
}

pub fn cases() -> Vec<Case> {
    let lengths = [1, 7, 300];
    lengths
        .into_iter()
        .map(|len| {
            let mut case = CaseBuilder::new(format!("{len} columns"));
            let sums = case.random("sums", [1, len, 1], 0.01, 3.0);
            let velocity = case.random("velocity", [1, len, 1], -0.5, 0.5);
            let g = case.random("g", [1, len, 1], -1.0, 1.0);
            let clock = case.plan.set_schedule(4, &[9.0, 0.3, 1.5, 0.7]);
            let op = Relax { sums, velocity, g, weight: 0.25, clock, first_column: 1 };
            record(&mut case.plan, &op);
            case.compare(&[sums.buf, velocity.buf, g.buf], 1e-5)
        })
        .collect()
}
