//! The gradient of an embedding through the mean-normalised squared distance.

use super::support::{Case, CaseBuilder};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        rows: u32, cols: u32,
        count: f32,
        z_offset: u32, z_stride: u32,
        product_offset: u32, product_stride: u32,
        rho_offset: u32, rho_stride: u32,
        others_offset: u32, others_stride: u32,
        kappa_offset: u32, kappa_stride: u32,
        mean_offset: u32, mean_stride: u32,
        out_offset: u32, out_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "sqm_grad",
    summary: "gradient through the normalised cost",
    wgsl: wgsl!("grid", => "sqm_grad"),
    bindings: &[
        Binding::read("z"),
        Binding::read("product"),
        Binding::read("rho"),
        Binding::read("others"),
        Binding::read("kappa"),
        Binding::read("mean"),
        Binding::write("out"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// The operands of [`record`]; the formula stands in `shaders/sqm_grad.wgsl`.
#[derive(Clone, Copy, Debug)]
pub struct SqmGrad {
    /// The embedding.
    pub z: Mat,
    /// ∂C times the other embedding.
    pub product: Mat,
    /// Sums of ∂C over the other side.
    pub rho: Mat,
    /// The sum of all rows of the other embedding, and how many there are.
    pub others: Mat,
    pub count: u32,
    /// mean(∂C∘C).
    pub kappa: Mat,
    /// mean(S).
    pub mean: Mat,
    pub out: Mat,
}

/// Records `∂z_i = 2/mean · ((ρ_i − count·κ) z_i − product_i + κ·others)`.
pub fn record(plan: &mut Plan, op: &SqmGrad) {
    let SqmGrad { z, product, rho, others, count, kappa, mean, out } = *op;
    for other in [product, out] {
        assert_eq!((z.rows, z.cols, z.batch), (other.rows, other.cols, other.batch), "sqm_grad: sizes");
    }
    assert_eq!((rho.rows, others.cols, kappa.len(), mean.len()), (z.rows, z.cols, 1, 1), "sqm_grad: sizes");
    let params = Params {
        rows: z.rows,
        cols: z.cols,
        count: count as f32,
        z_offset: z.offset,
        z_stride: z.stride,
        product_offset: product.offset,
        product_stride: product.stride,
        rho_offset: rho.offset,
        rho_stride: rho.stride,
        others_offset: others.offset,
        others_stride: others.stride,
        kappa_offset: kappa.offset,
        kappa_stride: kappa.stride,
        mean_offset: mean.offset,
        mean_stride: mean.stride,
        out_offset: out.offset,
        out_stride: out.stride,
    };
    let buffers = [z.buf, product.buf, rho.buf, others.buf, kappa.buf, mean.buf, out.buf];
    plan.record(&KERNEL, &params, &[], &buffers, linear_grid(z.len(), 256, z.batch));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([z, product, rho, others, kappa, mean], [out]) = call.buffers();
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for b in 0..batch {
        let z = part(z, p.z_offset, p.z_stride, b, rows * cols);
        let product = part(product, p.product_offset, p.product_stride, b, rows * cols);
        let rho = part(rho, p.rho_offset, p.rho_stride, b, rows);
        let others = part(others, p.others_offset, p.others_stride, b, cols);
        let kappa = part(kappa, p.kappa_offset, p.kappa_stride, b, 1)[0];
        let mean = part(mean, p.mean_offset, p.mean_stride, b, 1)[0].max(1e-30);
        let out = part_mut(out, p.out_offset, p.out_stride, b, rows * cols);
        for (e, out) in out.iter_mut().enumerate() {
            let weight = rho[e / cols] - p.count * kappa;
            *out = 2.0 * (weight * z[e] - product[e] + kappa * others[e % cols]) / mean;
        }
    }
}

pub fn cases() -> Vec<Case> {
    let shapes = [[1, 1, 1], [2, 33, 16], [1, 20, 3]];
    shapes
        .into_iter()
        .map(|[batch, n, d]| {
            let mut case = CaseBuilder::new(format!("{batch} × {n}×{d}"));
            let z = case.random("z", [batch, n, d], -1.0, 1.0);
            let product = case.random("product", [batch, n, d], -1.0, 1.0);
            let rho = case.random("rho", [batch, n, 1], -1.0, 1.0);
            let others = case.random("others", [batch, 1, d], -3.0, 3.0);
            let kappa = case.random("kappa", [batch, 1, 1], -0.1, 0.1);
            let mean = case.random("mean", [batch, 1, 1], 1.0, 2.0);
            let out = case.gapped("out", [batch, n, d]);
            let op = SqmGrad { z, product, rho, others, count: 7, kappa, mean, out };
            record(&mut case.plan, &op);
            case.compare(&[out.buf], 1e-5)
        })
        .collect()
}
