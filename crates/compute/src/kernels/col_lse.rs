//! Log-sum-exp over columns, as a Sinkhorn half-step uses it.

use super::support::{Case, LseParams, Potential, exp, potential_cases, record_potential, scheduled_row};
use super::{part, part_mut, row_lse, wgsl};
use crate::plan::{Call, Kernel, Params as _, Plan};

pub static KERNEL: Kernel = Kernel {
    name: "col_lse",
    summary: "log-sum-exp of columns (Sinkhorn)",
    wgsl: wgsl!("clock", "lse", "potential", => "col_lse"),
    bindings: row_lse::KERNEL.bindings,
    params: LseParams::FIELDS,
    constants: &[],
    twin,
};

/// Records `g_j = ε (log b_j − LSE_i((f_i − C_ij)/ε))`.
pub fn record(plan: &mut Plan, op: &Potential) {
    assert_eq!((op.v.rows, op.out.rows), (op.cost.rows, op.cost.cols), "col_lse: sizes");
    record_potential(plan, &KERNEL, op, [op.cost.cols.div_ceil(32), 1, op.cost.batch]);
}

fn twin(call: Call<'_>) {
    let p: LseParams = call.params();
    let batch = call.batch();
    let ([cost, v, log_w, schedule, step], [out]) = call.buffers();
    let eps = scheduled_row(schedule, step, p.steps, p.columns)[p.eps_column as usize];
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    let mut top = vec![0f32; cols];
    let mut sum = vec![0f32; cols];
    for z in 0..batch {
        let cost = part(cost, p.cost_offset, p.cost_stride, z, rows * cols);
        let v = part(v, p.v_offset, p.v_stride, z, rows);
        let log_w = part(log_w, p.log_w_offset, p.log_w_stride, z, cols);
        let out = part_mut(out, p.out_offset, p.out_stride, z, cols);
        // Row by row, so that memory is read in order.
        top.fill(-3e38);
        sum.fill(0.0);
        for (row, v) in cost.chunks_exact(cols).zip(v) {
            for (top, c) in top.iter_mut().zip(row) {
                *top = if v - c > *top { v - c } else { *top };
            }
        }
        for (row, v) in cost.chunks_exact(cols).zip(v) {
            for ((sum, c), top) in sum.iter_mut().zip(row).zip(&top) {
                *sum += exp((v - c - top) / eps);
            }
        }
        for (((out, log_w), sum), top) in out.iter_mut().zip(log_w).zip(&sum).zip(&top) {
            *out = eps * (log_w - sum.ln()) - top;
        }
    }
}

pub fn cases() -> Vec<Case> {
    potential_cases(record, false)
}
