//! Division by a mass: what makes a relaxed plan sum to 1.

use super::support::{Case, CaseBuilder, at_least};
use super::{part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        len: u32,
        mass_offset: u32, mass_stride: u32,
        x_offset: u32, x_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "normalise",
    summary: "division by a mass",
    wgsl: wgsl!("grid", => "normalise"),
    bindings: &[Binding::read("mass"), Binding::write("x")],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Less mass than this counts as this.
const LEAST: f32 = 1e-37;

/// Records `x ← x/mass`; `mass` is 1×1 for each problem of the stack.
pub fn record(plan: &mut Plan, mass: Mat, x: Mat) {
    assert_eq!((mass.len(), mass.batch), (1, x.batch), "normalise: sizes");
    let params = Params {
        len: x.len() as u32,
        mass_offset: mass.offset,
        mass_stride: mass.stride,
        x_offset: x.offset,
        x_stride: x.stride,
    };
    plan.record(&KERNEL, &params, &[], &[mass.buf, x.buf], linear_grid(x.len(), 256, x.batch));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([mass], [x]) = call.buffers();
    for z in 0..batch {
        let inverse = 1.0 / at_least(LEAST, mass[p.mass_offset as usize + z * p.mass_stride as usize]);
        let x = part_mut(x, p.x_offset, p.x_stride, z, p.len as usize);
        x.iter_mut().for_each(|x| *x *= inverse);
    }
}

pub fn cases() -> Vec<Case> {
    let shapes = [[1, 1, 1], [3, 17, 31]];
    shapes
        .into_iter()
        .map(|shape| {
            let mut case = CaseBuilder::new(format!("{shape:?}"));
            let mass = case.random("mass", [shape[0], 1, 1], 0.2, 2.0);
            let x = case.random("x", shape, 0.0, 1.0);
            record(&mut case.plan, mass, x);
            case.compare(&[x.buf], 1e-6)
        })
        .collect()
}
