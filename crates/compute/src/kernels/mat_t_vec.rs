//! Transposed matrix times vector: [`mat_vec`](super::mat_vec) for the columns.

use super::support::{
    Case, MAT_VEC_BINDINGS, MatVecParams, Quotient, mat_vec_cases, quotient, record_mat_vec,
    transposed_product,
};
use super::{part, part_mut, wgsl};
use crate::plan::{Call, Kernel, Mat, Params as _, Plan};

pub static KERNEL: Kernel = Kernel {
    name: "mat_t_vec",
    summary: "transposed matrix times vector",
    wgsl: wgsl!("column_sum", "quotient", "mat_vec_io", => "mat_t_vec"),
    bindings: MAT_VEC_BINDINGS,
    params: MatVecParams::FIELDS,
    constants: &[],
    twin,
};

/// Records `out_j = quotient(Σ_i K_ij v_i, w_j)` for `[K, v, out]`.
pub fn record(plan: &mut Plan, operands: [Mat; 3], quotient: Quotient) {
    let [k, v, out] = operands;
    assert_eq!((v.rows, out.rows), (k.rows, k.cols), "mat_t_vec: sizes");
    record_mat_vec(plan, &KERNEL, operands, quotient, [k.cols.div_ceil(64), 1, k.batch]);
}

fn twin(call: Call<'_>) {
    let p: MatVecParams = call.params();
    let batch = call.batch();
    let ([k, v, w], [out]) = call.buffers();
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let k = part(k, p.k_offset, p.k_stride, z, rows * cols);
        let v = part(v, p.v_offset, p.v_stride, z, rows);
        let out = part_mut(out, p.out_offset, p.out_stride, z, cols);
        transposed_product(k, v, out);
        for (j, out) in out.iter_mut().enumerate() {
            *out = quotient(&p, *out, w, z, j);
        }
    }
}

pub fn cases() -> Vec<Case> {
    mat_vec_cases(record, false)
}
