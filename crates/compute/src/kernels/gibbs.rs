//! The Gibbs kernel of entropic transport, which with a converged potential is the plan itself.

use super::support::{Case, CaseBuilder, exp_within, given, max_of, scheduled_row, sum};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Clock, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        rows: u32, cols: u32,
        cost_offset: u32, cost_stride: u32,
        g_offset: u32, g_stride: u32,
        a_offset: u32, a_stride: u32,
        out_offset: u32, out_stride: u32,
        columns: u32, steps: u32, eps_column: u32,
        slack: f32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "gibbs",
    summary: "transport plan from a potential",
    wgsl: wgsl!("grid", "clock", "row_sum", "given", => "gibbs"),
    bindings: &[
        Binding::read("cost"),
        Binding::read("g"),
        Binding::read("a"),
        Binding::read("schedule"),
        Binding::read("step").u32(),
        Binding::write("out"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// The smallest exponent relative to a row's largest; see the shader.
const LEAST: f32 = -70.0;

/// The operands of [`record`].
#[derive(Clone, Copy, Debug)]
pub struct Gibbs {
    pub cost: Mat,
    /// The potential of the columns.
    pub g: Mat,
    /// The weights of the rows.
    pub a: Mat,
    pub out: Mat,
    pub clock: Clock,
    pub eps_column: u32,
    /// 1/λ of the rows; 0 where their weights are met.
    pub slack: f32,
}

/// Records `out_ij = r_i · softmax_j((g_j − C_ij)/ε)` with `log r_i = log a_i + (1−τ) LSE_j((g_j − C_ij)/ε)`,
/// `τ = λ/(λ+ε)`: for strict weights τ is 1 and r is a.
pub fn record(plan: &mut Plan, op: &Gibbs) {
    let Gibbs { cost, g, a, out, clock, eps_column, slack } = *op;
    assert_eq!((a.rows, g.rows), (cost.rows, cost.cols), "gibbs: vectors");
    assert_eq!((out.rows, out.cols, out.batch), (cost.rows, cost.cols, cost.batch), "gibbs: result");
    let params = Params {
        rows: cost.rows,
        cols: cost.cols,
        cost_offset: cost.offset,
        cost_stride: cost.stride,
        g_offset: g.offset,
        g_stride: g.stride,
        a_offset: a.offset,
        a_stride: a.stride,
        out_offset: out.offset,
        out_stride: out.stride,
        columns: clock.columns,
        steps: clock.steps,
        eps_column,
        slack,
    };
    let buffers = [cost.buf, g.buf, a.buf, clock.schedule, clock.step, out.buf];
    plan.record(&KERNEL, &params, &[], &buffers, linear_grid(cost.rows.into(), 1, cost.batch));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([cost, g, a, schedule, step], [out]) = call.buffers();
    let eps = scheduled_row(schedule, step, p.steps, p.columns)[p.eps_column as usize];
    // Divisions are slow.
    let inverse = 1.0 / eps;
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let cost = part(cost, p.cost_offset, p.cost_stride, z, rows * cols);
        let g = part(g, p.g_offset, p.g_stride, z, cols);
        let a = part(a, p.a_offset, p.a_stride, z, rows);
        let out = part_mut(out, p.out_offset, p.out_stride, z, rows * cols);
        let lines = out.chunks_exact_mut(cols).zip(cost.chunks_exact(cols));
        for ((out, cost), a) in lines.zip(a) {
            let top = max_of(cost, g, |c, g| g - c);
            for ((out, cost), g) in out.iter_mut().zip(cost).zip(g) {
                let exponent = (g - cost - top) * inverse;
                *out = exp_within(if exponent > LEAST { exponent } else { LEAST });
            }
            let total = sum(out);
            let mut scale = a / total;
            if p.slack > 0.0 {
                scale *= given(p.slack, eps, top * inverse + total.ln());
            }
            out.iter_mut().for_each(|v| *v *= scale);
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for [batch, n, m] in [[1, 1, 1], [2, 19, 66], [1, 70, 5]] {
        // At the smallest ε most entries are as small as they get.
        for (eps, slack) in [(1.0, 0.0), (0.05, 0.0), (0.005, 0.0), (1.0, 2.0), (0.05, 5.0), (0.005, 0.3)] {
            let mut case = CaseBuilder::new(format!("{batch} × {n}×{m}, ε = {eps}, slack {slack}"));
            let cost = case.random("cost", [batch, n, m], 0.0, 2.0);
            let g = case.random("g", [batch, m, 1], -1.0, 0.05);
            let a = case.random("a", [batch, n, 1], 0.5, 1.0);
            let out = case.gapped("out", [batch, n, m]);
            let clock = case.plan.set_schedule(2, &[9.0, eps]);
            record(&mut case.plan, &Gibbs { cost, g, a, out, clock, eps_column: 1, slack });
            cases.push(case.compare(&[out.buf], 2e-5));
        }
    }
    cases
}
