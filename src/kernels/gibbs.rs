//! The Gibbs kernel of entropic transport, which with converged potentials is the plan itself.

use super::support::{Case, CaseBuilder, exp, scheduled_row, sum as lanes_sum};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Clock, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        rows: u32, cols: u32,
        cost_offset: u32, cost_stride: u32,
        f_offset: u32, f_stride: u32,
        g_offset: u32, g_stride: u32,
        out_offset: u32, out_stride: u32,
        sums_offset: u32, sums_stride: u32,
        columns: u32, steps: u32, eps_column: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "gibbs",
    summary: "transport plan from potentials",
    wgsl: wgsl!("grid", "clock", "row_sum", => "gibbs"),
    bindings: &[
        Binding::read("cost"),
        Binding::read("f"),
        Binding::read("g"),
        Binding::read("schedule"),
        Binding::read("step").u32(),
        Binding::write("out"),
        Binding::write("sums"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// The largest exponent; see the shader.
const LARGEST: f32 = 80.0;

/// The operands of [`record`].
#[derive(Clone, Copy, Debug)]
pub struct Gibbs {
    pub cost: Mat,
    pub f: Mat,
    pub g: Mat,
    pub out: Mat,
    /// Row sums of `out`.
    pub sums: Mat,
    pub clock: Clock,
    pub eps_column: u32,
}

/// Records `out_ij = exp((f_i + g_j − C_ij)/ε)`, `sums = out·1`.
pub fn record(plan: &mut Plan, op: &Gibbs) {
    let Gibbs { cost, f, g, out, sums, clock, eps_column } = *op;
    assert_eq!((f.rows, g.rows, sums.rows), (cost.rows, cost.cols, cost.rows), "gibbs: vectors");
    assert_eq!((out.rows, out.cols, out.batch), (cost.rows, cost.cols, cost.batch), "gibbs: result");
    let params = Params {
        rows: cost.rows,
        cols: cost.cols,
        cost_offset: cost.offset,
        cost_stride: cost.stride,
        f_offset: f.offset,
        f_stride: f.stride,
        g_offset: g.offset,
        g_stride: g.stride,
        out_offset: out.offset,
        out_stride: out.stride,
        sums_offset: sums.offset,
        sums_stride: sums.stride,
        columns: clock.columns,
        steps: clock.steps,
        eps_column,
    };
    let buffers = [cost.buf, f.buf, g.buf, clock.schedule, clock.step, out.buf, sums.buf];
    plan.record(&KERNEL, &params, &[], &buffers, linear_grid(cost.rows.into(), 1, cost.batch));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([cost, f, g, schedule, step], [out, sums]) = call.buffers();
    let eps = scheduled_row(schedule, step, p.steps, p.columns)[p.eps_column as usize];
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let cost = part(cost, p.cost_offset, p.cost_stride, z, rows * cols);
        let f = part(f, p.f_offset, p.f_stride, z, rows);
        let g = part(g, p.g_offset, p.g_stride, z, cols);
        let out = part_mut(out, p.out_offset, p.out_stride, z, rows * cols);
        let sums = part_mut(sums, p.sums_offset, p.sums_stride, z, rows);
        let lines = out.chunks_exact_mut(cols).zip(cost.chunks_exact(cols));
        for (((out, cost), f), sum) in lines.zip(f).zip(sums) {
            for ((out, cost), g) in out.iter_mut().zip(cost).zip(g) {
                let exponent = (f + g - cost) / eps;
                *out = exp(if exponent < LARGEST { exponent } else { LARGEST });
            }
            *sum = lanes_sum(out);
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for [batch, n, m] in [[1, 1, 1], [2, 19, 66], [1, 70, 5]] {
        for eps in [1.0, 0.05] {
            let mut case = CaseBuilder::new(format!("{batch} × {n}×{m}, ε = {eps}"));
            let cost = case.random("cost", [batch, n, m], 0.0, 2.0);
            let f = case.random("f", [batch, n, 1], -1.0, 0.05);
            let g = case.random("g", [batch, m, 1], -1.0, 0.05);
            let out = case.gapped("out", [batch, n, m]);
            let sums = case.gapped("sums", [batch, n, 1]);
            let clock = case.plan.set_schedule(2, &[9.0, eps]);
            record(&mut case.plan, &Gibbs { cost, f, g, out, sums, clock, eps_column: 1 });
            cases.push(case.compare(&[out.buf, sums.buf], 1e-5));
        }
    }
    cases
}
