//! Embeddings as rows whose inner products are the normalised squared distances between them.

use super::support::{Case, CaseBuilder};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        n: u32, m: u32, d: u32,
        z_offset: u32, z_stride: u32,
        w_offset: u32, w_stride: u32,
        moments_offset: u32, moments_stride: u32,
        sides_offset: u32, sides_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "sqm_sides",
    summary: "embeddings scaled for the normalised cost",
    wgsl: wgsl!("grid", => "sqm_sides"),
    bindings: &[Binding::read("z"), Binding::read("w"), Binding::read("moments"), Binding::write("sides")],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Records the rows of both sides, (n + m)×(d + 2), for `[z, w, moments, sides]`, with the moments of
/// [`sqm_moments`](super::sqm_moments); the formula stands in `shaders/sqm_sides.wgsl`.
pub fn record(plan: &mut Plan, [z, w, moments, sides]: [Mat; 4]) {
    let (n, m, d) = (z.rows, w.rows, z.cols);
    assert_eq!((w.cols, moments.cols), (d, 3 * d + 1), "sqm_sides: sizes");
    assert_eq!((sides.rows, sides.cols, sides.batch), (n + m, d + 2, z.batch), "sqm_sides: result");
    let params = Params {
        n,
        m,
        d,
        z_offset: z.offset,
        z_stride: z.stride,
        w_offset: w.offset,
        w_stride: w.stride,
        moments_offset: moments.offset,
        moments_stride: moments.stride,
        sides_offset: sides.offset,
        sides_stride: sides.stride,
    };
    let grid = linear_grid(u64::from(n) + u64::from(m), 64, z.batch);
    plan.record(&KERNEL, &params, &[], &[z.buf, w.buf, moments.buf, sides.buf], grid);
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([z, w, moments], [sides]) = call.buffers();
    let (n, m, d) = (p.n as usize, p.m as usize, p.d as usize);
    for b in 0..batch {
        let z = part(z, p.z_offset, p.z_stride, b, n * d);
        let w = part(w, p.w_offset, p.w_stride, b, m * d);
        let moments = part(moments, p.moments_offset, p.moments_stride, b, 3 * d + 1);
        let (centre, scale) = (&moments[..d], moments[3 * d]);
        let sides = part_mut(sides, p.sides_offset, p.sides_stride, b, (n + m) * (d + 2));
        let points = z.chunks_exact(d).chain(w.chunks_exact(d));
        for (i, (row, point)) in sides.chunks_exact_mut(d + 2).zip(points).enumerate() {
            let (scaled, ends) = row.split_at_mut(d);
            for ((out, v), c) in scaled.iter_mut().zip(point).zip(centre) {
                *out = scale * (v - c);
            }
            let half = -0.5 * scaled.iter().map(|v| v * v).sum::<f32>();
            ends.copy_from_slice(&if i < n { [half, 1.0] } else { [1.0, half] });
        }
    }
}

pub fn cases() -> Vec<Case> {
    let shapes = [[1, 1, 1, 1], [2, 33, 20, 16], [1, 20, 71, 3]];
    shapes
        .into_iter()
        .map(|[batch, n, m, d]| {
            let mut case = CaseBuilder::new(format!("{batch} × {n} and {m} of {d}"));
            let z = case.random("z", [batch, n, d], -1.0, 1.0);
            let w = case.random("w", [batch, m, d], -1.0, 1.0);
            let moments = case.random("moments", [batch, 1, 3 * d + 1], 0.5, 2.0);
            let sides = case.gapped("sides", [batch, n + m, d + 2]);
            record(&mut case.plan, [z, w, moments, sides]);
            case.compare(&[sides.buf], 1e-5)
        })
        .collect()
}
