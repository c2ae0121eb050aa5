//! The gradient through [`soft_rank`](super::soft_rank).

use super::soft_rank::{Blocks, random_ranks, rank_cases};
use super::support::{Case, CaseBuilder};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        rows: u32, cols: u32,
        order_offset: u32, order_stride: u32,
        blocks_offset: u32, blocks_stride: u32,
        width_offset: u32, width_stride: u32,
        grad_offset: u32, grad_stride: u32,
        out_offset: u32, out_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "soft_rank_grad",
    summary: "gradient through soft ranks",
    wgsl: wgsl!("grid", => "soft_rank_grad"),
    bindings: &[
        Binding::read("order"),
        Binding::read("blocks"),
        Binding::read("width"),
        Binding::read("grad"),
        Binding::write("out"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Records `out`, the gradient of the values, from `grad`, that of the ranks which
/// [`soft_rank`](super::soft_rank) left with these blocks.
pub fn record(plan: &mut Plan, op: &Blocks, grad: Mat, out: Mat) {
    let Blocks { order, blocks, width, .. } = *op;
    for other in [blocks, grad, out] {
        assert_eq!(
            (order.rows, order.cols, order.batch),
            (other.rows, other.cols, other.batch),
            "soft_rank_grad: sizes"
        );
    }
    assert_eq!((width.len(), width.batch), (1, order.batch), "soft_rank_grad: width");
    let params = Params {
        rows: order.rows,
        cols: order.cols,
        order_offset: order.offset,
        order_stride: order.stride,
        blocks_offset: blocks.offset,
        blocks_stride: blocks.stride,
        width_offset: width.offset,
        width_stride: width.stride,
        grad_offset: grad.offset,
        grad_stride: grad.stride,
        out_offset: out.offset,
        out_stride: out.stride,
    };
    let grid = linear_grid(order.rows.into(), 1, order.batch);
    plan.record(&KERNEL, &params, &[], &[order.buf, blocks.buf, width.buf, grad.buf, out.buf], grid);
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([order, blocks, width, grad], [out]) = call.buffers();
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let order = part(order, p.order_offset, p.order_stride, z, rows * cols);
        let blocks = part(blocks, p.blocks_offset, p.blocks_stride, z, rows * cols);
        let width = part(width, p.width_offset, p.width_stride, z, 1)[0].max(1e-30);
        let grad = part(grad, p.grad_offset, p.grad_stride, z, rows * cols);
        let out = part_mut(out, p.out_offset, p.out_stride, z, rows * cols);
        for at in (0..rows).map(|i| i * cols) {
            let (grad, out) = (&grad[at..][..cols], &mut out[at..][..cols]);
            let mut first = 0;
            while first < cols {
                let last = blocks[at + first] as usize;
                let block = || order[at + first..=at + last].iter().map(|&j| j as usize);
                let sum: f64 = block().map(|j| f64::from(grad[j])).sum();
                let mean = (sum / (last + 1 - first) as f64) as f32;
                block().for_each(|j| out[j] = (grad[j] - mean) / width);
                first = last + 1;
            }
        }
    }
}

pub fn cases() -> Vec<Case> {
    let record = |case: &mut CaseBuilder, shape, width| {
        let (op, _) = random_ranks(case, shape, width);
        let grad = case.random("grad", shape, -1.0, 1.0);
        let out = case.gapped("out", shape);
        record(&mut case.plan, &op, grad, out);
        vec![out]
    };
    rank_cases(record, 1e-5)
}
