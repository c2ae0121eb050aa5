//! What a column is to hold where its weight is relaxed.

use super::support::{Case, CaseBuilder, MOST, scheduled_row};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Clock, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        len: u32,
        slack: f32,
        b_offset: u32, b_stride: u32,
        g_offset: u32, g_stride: u32,
        q_offset: u32, q_stride: u32,
        out_offset: u32, out_stride: u32,
        columns: u32, steps: u32, eps_column: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "target",
    summary: "masses that relaxed marginals ask for",
    wgsl: wgsl!("grid", "clock", => "target"),
    bindings: &[
        Binding::read("b"),
        Binding::read("g"),
        Binding::read("q"),
        Binding::read("schedule"),
        Binding::read("step").u32(),
        Binding::write("out"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// The operands of [`record`], column vectors of the same length.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The weights.
    pub b: Mat,
    /// The potential is `g + q`: whoever keeps the squares of points out of their potential has them in q.
    pub g: Mat,
    pub q: Mat,
    pub out: Mat,
    /// 1/λ.
    pub slack: f32,
    pub clock: Clock,
    pub eps_column: u32,
}

/// Records `t_j = b_j exp((ε log b_j − g_j − q_j)/λ)`, the condition `log(c/b) = −(g − ε log b)/λ` of an optimum.
pub fn record(plan: &mut Plan, op: &Target) {
    let Target { b, g, q, out, slack, clock, eps_column } = *op;
    assert!([b, q, out].iter().all(|v| v.len() == g.len() && v.batch == g.batch), "target: sizes");
    let params = Params {
        len: g.len() as u32,
        slack,
        b_offset: b.offset,
        b_stride: b.stride,
        g_offset: g.offset,
        g_stride: g.stride,
        q_offset: q.offset,
        q_stride: q.stride,
        out_offset: out.offset,
        out_stride: out.stride,
        columns: clock.columns,
        steps: clock.steps,
        eps_column,
    };
    let buffers = [b.buf, g.buf, q.buf, clock.schedule, clock.step, out.buf];
    plan.record(&KERNEL, &params, &[], &buffers, linear_grid(g.len(), 256, g.batch));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([b, g, q, schedule, step], [out]) = call.buffers();
    let eps = scheduled_row(schedule, step, p.steps, p.columns)[p.eps_column as usize];
    let len = p.len as usize;
    for z in 0..batch {
        let b = part(b, p.b_offset, p.b_stride, z, len);
        let g = part(g, p.g_offset, p.g_stride, z, len);
        let q = part(q, p.q_offset, p.q_stride, z, len);
        let out = part_mut(out, p.out_offset, p.out_stride, z, len);
        for ((out, b), (g, q)) in out.iter_mut().zip(b).zip(g.iter().zip(q)) {
            let rise = p.slack * (eps * b.ln() - (g + q));
            *out = b * rise.clamp(-MOST, MOST).exp();
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for [batch, len] in [[1, 1], [2, 300], [1, 7]] {
        // The last is out of bounds for most of them.
        for slack in [0.5, 5.0, 1e3] {
            let mut case = CaseBuilder::new(format!("{batch} × {len}, slack {slack}"));
            let b = case.random("b", [batch, len, 1], 0.01, 0.5);
            let g = case.random("g", [batch, len, 1], 0.0, 0.5);
            let q = case.random("q", [batch, len, 1], 0.0, 0.3);
            let out = case.gapped("out", [batch, len, 1]);
            let clock = case.plan.set_schedule(2, &[9.0, 0.05]);
            record(&mut case.plan, &Target { b, g, q, out, slack, clock, eps_column: 1 });
            cases.push(case.compare(&[out.buf], 1e-5));
        }
    }
    cases
}
