//! Inner products of matching rows.

use super::support::{Case, CaseBuilder, dot};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        rows: u32, cols: u32,
        a_offset: u32, a_stride: u32,
        b_offset: u32, b_stride: u32,
        out_offset: u32, out_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "row_dots",
    summary: "inner products of matching rows",
    wgsl: wgsl!("grid", "row_sum", => "row_dots"),
    bindings: &[Binding::read("a"), Binding::read("b"), Binding::write("out")],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Records `out_i = Σ_j A_ij B_ij` for `[A, B, out]`.
pub fn record(plan: &mut Plan, [a, b, out]: [Mat; 3]) {
    assert_eq!((a.rows, a.cols, a.batch), (b.rows, b.cols, b.batch), "row_dots: sizes");
    assert_eq!((out.rows, out.cols, out.batch), (a.rows, 1, a.batch), "row_dots: result");
    let params = Params {
        rows: a.rows,
        cols: a.cols,
        a_offset: a.offset,
        a_stride: a.stride,
        b_offset: b.offset,
        b_stride: b.stride,
        out_offset: out.offset,
        out_stride: out.stride,
    };
    let grid = linear_grid(a.rows.into(), 1, a.batch);
    plan.record(&KERNEL, &params, &[], &[a.buf, b.buf, out.buf], grid);
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
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
    let shapes = [[1, 1, 1], [2, 9, 70], [1, 131, 66]];
    shapes
        .into_iter()
        .map(|[batch, n, m]| {
            let mut case = CaseBuilder::new(format!("{batch} × {n}×{m}"));
            let a = case.random("a", [batch, n, m], -1.0, 1.0);
            let b = case.random("b", [batch, n, m], -1.0, 1.0);
            let out = case.gapped("out", [batch, n, 1]);
            record(&mut case.plan, [a, b, out]);
            case.compare(&[out.buf], 1e-5)
        })
        .collect()
}
