//! Row reductions: sum, maximum, sum of squares, sum of absolute values.

use super::support::{Case, CaseBuilder, sum_of};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        rows: u32, cols: u32,
        scale: f32,
        x_offset: u32, x_stride: u32,
        out_offset: u32, out_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "reduce",
    summary: "row sums, maxima, sums of squares and of absolute values",
    wgsl: wgsl!("grid", => "reduce"),
    bindings: &[Binding::read("x"), Binding::write("out")],
    params: Params::FIELDS,
    constants: &["OPERATION"],
    twin,
};

/// The numbers are the values of the pipeline constant `OPERATION`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Sum = 0,
    Max = 1,
    SumSquares = 2,
    SumAbs = 3,
}

const MAX: u32 = Operation::Max as u32;
const SUM_SQUARES: u32 = Operation::SumSquares as u32;
const SUM_ABS: u32 = Operation::SumAbs as u32;

/// Records `out_i = scale · operation over j of x_ij`; `out` is a column vector. A whole matrix is
/// reduced by giving it the shape of one row.
pub fn record(plan: &mut Plan, operation: Operation, scale: f32, x: Mat, out: Mat) {
    assert_eq!((out.rows, out.cols, out.batch), (x.rows, 1, x.batch), "reduce: sizes");
    let params = Params {
        rows: x.rows,
        cols: x.cols,
        scale,
        x_offset: x.offset,
        x_stride: x.stride,
        out_offset: out.offset,
        out_stride: out.stride,
    };
    let grid = linear_grid(x.rows.into(), 1, x.batch);
    plan.record(&KERNEL, &params, &[operation as u32], &[x.buf, out.buf], grid);
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let operation = call.constant(0);
    let batch = call.batch();
    let ([x], [out]) = call.buffers();
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let x = part(x, p.x_offset, p.x_stride, z, rows * cols);
        let out = part_mut(out, p.out_offset, p.out_stride, z, rows);
        for (out, row) in out.iter_mut().zip(x.chunks_exact(cols)) {
            *out = p.scale
                * match operation {
                    MAX => row.iter().copied().fold(-3e38, f32::max),
                    SUM_ABS => blockwise(row, f32::abs),
                    SUM_SQUARES => blockwise(row, |v| v * v),
                    _ => blockwise(row, |v| v),
                };
        }
    }
}

/// Blocks in lanes, their sums in float64: as good as float64 throughout, and SIMD.
fn blockwise(row: &[f32], f: impl Fn(f32) -> f32) -> f32 {
    row.chunks(1024).map(|block| f64::from(sum_of(block, block, |v, _| f(v)))).sum::<f64>() as f32
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for shape in [[1, 1, 1], [2, 3, 255], [1, 70, 257], [3, 5, 1], [1, 1, 5000]] {
        for operation in [Operation::Sum, Operation::Max, Operation::SumSquares, Operation::SumAbs] {
            let mut case = CaseBuilder::new(format!("{operation:?} {shape:?}"));
            // All below zero: a maximum that starts at zero would show.
            let x = case.random("x", shape, -2.0, -0.5);
            let out = case.gapped("out", [shape[0], shape[1], 1]);
            record(&mut case.plan, operation, 0.25, x, out);
            cases.push(case.compare(&[out.buf], 1e-5));
        }
    }
    cases
}
