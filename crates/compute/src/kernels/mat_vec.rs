//! Matrix times vector, with what a Sinkhorn scaling or a conjugate-gradient product makes of it.

use super::support::{
    Case, MAT_VEC_BINDINGS, MatVecParams, Quotient, dot, mat_vec_cases, quotient, record_mat_vec,
};
use super::{part, part_mut, wgsl};
use crate::plan::{Call, Kernel, Mat, Params as _, Plan, linear_grid};

pub static KERNEL: Kernel = Kernel {
    name: "mat_vec",
    summary: "matrix times vector",
    wgsl: wgsl!("grid", "row_sum", "quotient", "mat_vec_io", => "mat_vec"),
    bindings: MAT_VEC_BINDINGS,
    params: MatVecParams::FIELDS,
    constants: &[],
    twin,
};

/// Records `out_i = quotient(Σ_j K_ij v_j, w_i)` for `[K, v, out]`.
pub fn record(plan: &mut Plan, operands: [Mat; 3], quotient: Quotient) {
    let [k, v, out] = operands;
    assert_eq!((v.rows, out.rows), (k.cols, k.rows), "mat_vec: sizes");
    record_mat_vec(plan, &KERNEL, operands, quotient, linear_grid(k.rows.into(), 1, k.batch));
}

fn twin(call: Call<'_>) {
    let p: MatVecParams = call.params();
    let batch = call.batch();
    let ([k, v, w], [out]) = call.buffers();
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let k = part(k, p.k_offset, p.k_stride, z, rows * cols);
        let v = part(v, p.v_offset, p.v_stride, z, cols);
        let out = part_mut(out, p.out_offset, p.out_stride, z, rows);
        for (i, (out, row)) in out.iter_mut().zip(k.chunks_exact(cols)).enumerate() {
            *out = quotient(&p, dot(row, v), w, z, i);
        }
    }
}

pub fn cases() -> Vec<Case> {
    mat_vec_cases(record, true)
}
