//! What [`row_lse`](super::super::row_lse) and [`col_lse`](super::super::col_lse) have in common: the
//! update of one Sinkhorn potential from the other.

use super::{Case, CaseBuilder};
use crate::plan::{Clock, Kernel, Mat, Plan, params};

params! {
    struct LseParams {
        rows: u32, cols: u32,
        cost_offset: u32, cost_stride: u32,
        v_offset: u32, v_stride: u32,
        log_w_offset: u32, log_w_stride: u32,
        out_offset: u32, out_stride: u32,
        columns: u32, steps: u32, eps_column: u32,
    }
}

/// The operands of a half-step: `out = ε (log_w − LSE((v − cost)/ε))`.
#[derive(Clone, Copy, Debug)]
pub struct Potential {
    /// n×m.
    pub cost: Mat,
    /// The other side's potential, a column vector.
    pub v: Mat,
    /// Logarithms of this side's weights, a column vector.
    pub log_w: Mat,
    /// This side's potential, a column vector.
    pub out: Mat,
    pub clock: Clock,
    /// The column of the schedule that holds ε.
    pub eps_column: u32,
}

pub(in super::super) fn record_potential(
    plan: &mut Plan,
    kernel: &'static Kernel,
    op: &Potential,
    grid: [u32; 3],
) {
    let Potential { cost, v, log_w, out, clock, eps_column } = *op;
    assert!([v, log_w, out].iter().all(|vec| vec.cols == 1 && vec.batch == cost.batch));
    assert!(eps_column < clock.columns);
    let params = LseParams {
        rows: cost.rows,
        cols: cost.cols,
        cost_offset: cost.offset,
        cost_stride: cost.stride,
        v_offset: v.offset,
        v_stride: v.stride,
        log_w_offset: log_w.offset,
        log_w_stride: log_w.stride,
        out_offset: out.offset,
        out_stride: out.stride,
        columns: clock.columns,
        steps: clock.steps,
        eps_column,
    };
    let buffers = [cost.buf, v.buf, log_w.buf, clock.schedule, clock.step, out.buf];
    plan.record(kernel, &params, &[], &buffers, grid);
}

/// Cases for either kernel. `out_is_rows` tells which side the result lives on.
pub(in super::super) fn potential_cases(record: fn(&mut Plan, &Potential), out_is_rows: bool) -> Vec<Case> {
    // The last has more rows than one axis of a grid has workgroups.
    let shapes = [[1, 1, 1], [1, 1, 7], [1, 9, 1], [2, 33, 65], [1, 130, 257], [3, 64, 32], [1, 66_000, 1]];
    let mut cases = Vec::new();
    for [batch, n, m] in shapes {
        let all_eps: &[f32] = if n > 1000 { &[1.0] } else { &[1.0, 0.02] };
        for &eps in all_eps {
            let mut case = CaseBuilder::new(format!("{batch} × {n}×{m}, ε = {eps}"));
            let (own, other) = if out_is_rows { (n, m) } else { (m, n) };
            let cost = case.random("cost", [batch, n, m], 0.0, 3.0);
            let v = case.random("v", [batch, other, 1], -1.0, 1.0);
            let log_w = case.random("log_w", [batch, own, 1], -6.0, -1.0);
            let out = case.gapped("out", [batch, own, 1]);
            // The second of three columns, so that a wrong column shows.
            let clock = case.plan.set_schedule(3, &[9.0, eps, 9.0]);
            let op = Potential { cost, v, log_w, out, clock, eps_column: 1 };
            record(&mut case.plan, &op);
            cases.push(case.compare(&[out.buf], 1e-5));
        }
    }
    cases
}
