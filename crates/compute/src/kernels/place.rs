//! A matrix as some columns of a wider one: how operands that are computed apart come to lie side by side.

use super::support::{Case, CaseBuilder};
use super::wgsl;
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        rows: u32, cols: u32,
        first: u32, pitch: u32,
        scale: f32,
        x_offset: u32, out_offset: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "place",
    summary: "a matrix as columns of another",
    wgsl: wgsl!("grid", => "place"),
    bindings: &[Binding::read("x"), Binding::write("out")],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Records that the columns of `out` from `first` on become `scale·x`.
pub fn record(plan: &mut Plan, scale: f32, x: Mat, out: Mat, first: u32) {
    assert!(x.rows == out.rows && first + x.cols <= out.cols, "place: sizes");
    assert_eq!((x.batch, out.batch), (1, 1), "place: single matrices");
    let params = Params {
        rows: x.rows,
        cols: x.cols,
        first,
        pitch: out.cols,
        scale,
        x_offset: x.offset,
        out_offset: out.offset,
    };
    plan.record(&KERNEL, &params, &[], &[x.buf, out.buf], linear_grid(x.len(), 256, 1));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let ([x], [out]) = call.buffers();
    let (rows, cols, pitch) = (p.rows as usize, p.cols as usize, p.pitch as usize);
    let x = &x[p.x_offset as usize..][..rows * cols];
    let out = &mut out[p.out_offset as usize..][..rows * pitch];
    for (x, out) in x.chunks_exact(cols).zip(out.chunks_exact_mut(pitch)) {
        out[p.first as usize..].iter_mut().zip(x).for_each(|(out, x)| *out = p.scale * x);
    }
}

pub fn cases() -> Vec<Case> {
    let sizes = [[1, 1, 0, 1], [7, 3, 2, 6], [300, 5, 0, 9]];
    let case = |[rows, cols, first, pitch]: [u32; 4]| {
        let mut case = CaseBuilder::new(format!("{cols} columns of {pitch}, {rows} rows"));
        let x = case.random("x", [1, rows, cols], -1.0, 1.0);
        let out = case.random("out", [1, rows, pitch], -1.0, 1.0);
        record(&mut case.plan, -1.5, x, out, first);
        case.compare(&[out.buf], 0.0)
    };
    sizes.into_iter().map(case).collect()
}
