//! Inner products of matching rows.

use super::support::{Case, DOTS_BINDINGS, DotsParams, dot, dots_cases, record_dots};
use super::{part, part_mut, wgsl};
use crate::plan::{Call, Kernel, Mat, Params as _, Plan, linear_grid};

pub static KERNEL: Kernel = Kernel {
    name: "row_dots",
    summary: "inner products of matching rows",
    wgsl: wgsl!("grid", "row_sum", "dots_io", => "row_dots"),
    bindings: DOTS_BINDINGS,
    params: DotsParams::FIELDS,
    constants: &[],
    twin,
};

/// Records `out_i = Σ_j A_ij B_ij` for `[A, B, out]`.
pub fn record(plan: &mut Plan, operands: [Mat; 3]) {
    let [a, _, out] = operands;
    assert_eq!(out.rows, a.rows, "row_dots: sizes");
    record_dots(plan, &KERNEL, operands, linear_grid(a.rows.into(), 1, a.batch));
}

fn twin(call: Call<'_>) {
    let p: DotsParams = call.params();
    let batch = call.batch();
    let ([a, b], [out]) = call.buffers();
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let a = part(a, p.a_offset, p.a_stride, z, rows * cols);
        let b = part(b, p.b_offset, p.b_stride, z, rows * cols);
        let out = part_mut(out, p.out_offset, p.out_stride, z, rows);
        for ((out, a), b) in out.iter_mut().zip(a.chunks_exact(cols)).zip(b.chunks_exact(cols)) {
            *out = dot(a, b);
        }
    }
}

pub fn cases() -> Vec<Case> {
    dots_cases(record, true)
}
