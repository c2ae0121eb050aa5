//! Inner products of matching columns.

use super::support::{Case, DOTS_BINDINGS, DotsParams, dots_cases, record_dots};
use super::{part, part_mut, wgsl};
use crate::plan::{Call, Kernel, Mat, Params as _, Plan};

pub static KERNEL: Kernel = Kernel {
    name: "col_dots",
    summary: "inner products of matching columns",
    wgsl: wgsl!("column_sum", "dots_io", => "col_dots"),
    bindings: DOTS_BINDINGS,
    params: DotsParams::FIELDS,
    constants: &[],
    twin,
};

/// Records `out_j = Σ_i A_ij B_ij` for `[A, B, out]`.
pub fn record(plan: &mut Plan, operands: [Mat; 3]) {
    let [a, _, out] = operands;
    assert_eq!(out.rows, a.cols, "col_dots: sizes");
    record_dots(plan, &KERNEL, operands, [a.cols.div_ceil(64), 1, a.batch]);
}

fn twin(call: Call<'_>) {
    let p: DotsParams = call.params();
    let batch = call.batch();
    let ([a, b], [out]) = call.buffers();
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let a = part(a, p.a_offset, p.a_stride, z, rows * cols);
        let b = part(b, p.b_offset, p.b_stride, z, rows * cols);
        let out = part_mut(out, p.out_offset, p.out_stride, z, cols);
        out.fill(0.0);
        for (a, b) in a.chunks_exact(cols).zip(b.chunks_exact(cols)) {
            for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
                *out += a * b;
            }
        }
    }
}

pub fn cases() -> Vec<Case> {
    dots_cases(record, false)
}
