//! The gradient through [`unit_rows`](super::unit_rows).

use super::support::{Case, CaseBuilder};
use super::unit_rows::LEAST;
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        rows: u32, cols: u32,
        alpha: f32,
        grad_offset: u32, grad_stride: u32,
        unit_offset: u32, unit_stride: u32,
        lengths_offset: u32, lengths_stride: u32,
        out_offset: u32, out_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "unit_rows_grad",
    summary: "gradient through rows of length one",
    wgsl: wgsl!("grid", "row_sum", => "unit_rows_grad"),
    bindings: &[
        Binding::read("grad"),
        Binding::read("unit"),
        Binding::read("lengths"),
        Binding::write("out"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Records `out_i = alpha·(g_i − ⟨g_i, u_i⟩ u_i)/|x_i|` for `[g, u, lengths, out]`, zero where there is no direction.
pub fn record(plan: &mut Plan, alpha: f32, [grad, unit, lengths, out]: [Mat; 4]) {
    for other in [unit, out] {
        assert_eq!(
            (grad.rows, grad.cols, grad.batch),
            (other.rows, other.cols, other.batch),
            "unit_rows_grad: sizes"
        );
    }
    assert_eq!(
        (lengths.rows, lengths.cols, lengths.batch),
        (grad.rows, 1, grad.batch),
        "unit_rows_grad: lengths"
    );
    let params = Params {
        rows: grad.rows,
        cols: grad.cols,
        alpha,
        grad_offset: grad.offset,
        grad_stride: grad.stride,
        unit_offset: unit.offset,
        unit_stride: unit.stride,
        lengths_offset: lengths.offset,
        lengths_stride: lengths.stride,
        out_offset: out.offset,
        out_stride: out.stride,
    };
    let grid = linear_grid(grad.rows.into(), 1, grad.batch);
    plan.record(&KERNEL, &params, &[], &[grad.buf, unit.buf, lengths.buf, out.buf], grid);
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([grad, unit, lengths], [out]) = call.buffers();
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let grad = part(grad, p.grad_offset, p.grad_stride, z, rows * cols);
        let unit = part(unit, p.unit_offset, p.unit_stride, z, rows * cols);
        let lengths = part(lengths, p.lengths_offset, p.lengths_stride, z, rows);
        let out = part_mut(out, p.out_offset, p.out_stride, z, rows * cols);
        for (i, (out, &length)) in out.chunks_exact_mut(cols).zip(lengths).enumerate() {
            let (grad, unit) = (&grad[i * cols..][..cols], &unit[i * cols..][..cols]);
            let along = grad.iter().zip(unit).map(|(g, u)| f64::from(*g) * f64::from(*u)).sum::<f64>() as f32;
            let scale = if length > LEAST { p.alpha / length } else { 0.0 };
            for ((out, g), u) in out.iter_mut().zip(grad).zip(unit) {
                *out = scale * (g - along * u);
            }
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for [batch, n, d] in [[1, 1, 1], [2, 9, 16], [1, 70, 130]] {
        for low in [0.5, 0.0] {
            let mut case = CaseBuilder::new(format!("{batch} × {n}×{d}, from {low}"));
            let grad = case.random("grad", [batch, n, d], -1.0, 1.0);
            let unit = case.random("unit", [batch, n, d], -0.1, 0.1);
            let lengths = case.random("lengths", [batch, n, 1], low, 3.0 * low);
            let out = case.gapped("out", [batch, n, d]);
            record(&mut case.plan, -1.5, [grad, unit, lengths, out]);
            cases.push(case.compare(&[out.buf], 1e-5));
        }
    }
    cases
}
