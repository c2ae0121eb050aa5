//! Column sums: the gradient of a layer's bias.

use super::support::{Case, CaseBuilder};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, params};

params! {
    struct Params {
        rows: u32, cols: u32,
        grad_offset: u32, grad_stride: u32,
        out_offset: u32, out_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "bias_grad",
    summary: "column sums",
    wgsl: wgsl!("column_sum", => "bias_grad"),
    bindings: &[Binding::read("grad"), Binding::write("out")],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Records `out_j = Σ_i grad_ij`; `out` is a row vector.
pub fn record(plan: &mut Plan, grad: Mat, out: Mat) {
    assert_eq!((out.rows, out.cols, out.batch), (1, grad.cols, grad.batch), "bias_grad: sizes");
    let params = Params {
        rows: grad.rows,
        cols: grad.cols,
        grad_offset: grad.offset,
        grad_stride: grad.stride,
        out_offset: out.offset,
        out_stride: out.stride,
    };
    let grid = [grad.cols.div_ceil(64), 1, grad.batch];
    plan.record(&KERNEL, &params, &[], &[grad.buf, out.buf], grid);
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([grad], [out]) = call.buffers();
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let out = part_mut(out, p.out_offset, p.out_stride, z, cols);
        out.fill(0.0);
        for row in part(grad, p.grad_offset, p.grad_stride, z, rows * cols).chunks_exact(cols) {
            for (sum, value) in out.iter_mut().zip(row) {
                *sum += value;
            }
        }
    }
}

pub fn cases() -> Vec<Case> {
    let shapes = [[1, 1, 1], [1, 5, 3], [2, 129, 65], [1, 1, 200], [3, 64, 64], [1, 501, 16]];
    shapes
        .into_iter()
        .map(|shape| {
            let mut case = CaseBuilder::new(format!("{shape:?}"));
            let grad = case.random("grad", shape, -1.0, 1.0);
            let out = case.gapped("out", [shape[0], 1, shape[2]]);
            record(&mut case.plan, grad, out);
            case.compare(&[out.buf], 1e-5)
        })
        .collect()
}
