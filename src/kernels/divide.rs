//! Division of whole matrices by a value that only the device knows.

use super::support::{Case, CaseBuilder};
use super::{part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        len: u32,
        divisor_offset: u32, divisor_stride: u32,
        x_offset: u32, x_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "divide",
    summary: "division by a value on the device",
    wgsl: wgsl!("grid", => "divide"),
    bindings: &[Binding::read("divisor"), Binding::write("x")],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Records `x ← x / divisor`, with a 1×1 divisor for each matrix of the stack.
pub fn record(plan: &mut Plan, divisor: Mat, x: Mat) {
    assert_eq!((divisor.rows, divisor.cols, divisor.batch), (1, 1, x.batch), "divide: sizes");
    let params = Params {
        len: x.len() as u32,
        divisor_offset: divisor.offset,
        divisor_stride: divisor.stride,
        x_offset: x.offset,
        x_stride: x.stride,
    };
    plan.record(&KERNEL, &params, &[], &[divisor.buf, x.buf], linear_grid(x.len(), 256, x.batch));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([divisor], [x]) = call.buffers();
    for z in 0..batch {
        let divisor = divisor[p.divisor_offset as usize + z * p.divisor_stride as usize].max(1e-30);
        part_mut(x, p.x_offset, p.x_stride, z, p.len as usize).iter_mut().for_each(|v| *v /= divisor);
    }
}

pub fn cases() -> Vec<Case> {
    let shapes = [[1, 1, 1], [3, 17, 31]];
    shapes
        .into_iter()
        .map(|shape| {
            let mut case = CaseBuilder::new(format!("{shape:?}"));
            let divisor = case.random("divisor", [shape[0], 1, 1], 0.5, 2.0);
            let x = case.random("x", shape, -1.0, 1.0);
            record(&mut case.plan, divisor, x);
            case.compare(&[x.buf], 1e-6)
        })
        .collect()
}
