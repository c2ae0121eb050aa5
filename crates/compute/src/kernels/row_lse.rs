//! Log-sum-exp over rows, as a Sinkhorn half-step uses it.

use super::support::{
    Case, LseParams, Potential, exp, max_of, potential_cases, record_potential, scheduled_row, sum_of,
};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Params as _, Plan, linear_grid};

pub static KERNEL: Kernel = Kernel {
    name: "row_lse",
    summary: "log-sum-exp of rows (Sinkhorn)",
    wgsl: wgsl!("grid", "clock", "lse", "potential", => "row_lse"),
    bindings: &[
        Binding::read("cost"),
        Binding::read("v"),
        Binding::read("log_w"),
        Binding::read("schedule"),
        Binding::read("step").u32(),
        Binding::write("out"),
    ],
    params: LseParams::FIELDS,
    constants: &[],
    twin,
};

/// Records `f_i = ε (log a_i − LSE_j((g_j − C_ij)/ε))`.
pub fn record(plan: &mut Plan, op: &Potential) {
    assert_eq!((op.v.rows, op.out.rows), (op.cost.cols, op.cost.rows), "row_lse: sizes");
    record_potential(plan, &KERNEL, op, linear_grid(op.cost.rows.into(), 1, op.cost.batch));
}

fn twin(call: Call<'_>) {
    let p: LseParams = call.params();
    let batch = call.batch();
    let ([cost, v, log_w, schedule, step], [out]) = call.buffers();
    let eps = scheduled_row(schedule, step, p.steps, p.columns)[p.eps_column as usize];
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let cost = part(cost, p.cost_offset, p.cost_stride, z, rows * cols);
        let v = part(v, p.v_offset, p.v_stride, z, cols);
        let log_w = part(log_w, p.log_w_offset, p.log_w_stride, z, rows);
        let out = part_mut(out, p.out_offset, p.out_stride, z, rows);
        for ((out, row), log_w) in out.iter_mut().zip(cost.chunks_exact(cols)).zip(log_w) {
            let top = max_of(row, v, |c, v| v - c);
            let sum = sum_of(row, v, |c, v| exp((v - c - top) / eps));
            *out = eps * (log_w - sum.ln()) - top;
        }
    }
}

pub fn cases() -> Vec<Case> {
    potential_cases(record, true)
}
