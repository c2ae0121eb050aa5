//! The derivative of an activation applied to a gradient, in place. Inside a network
//! [`matmul`](super::matmul) does this on the way; this kernel is for a gradient that comes from outside.

use super::support::{Activation, Case, CaseBuilder, specialised};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        len: u32,
        activation: u32,
        y_offset: u32, y_stride: u32,
        grad_offset: u32, grad_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "act_backward",
    summary: "gradient through an activation",
    wgsl: wgsl!("grid", "activation", => "act_backward"),
    bindings: &[Binding::read("y"), Binding::write("grad")],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Records `grad ← grad ∘ activation′(y)`, with `y` the activation's output.
pub fn record(plan: &mut Plan, activation: Activation, y: Mat, grad: Mat) {
    assert_eq!((y.rows, y.cols, y.batch), (grad.rows, grad.cols, grad.batch), "act_backward: sizes");
    let params = Params {
        len: y.len() as u32,
        activation: activation.code(),
        y_offset: y.offset,
        y_stride: y.stride,
        grad_offset: grad.offset,
        grad_stride: grad.stride,
    };
    let grid = linear_grid(y.len(), 256, y.batch);
    plan.record(&KERNEL, &params, &[], &[y.buf, grad.buf], grid);
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let activation = Activation::from_code(p.activation);
    let batch = call.batch();
    let ([y], [grad]) = call.buffers();
    let len = p.len as usize;
    for z in 0..batch {
        let y = part(y, p.y_offset, p.y_stride, z, len);
        let grad = part_mut(grad, p.grad_offset, p.grad_stride, z, len);
        specialised!(activation, KIND => for (grad, y) in grad.iter_mut().zip(y) {
            *grad *= KIND.grad(*y);
        });
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for shape in [[1, 1, 1], [2, 19, 31], [1, 300, 7]] {
        for activation in Activation::ALL {
            let mut case = CaseBuilder::new(format!("{activation:?} {shape:?}"));
            let y = case.random("y", shape, -1.0, 1.0);
            let grad = case.random("grad", shape, -2.0, 2.0);
            record(&mut case.plan, activation, y, grad);
            cases.push(case.compare(&[grad.buf], 1e-6));
        }
    }
    cases
}
