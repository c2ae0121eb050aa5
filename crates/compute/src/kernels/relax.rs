//! The half-step of the columns in a transport whose plan is never held: their sums go into their potential.

use super::support::{Case, CaseBuilder, at_least, scheduled_row};
use super::wgsl;
use crate::plan::{Binding, Call, Clock, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        len: u32,
        slack: f32,
        weights_offset: u32, c_offset: u32, v_offset: u32, g_offset: u32,
        columns: u32, steps: u32, first_column: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "relax",
    summary: "sums of columns into a potential",
    wgsl: wgsl!("grid", "clock", => "relax"),
    bindings: &[
        Binding::read("weights"),
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
    /// b: what the columns are to hold.
    pub weights: Mat,
    /// 1/λ of the columns; 0 where they meet their weights.
    pub slack: f32,
    pub clock: Clock,
    /// The first of three columns of the schedule: ε, α, β.
    pub first_column: u32,
}

/// Records `v ← β v + α τ ε log(b/c)`, `g += v` and then `c = 0`, with `τ = λ/(λ+ε)`.
pub fn record(plan: &mut Plan, op: &Relax) {
    let Relax { sums, velocity, g, weights, slack, clock, first_column } = *op;
    assert!(
        [sums, velocity, weights].iter().all(|vec| vec.len() == g.len() && vec.batch == 1),
        "relax: sizes"
    );
    assert!(first_column + 2 < clock.columns, "relax: the schedule's columns");
    let params = Params {
        len: g.len() as u32,
        slack,
        weights_offset: weights.offset,
        c_offset: sums.offset,
        v_offset: velocity.offset,
        g_offset: g.offset,
        columns: clock.columns,
        steps: clock.steps,
        first_column,
    };
    let buffers = [weights.buf, clock.schedule, clock.step, sums.buf, velocity.buf, g.buf];
    plan.record(&KERNEL, &params, &[], &buffers, linear_grid(g.len(), 256, 1));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let ([weights, schedule, step], [c, v, g]) = call.buffers();
    let scalars = scheduled_row(schedule, step, p.steps, p.columns);
    let [eps, alpha, beta] = [0, 1, 2].map(|k| scalars[p.first_column as usize + k]);
    let length = if p.slack > 0.0 { alpha * eps / (1.0 + p.slack * eps) } else { alpha * eps };
    let c = &mut c[p.c_offset as usize..][..p.len as usize];
    let weights = &weights[p.weights_offset as usize..];
    let potentials = v[p.v_offset as usize..].iter_mut().zip(&mut g[p.g_offset as usize..]);
    for ((c, weight), (v, g)) in c.iter_mut().zip(weights).zip(potentials) {
        *v = beta * *v + length * (weight / at_least(LEAST, *c)).ln();
        *g += *v;
        *c = 0.0;
    }
}

pub fn cases() -> Vec<Case> {
    let lengths = [1, 7, 300];
    lengths
        .into_iter()
        .flat_map(|len| [0.0, 4.0].map(|slack| (len, slack)))
        .map(|(len, slack)| {
            let mut case = CaseBuilder::new(format!("{len} columns, slack {slack}"));
            let weights = case.random("weights", [1, len, 1], 0.1, 0.4);
            let sums = case.random("sums", [1, len, 1], 0.01, 3.0);
            let velocity = case.random("velocity", [1, len, 1], -0.5, 0.5);
            let g = case.random("g", [1, len, 1], -1.0, 1.0);
            let clock = case.plan.set_schedule(4, &[9.0, 0.3, 1.5, 0.7]);
            let op = Relax { sums, velocity, g, weights, slack, clock, first_column: 1 };
            record(&mut case.plan, &op);
            case.compare(&[sums.buf, velocity.buf, g.buf], 1e-5)
        })
        .collect()
}
