//! The gradients of both embeddings through the mean-normalised squared distance.

use super::support::{Case, CaseBuilder};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        n: u32, m: u32, d: u32,
        sides_offset: u32, sides_stride: u32,
        products_offset: u32, products_stride: u32,
        moments_offset: u32, moments_stride: u32,
        inner_offset: u32, inner_stride: u32,
        dz_offset: u32, dz_stride: u32,
        dw_offset: u32, dw_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "sqm_grad",
    summary: "gradients through the normalised cost",
    wgsl: wgsl!("grid", => "sqm_grad"),
    bindings: &[
        Binding::read("sides"),
        Binding::read("products"),
        Binding::read("moments"),
        Binding::read("inner"),
        Binding::write("dz"),
        Binding::write("dw"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// The operands of [`record`]; the formula stands in `shaders/sqm_grad.wgsl`.
#[derive(Clone, Copy, Debug)]
pub struct SqmGrad {
    /// The rows of [`sqm_sides`](super::sqm_sides).
    pub sides: Mat,
    /// ∂C times the rows of w, and below it ∂Cᵀ times those of z.
    pub products: Mat,
    pub moments: Mat,
    /// The inner product of the upper halves of `sides` and `products`, 1×1.
    pub inner: Mat,
    pub dz: Mat,
    pub dw: Mat,
}

/// Records both gradients.
pub fn record(plan: &mut Plan, op: &SqmGrad) {
    let SqmGrad { sides, products, moments, inner, dz, dw } = *op;
    let (n, m, d) = (dz.rows, dw.rows, dz.cols);
    for rows in [sides, products] {
        assert_eq!((rows.rows, rows.cols, rows.batch), (n + m, d + 2, dz.batch), "sqm_grad: rows");
    }
    assert_eq!((dw.cols, moments.cols, inner.len()), (d, 3 * d + 1, 1), "sqm_grad: sizes");
    let params = Params {
        n,
        m,
        d,
        sides_offset: sides.offset,
        sides_stride: sides.stride,
        products_offset: products.offset,
        products_stride: products.stride,
        moments_offset: moments.offset,
        moments_stride: moments.stride,
        inner_offset: inner.offset,
        inner_stride: inner.stride,
        dz_offset: dz.offset,
        dz_stride: dz.stride,
        dw_offset: dw.offset,
        dw_stride: dw.stride,
    };
    let buffers = [sides.buf, products.buf, moments.buf, inner.buf, dz.buf, dw.buf];
    plan.record(&KERNEL, &params, &[], &buffers, linear_grid(dz.len() + dw.len(), 256, dz.batch));
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([sides, products, moments, inner], [dz, dw]) = call.buffers();
    let (n, m, d) = (p.n as usize, p.m as usize, p.d as usize);
    for b in 0..batch {
        let rows = (n + m) * (d + 2);
        let sides = part(sides, p.sides_offset, p.sides_stride, b, rows);
        let products = part(products, p.products_offset, p.products_stride, b, rows);
        let moments = part(moments, p.moments_offset, p.moments_stride, b, 3 * d + 1);
        let (sum_z, sum_w, scale) = (&moments[d..2 * d], &moments[2 * d..3 * d], moments[3 * d]);
        let inner = part(inner, p.inner_offset, p.inner_stride, b, 1)[0];
        let dz = part_mut(dz, p.dz_offset, p.dz_stride, b, n * d);
        let dw = part_mut(dw, p.dw_offset, p.dw_stride, b, m * d);
        let (above, below) = (..n * (d + 2), n * (d + 2)..);
        for (out, own, products, others, column, count) in [
            (dz, &sides[above], &products[above], sum_w, d, n),
            (dw, &sides[below.clone()], &products[below], sum_z, d + 1, m),
        ] {
            let share = -inner / count as f32;
            let kappa = share / (n + m - count) as f32;
            let rows = own.chunks_exact(d + 2).zip(products.chunks_exact(d + 2));
            for (out, (own, product)) in out.chunks_exact_mut(d).zip(rows) {
                let weight = product[column] - share;
                for (((out, own), product), others) in out.iter_mut().zip(own).zip(product).zip(others) {
                    *out = scale * (weight * own - product + kappa * others);
                }
            }
        }
    }
}

pub fn cases() -> Vec<Case> {
    let shapes = [[1, 1, 1, 1], [2, 33, 20, 16], [1, 20, 71, 3]];
    shapes
        .into_iter()
        .map(|[batch, n, m, d]| {
            let mut case = CaseBuilder::new(format!("{batch} × {n} and {m} of {d}"));
            let [sides, products] =
                ["sides", "products"].map(|label| case.random(label, [batch, n + m, d + 2], -1.0, 1.0));
            let moments = case.random("moments", [batch, 1, 3 * d + 1], 0.5, 2.0);
            let inner = case.random("inner", [batch, 1, 1], 5.0, 9.0);
            let [dz, dw] = [("dz", n), ("dw", m)].map(|(label, rows)| case.gapped(label, [batch, rows, d]));
            record(&mut case.plan, &SqmGrad { sides, products, moments, inner, dz, dw });
            case.compare(&[dz.buf, dw.buf], 1e-5)
        })
        .collect()
}
