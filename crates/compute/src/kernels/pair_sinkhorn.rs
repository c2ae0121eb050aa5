//! A Sinkhorn iteration between points so many that neither a cost nor a plan is ever held.
//!
//! Both half-steps in one kernel: the rows of a group are computed, normalised, and before they are forgotten their
//! masses are added up by columns. So the CPU takes every product and every exponential once per iteration where two
//! half-steps of their own would take them twice. A device, which has no room for whole rows, takes them twice within
//! the dispatch; it has arithmetic to spare. A dispatch is about some rows only, so that a submit can be kept short.

use super::panels::padded;
use super::support::{Case, CaseBuilder, Given, PANEL, Rows, dot, scheduled_row};
use super::wgsl;
use crate::plan::{Binding, Call, Clock, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        first: u32, rows: u32,
        cols: u32, dim: u32,
        weight: f32, slack: f32,
        x_offset: u32, y_offset: u32, g_offset: u32, f_offset: u32, partial_offset: u32,
        columns: u32, steps: u32, eps_column: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "pair_sinkhorn",
    summary: "Sinkhorn without a cost matrix",
    wgsl: wgsl!("grid", "clock", "lse", "given", => "pair_sinkhorn"),
    bindings: &[
        Binding::read("x"),
        Binding::read("y"),
        Binding::read("g"),
        Binding::read("schedule"),
        Binding::read("step").u32(),
        Binding::write("f"),
        Binding::write("partial"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Rows of a group, whose masses are added up together.
pub const GROUP: u32 = 24;

/// The operands of [`record`].
#[derive(Clone, Copy, Debug)]
pub struct PairSinkhorn {
    /// Points of the rows.
    pub x: Mat,
    /// Points of the columns, in [`panels`](super::panels).
    pub y: Mat,
    /// ĝ = g − |y|², a vector.
    pub g: Mat,
    /// f̂ = f − |x|², a vector.
    pub f: Mat,
    /// What each group of rows leaves in every column: a row for each group of one dispatch.
    pub partial: Mat,
    /// 1/λ of the rows; 0 where they meet their weight.
    pub slack: f32,
    pub clock: Clock,
    pub eps_column: u32,
}

/// Records an iteration for the rows `first..first + rows`: their `f`, and their masses in `partial`.
pub fn record(plan: &mut Plan, op: &PairSinkhorn, first: u32, rows: u32) {
    let PairSinkhorn { x, y, g, f, partial, slack, clock, eps_column } = *op;
    let cols = g.rows;
    assert!(first + rows <= x.rows && f.rows == x.rows, "pair_sinkhorn: rows");
    assert_eq!((y.rows, y.cols), (padded(cols), x.cols), "pair_sinkhorn: columns");
    assert!(partial.rows >= rows.div_ceil(GROUP) && partial.cols == cols, "pair_sinkhorn: masses");
    let params = Params {
        first,
        rows,
        cols,
        dim: x.cols,
        weight: 1.0 / x.rows as f32,
        slack,
        x_offset: x.offset,
        y_offset: y.offset,
        g_offset: g.offset,
        f_offset: f.offset,
        partial_offset: partial.offset,
        columns: clock.columns,
        steps: clock.steps,
        eps_column,
    };
    let buffers = [x.buf, y.buf, g.buf, clock.schedule, clock.step, f.buf, partial.buf];
    plan.record(&KERNEL, &params, &[], &buffers, linear_grid(rows.into(), GROUP.into(), 1));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let ([x, y, g, schedule, step], [f, partial]) = call.buffers();
    let eps = scheduled_row(schedule, step, p.steps, p.columns)[p.eps_column as usize];
    let (first, rows, cols, dim) = (p.first as usize, p.rows as usize, p.cols as usize, p.dim as usize);
    let terms = g[p.g_offset as usize..][..cols].iter().map(|g| g / eps).collect();
    let y = &y[p.y_offset as usize..][..cols.next_multiple_of(PANEL) * dim];
    let mut work = Rows::new(y, terms, dim, 2.0 / eps);
    let x = &x[p.x_offset as usize..][first * dim..(first + rows) * dim];
    let f = &mut f[p.f_offset as usize..][first..first + rows];
    let partial = &mut partial[p.partial_offset as usize..];
    let groups = x.chunks(GROUP as usize * dim).zip(f.chunks_mut(GROUP as usize));
    for ((x, f), masses) in groups.zip(partial.chunks_exact_mut(cols)) {
        masses.fill(0.0);
        work.group(x, Given { weight: p.weight, slack: p.slack, eps }, f, masses);
        for (f, x) in f.iter_mut().zip(x.chunks_exact(dim)) {
            *f = if p.slack > 0.0 {
                // f̂ = ε (log r − LSE t), where ℓ is LSE t with the square that f̂ leaves out.
                let share = p.slack * eps / (1.0 + p.slack * eps);
                eps * (p.weight.ln() + share * (*f - dot(x, x) / eps) - *f)
            } else {
                eps * (p.weight.ln() - *f)
            };
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    // Ragged in every way, and a part of the rows only. [rows in all, first, rows, columns, dimensions]
    for [all, first, rows, m, d] in
        [[1, 0, 1, 1, 1], [7, 2, 5, 33, 3], [60, 0, 60, 17, 16], [90, 24, 49, 130, 5], [31, 0, 31, 260, 33]]
    {
        for (eps, slack) in [(1.0, 0.0), (0.05, 0.0), (1.0, 2.0), (0.05, 5.0)] {
            let mut case =
                CaseBuilder::new(format!("{rows} of {all} × {m}, {d} dimensions, ε = {eps}, slack {slack}"));
            let x = case.random("x", [1, all, d], -0.7, 0.7);
            let y = case.random("y", [1, padded(m), d], -0.7, 0.7);
            let g = case.random("g", [1, m, 1], -0.5, 0.5);
            let f = case.gapped("f", [1, all, 1]);
            let partial = case.gapped("partial", [1, rows.div_ceil(GROUP), m]);
            let clock = case.plan.set_schedule(2, &[9.0, eps]);
            let op = PairSinkhorn { x, y, g, f, partial, slack, clock, eps_column: 1 };
            record(&mut case.plan, &op, first, rows);
            cases.push(case.compare(&[f.buf, partial.buf], 2e-5));
        }
    }
    cases
}
