//! Logarithms of what masses are beside their weights: the gradient of a Kullback-Leibler divergence.

use super::support::{Case, CaseBuilder, at_least};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        len: u32,
        alpha: f32,
        x_offset: u32, x_stride: u32,
        w_offset: u32, w_stride: u32,
        out_offset: u32, out_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "log_ratio",
    summary: "logarithms of masses beside their weights",
    wgsl: wgsl!("grid", => "log_ratio"),
    bindings: &[Binding::read("x"), Binding::read("w"), Binding::write("out")],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// A smaller ratio counts as this: its logarithm would be infinite.
const LEAST: f32 = 1e-37;

/// Records `out_i = alpha · log(x_i/w_i)` for `[x, w, out]`, column vectors; the weights w are positive.
pub fn record(plan: &mut Plan, alpha: f32, [x, w, out]: [Mat; 3]) {
    assert!([w, out].iter().all(|v| v.len() == x.len() && v.batch == x.batch), "log_ratio: sizes");
    let params = Params {
        len: x.len() as u32,
        alpha,
        x_offset: x.offset,
        x_stride: x.stride,
        w_offset: w.offset,
        w_stride: w.stride,
        out_offset: out.offset,
        out_stride: out.stride,
    };
    plan.record(&KERNEL, &params, &[], &[x.buf, w.buf, out.buf], linear_grid(x.len(), 256, x.batch));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([x, w], [out]) = call.buffers();
    let len = p.len as usize;
    for z in 0..batch {
        let x = part(x, p.x_offset, p.x_stride, z, len);
        let w = part(w, p.w_offset, p.w_stride, z, len);
        let out = part_mut(out, p.out_offset, p.out_stride, z, len);
        for (out, (x, w)) in out.iter_mut().zip(x.iter().zip(w)) {
            *out = p.alpha * at_least(LEAST, x / w).ln();
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for [batch, len] in [[1, 1], [2, 300], [1, 7]] {
        // No mass has a finite logarithm as well.
        for [low, high] in [[0.01, 2.0], [0.0, 0.0]] {
            let mut case = CaseBuilder::new(format!("{batch} × {len}, masses from {low} to {high}"));
            let x = case.random("x", [batch, len, 1], low, high);
            let w = case.random("w", [batch, len, 1], 0.01, 0.5);
            let out = case.gapped("out", [batch, len, 1]);
            record(&mut case.plan, 0.05, [x, w, out]);
            cases.push(case.compare(&[out.buf], 1e-5));
        }
    }
    cases
}
