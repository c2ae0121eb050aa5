//! Division by an outer product of weights: what makes sums over a plan into averages on both sides.

use super::support::{Case, CaseBuilder, at_least};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        rows: u32, cols: u32,
        u_offset: u32, u_stride: u32,
        v_offset: u32, v_stride: u32,
        x_offset: u32, x_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "outer_divide",
    summary: "division by an outer product of weights",
    wgsl: wgsl!("grid", => "outer_divide"),
    bindings: &[Binding::read("u"), Binding::read("v"), Binding::write("x")],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Records `x_ij ← x_ij / (u_i v_j)` for `[u, v, x]`; the weights are positive column vectors.
pub fn record(plan: &mut Plan, [u, v, x]: [Mat; 3]) {
    assert_eq!((u.rows, u.cols, u.batch), (x.rows, 1, x.batch), "outer_divide: row weights");
    assert_eq!((v.rows, v.cols, v.batch), (x.cols, 1, x.batch), "outer_divide: column weights");
    let params = Params {
        rows: x.rows,
        cols: x.cols,
        u_offset: u.offset,
        u_stride: u.stride,
        v_offset: v.offset,
        v_stride: v.stride,
        x_offset: x.offset,
        x_stride: x.stride,
    };
    plan.record(&KERNEL, &params, &[], &[u.buf, v.buf, x.buf], linear_grid(x.len(), 256, x.batch));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([u, v], [x]) = call.buffers();
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let u = part(u, p.u_offset, p.u_stride, z, rows);
        let v = part(v, p.v_offset, p.v_stride, z, cols);
        let x = part_mut(x, p.x_offset, p.x_stride, z, rows * cols);
        for (row, u) in x.chunks_exact_mut(cols).zip(u) {
            row.iter_mut().zip(v).for_each(|(x, v)| *x /= at_least(1e-30, u * v));
        }
    }
}

pub fn cases() -> Vec<Case> {
    let shapes = [[1, 1, 1], [3, 17, 31]];
    shapes
        .into_iter()
        .map(|shape| {
            let mut case = CaseBuilder::new(format!("{shape:?}"));
            let u = case.random("u", [shape[0], shape[1], 1], 0.5, 2.0);
            let v = case.random("v", [shape[0], shape[2], 1], 0.5, 2.0);
            let x = case.random("x", shape, -1.0, 1.0);
            record(&mut case.plan, [u, v, x]);
            case.compare(&[x.buf], 1e-6)
        })
        .collect()
}
