//! A plan between points so many that it is never held, times a matrix: what training on all points at once is made of.
//!
//! Entries may be weighted by a thin product on the way. Then the same kernel gives the gradient of a quadratic loss of
//! low rank, and everything that its way back through the plan needs; with both sides exchanged it is the transposed
//! plan. A dispatch is about some rows only, so that a submit can be kept short.

use super::support::{Applied, Case, CaseBuilder, scheduled_row};
use super::wgsl;
use crate::plan::{Binding, Call, Clock, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        first: u32, rows: u32,
        cols: u32, dim: u32, rank: u32, pitch: u32, width: u32,
        scale: f32, over_eps: u32,
        left_offset: u32, right_offset: u32, b_offset: u32, out_offset: u32,
        columns: u32, steps: u32, eps_column: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "pair_apply",
    summary: "products with a plan that is not held",
    wgsl: wgsl!("grid", "clock", => "pair_apply"),
    bindings: &[
        Binding::read("left"),
        Binding::read("right"),
        Binding::read("b"),
        Binding::read("schedule"),
        Binding::read("step").u32(),
        Binding::write("out"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Rows of a workgroup.
const GROUP: u64 = 24;

/// The operands of [`record`]; the formula stands in `shaders/pair_apply.wgsl`.
#[derive(Clone, Copy, Debug)]
pub struct PairApply {
    /// A row's point with its potential, then its part of the weights; `right` the same for the columns.
    pub left: Mat,
    pub right: Mat,
    /// The columns that make up the points.
    pub dim: u32,
    /// The columns after these that make up the weights; zero for the plan itself.
    pub rank: u32,
    pub b: Mat,
    pub out: Mat,
    pub scale: f32,
    /// Whether the result is divided by ε.
    pub over_eps: bool,
    pub clock: Clock,
    pub eps_column: u32,
}

/// Records the product for the rows `first..first + rows`.
pub fn record(plan: &mut Plan, op: &PairApply, first: u32, rows: u32) {
    let PairApply { left, right, dim, rank, b, out, scale, over_eps, clock, eps_column } = *op;
    assert!(first + rows <= left.rows && out.rows == left.rows, "pair_apply: rows");
    assert!(left.cols == right.cols && dim + rank <= left.cols, "pair_apply: points and weights");
    assert_eq!((b.rows, b.cols), (right.rows, out.cols), "pair_apply: columns");
    let params = Params {
        first,
        rows,
        cols: right.rows,
        dim,
        rank,
        pitch: left.cols,
        width: b.cols,
        scale,
        over_eps: over_eps.into(),
        left_offset: left.offset,
        right_offset: right.offset,
        b_offset: b.offset,
        out_offset: out.offset,
        columns: clock.columns,
        steps: clock.steps,
        eps_column,
    };
    let buffers = [left.buf, right.buf, b.buf, clock.schedule, clock.step, out.buf];
    plan.record(&KERNEL, &params, &[], &buffers, linear_grid(rows.into(), GROUP, 1));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let ([left, right, b, schedule, step], [out]) = call.buffers();
    let eps = scheduled_row(schedule, step, p.steps, p.columns)[p.eps_column as usize];
    let scale = if p.over_eps > 0 { p.scale / eps } else { p.scale };
    let [first, rows, cols, dim, rank, pitch, width] =
        [p.first, p.rows, p.cols, p.dim, p.rank, p.pitch, p.width].map(|v| v as usize);
    let right = &right[p.right_offset as usize..][..cols * pitch];
    let left = &left[p.left_offset as usize..][first * pitch..(first + rows) * pitch];
    let b = &b[p.b_offset as usize..][..cols * width];
    let out = &mut out[p.out_offset as usize..][first * width..(first + rows) * width];
    Applied::new(right, pitch, [dim, rank], 1.0 / eps, (b, width)).rows(left, scale, out);
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    // [rows in all, first, rows, columns, dimensions, rank, columns left over, width]
    for [all, first, rows, m, dim, rank, over, width] in [
        [1, 0, 1, 1, 1, 0, 0, 1],
        [7, 2, 5, 33, 3, 2, 1, 4],
        [60, 0, 60, 70, 18, 0, 5, 1],
        [90, 24, 49, 130, 5, 19, 0, 18],
        [31, 0, 31, 65, 20, 7, 2, 45],
    ] {
        for eps in [1.0, 0.1] {
            let sizes = format!("{rows} of {all} × {m}, {dim} and {rank}, {width} wide, ε = {eps}");
            let mut case = CaseBuilder::new(sizes);
            let left = case.random("left", [1, all, dim + rank + over], -0.4, 0.4);
            let right = case.random("right", [1, m, dim + rank + over], -0.4, 0.4);
            let b = case.random("b", [1, m, width], -1.0, 1.0);
            let out = case.gapped("out", [1, all, width]);
            let clock = case.plan.set_schedule(2, &[9.0, eps]);
            let (scale, over_eps) = (0.01, rank > 0);
            let op = PairApply { left, right, dim, rank, b, out, scale, over_eps, clock, eps_column: 1 };
            record(&mut case.plan, &op, first, rows);
            cases.push(case.compare(&[out.buf], 5e-5));
        }
    }
    cases
}
