//! The gradient of the mean squared error, for fitting a network to known values.

use super::support::{Case, CaseBuilder};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        len: u32,
        y_offset: u32, y_stride: u32,
        target_offset: u32, target_stride: u32,
        grad_offset: u32, grad_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "mse_grad",
    summary: "gradient of the mean squared error",
    wgsl: wgsl!("grid", => "mse_grad"),
    bindings: &[Binding::read("y"), Binding::read("wanted"), Binding::write("grad")],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Records `grad = 2/len · (y − target)`.
pub fn record(plan: &mut Plan, y: Mat, target: Mat, grad: Mat) {
    for other in [target, grad] {
        assert_eq!((y.rows, y.cols, y.batch), (other.rows, other.cols, other.batch), "mse_grad: sizes");
    }
    let params = Params {
        len: y.len() as u32,
        y_offset: y.offset,
        y_stride: y.stride,
        target_offset: target.offset,
        target_stride: target.stride,
        grad_offset: grad.offset,
        grad_stride: grad.stride,
    };
    let grid = linear_grid(y.len(), 256, y.batch);
    plan.record(&KERNEL, &params, &[], &[y.buf, target.buf, grad.buf], grid);
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([y, target], [grad]) = call.buffers();
    let len = p.len as usize;
    let factor = 2.0 / len as f32;
    for z in 0..batch {
        let y = part(y, p.y_offset, p.y_stride, z, len);
        let target = part(target, p.target_offset, p.target_stride, z, len);
        let grad = part_mut(grad, p.grad_offset, p.grad_stride, z, len);
        for ((grad, y), target) in grad.iter_mut().zip(y).zip(target) {
            *grad = factor * (y - target);
        }
    }
}

pub fn cases() -> Vec<Case> {
    let shapes = [[1, 1, 1], [2, 17, 5], [1, 300, 3]];
    shapes
        .into_iter()
        .map(|shape| {
            let mut case = CaseBuilder::new(format!("{shape:?}"));
            let y = case.random("y", shape, -1.0, 1.0);
            let target = case.random("target", shape, -1.0, 1.0);
            let grad = case.gapped("grad", shape);
            record(&mut case.plan, y, target, grad);
            case.compare(&[grad.buf], 1e-6)
        })
        .collect()
}
