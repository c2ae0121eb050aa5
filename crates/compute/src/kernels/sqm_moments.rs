//! Centre and scale of two embeddings: what normalises the squared distances between them.

use super::support::{Case, CaseBuilder};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, params};

params! {
    struct Params {
        n: u32, m: u32, d: u32,
        z_offset: u32, z_stride: u32,
        w_offset: u32, w_stride: u32,
        moments_offset: u32, moments_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "sqm_moments",
    summary: "centre and scale of two embeddings",
    wgsl: wgsl!("row_sum", => "sqm_moments"),
    bindings: &[Binding::read("z"), Binding::read("w"), Binding::write("moments")],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Room for the moments of embeddings of `d` dimensions; the formulas stand in `shaders/sqm_moments.wgsl`.
pub fn moments(plan: &mut Plan, batch: u32, d: u32) -> Mat {
    plan.mats("moments of the embeddings", batch, 1, 3 * d + 1)
}

/// Records `[μ, Σz̃, Σw̃, γ]` for `[z, w, moments]`.
pub fn record(plan: &mut Plan, [z, w, moments]: [Mat; 3]) {
    assert_eq!((w.cols, w.batch), (z.cols, z.batch), "sqm_moments: embeddings");
    assert_eq!((moments.cols, moments.batch), (3 * z.cols + 1, z.batch), "sqm_moments: result");
    let params = Params {
        n: z.rows,
        m: w.rows,
        d: z.cols,
        z_offset: z.offset,
        z_stride: z.stride,
        w_offset: w.offset,
        w_stride: w.stride,
        moments_offset: moments.offset,
        moments_stride: moments.stride,
    };
    plan.record(&KERNEL, &params, &[], &[z.buf, w.buf, moments.buf], [1, 1, z.batch]);
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([z, w], [moments]) = call.buffers();
    let (n, m, d) = (p.n as usize, p.m as usize, p.d as usize);
    for b in 0..batch {
        let z = part(z, p.z_offset, p.z_stride, b, n * d);
        let w = part(w, p.w_offset, p.w_stride, b, m * d);
        let moments = part_mut(moments, p.moments_offset, p.moments_stride, b, 3 * d + 1);
        let (centre, rest) = moments.split_at_mut(d);
        let (sums, scale) = rest.split_at_mut(2 * d);
        let (sum_z, sum_w) = sums.split_at_mut(d);
        for (points, sum) in [(z, &mut *sum_z), (w, &mut *sum_w)] {
            let mut total = vec![0f64; d];
            for row in points.chunks_exact(d) {
                total.iter_mut().zip(row).for_each(|(sum, v)| *sum += f64::from(*v));
            }
            let count = (points.len() / d) as f64;
            sum.iter_mut().zip(total).for_each(|(sum, total)| *sum = (total / count) as f32);
        }
        for ((middle, z), w) in centre.iter_mut().zip(&mut *sum_z).zip(&mut *sum_w) {
            *middle = 0.5 * (*z + *w);
            (*z, *w) = (n as f32 * (*z - *middle), m as f32 * (*w - *middle));
        }
        let spread = |points: &[f32]| {
            let square = |row: &[f32]| row.iter().zip(&*centre).map(|(v, c)| (v - c) * (v - c)).sum::<f32>();
            let total: f64 = points.chunks_exact(d).map(|row| f64::from(square(row))).sum();
            total / (points.len() / d) as f64
        };
        let apart: f64 = sum_z.iter().map(|v| 2.0 * (f64::from(*v) / n as f64).powi(2)).sum();
        let mean = (spread(z) + spread(w) + apart) as f32;
        scale[0] = (2.0 / mean.max(1e-30)).sqrt();
        sums.iter_mut().for_each(|v| *v *= scale[0]);
    }
}

pub fn cases() -> Vec<Case> {
    let shapes = [[1, 1, 1, 1], [2, 33, 20, 16], [1, 20, 71, 3], [1, 5, 4, 300], [2, 300, 280, 100]];
    shapes
        .into_iter()
        .map(|[batch, n, m, d]| {
            let mut case = CaseBuilder::new(format!("{batch} × {n} and {m} of {d}"));
            // Away from the origin, and not in the same place.
            let z = case.random("z", [batch, n, d], 1.0, 3.0);
            let w = case.random("w", [batch, m, d], 1.5, 4.0);
            let moments = case.gapped("moments", [batch, 1, 3 * d + 1]);
            record(&mut case.plan, [z, w, moments]);
            case.compare(&[moments.buf], 1e-5)
        })
        .collect()
}
