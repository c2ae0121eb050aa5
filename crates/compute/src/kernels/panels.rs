//! Points in the order in which [`pair_sinkhorn`](super::pair_sinkhorn) reads its columns.

use super::support::{Case, CaseBuilder, PANEL, panels};
use super::wgsl;
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        points: u32, dim: u32,
        scale: f32,
        x_offset: u32, out_offset: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "panels",
    summary: "points in panels",
    wgsl: wgsl!("grid", => "panels"),
    bindings: &[Binding::read("x"), Binding::write("out")],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Points including those that fill up the last panel.
pub fn padded(points: u32) -> u32 {
    points.next_multiple_of(PANEL as u32)
}

/// Points in panels, as the kernel lays them out.
pub fn packed(points: &[f32], dim: usize) -> Vec<f32> {
    panels(points, dim, 0..dim)
}

/// Records the points `scale·x` in panels.
pub fn record(plan: &mut Plan, scale: f32, x: Mat, out: Mat) {
    assert_eq!((out.rows, out.cols), (padded(x.rows), x.cols), "panels: sizes");
    assert_eq!((x.batch, out.batch), (1, 1), "panels: single matrices");
    let params = Params { points: x.rows, dim: x.cols, scale, x_offset: x.offset, out_offset: out.offset };
    plan.record(&KERNEL, &params, &[], &[x.buf, out.buf], linear_grid(out.len(), 256, 1));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let ([x], [out]) = call.buffers();
    let (points, dim) = (p.points as usize, p.dim as usize);
    let packed = packed(&x[p.x_offset as usize..][..points * dim], dim);
    for (out, v) in out[p.out_offset as usize..].iter_mut().zip(packed) {
        *out = p.scale * v;
    }
}

pub fn cases() -> Vec<Case> {
    let sizes = [[1, 1], [16, 3], [33, 18], [70, 5]];
    let case = |[points, dim]: [u32; 2]| {
        let mut case = CaseBuilder::new(format!("{points} points, {dim} dimensions"));
        let x = case.random("x", [1, points, dim], -1.0, 1.0);
        let out = case.random("out", [1, padded(points), dim], -1.0, 1.0);
        record(&mut case.plan, 0.5, x, out);
        case.compare(&[out.buf], 0.0)
    };
    sizes.into_iter().map(case).collect()
}
