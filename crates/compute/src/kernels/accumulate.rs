//! Adding a multiple of one matrix to another: how the gradients of several terms become one.

use super::support::{Case, CaseBuilder};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        len: u32,
        alpha: f32,
        x_offset: u32, x_stride: u32,
        out_offset: u32, out_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "accumulate",
    summary: "adding a multiple of a matrix",
    wgsl: wgsl!("grid", => "accumulate"),
    bindings: &[Binding::read("x"), Binding::write("out")],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Records `out ← out + alpha·x`.
pub fn record(plan: &mut Plan, alpha: f32, x: Mat, out: Mat) {
    assert_eq!((x.rows, x.cols, x.batch), (out.rows, out.cols, out.batch), "accumulate: sizes");
    let params = Params {
        len: x.len() as u32,
        alpha,
        x_offset: x.offset,
        x_stride: x.stride,
        out_offset: out.offset,
        out_stride: out.stride,
    };
    plan.record(&KERNEL, &params, &[], &[x.buf, out.buf], linear_grid(x.len(), 256, x.batch));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([x], [out]) = call.buffers();
    let len = p.len as usize;
    for z in 0..batch {
        let x = part(x, p.x_offset, p.x_stride, z, len);
        let out = part_mut(out, p.out_offset, p.out_stride, z, len);
        out.iter_mut().zip(x).for_each(|(out, x)| *out += p.alpha * x);
    }
}

pub fn cases() -> Vec<Case> {
    let shapes = [[1, 1, 1], [3, 17, 31]];
    shapes
        .into_iter()
        .map(|shape| {
            let mut case = CaseBuilder::new(format!("{shape:?}"));
            let x = case.random("x", shape, -1.0, 1.0);
            let out = case.random("out", shape, -1.0, 1.0);
            record(&mut case.plan, -0.75, x, out);
            case.compare(&[out.buf], 1e-6)
        })
        .collect()
}
