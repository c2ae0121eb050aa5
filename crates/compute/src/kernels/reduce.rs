//! Row reductions: sum, maximum, sum of squares, sum of absolute differences.

use super::support::{Case, CaseBuilder, sum_of};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        rows: u32, cols: u32,
        scale: f32,
        x_offset: u32, x_stride: u32,
        y_offset: u32, y_stride: u32,
        out_offset: u32, out_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "reduce",
    summary: "row sums, maxima, sums of squares and of differences",
    wgsl: wgsl!("grid", => "reduce"),
    bindings: &[Binding::read("x"), Binding::read("y"), Binding::write("out")],
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
}

const MAX: u32 = Operation::Max as u32;
const SUM_SQUARES: u32 = Operation::SumSquares as u32;
/// Σ |x − y|, the operation of [`record_apart`].
const APART: u32 = 3;

/// Records `out_i = scale · operation over j of x_ij`; `out` is a column vector. A whole matrix is
/// reduced by giving it the shape of one row.
pub fn record(plan: &mut Plan, operation: Operation, scale: f32, x: Mat, out: Mat) {
    // One operand is enough; the other binding is not read.
    record_words(plan, operation as u32, scale, [x, x], out);
}

/// Records `out_i = scale · Σ_j |x_ij − y_ij|` for `[x, y]`.
pub fn record_apart(plan: &mut Plan, scale: f32, operands: [Mat; 2], out: Mat) {
    record_words(plan, APART, scale, operands, out);
}

fn record_words(plan: &mut Plan, operation: u32, scale: f32, [x, y]: [Mat; 2], out: Mat) {
    assert_eq!((x.rows, x.cols, x.batch), (y.rows, y.cols, y.batch), "reduce: operands");
    assert_eq!((out.rows, out.cols, out.batch), (x.rows, 1, x.batch), "reduce: sizes");
    let params = Params {
        rows: x.rows,
        cols: x.cols,
        scale,
        x_offset: x.offset,
        x_stride: x.stride,
        y_offset: y.offset,
        y_stride: y.stride,
        out_offset: out.offset,
        out_stride: out.stride,
    };
    let grid = linear_grid(x.rows.into(), 1, x.batch);
    plan.record(&KERNEL, &params, &[operation], &[x.buf, y.buf, out.buf], grid);
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let operation = call.constant(0);
    let batch = call.batch();
    let ([x, y], [out]) = call.buffers();
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let x = part(x, p.x_offset, p.x_stride, z, rows * cols);
        let y = part(y, p.y_offset, p.y_stride, z, rows * cols);
        let out = part_mut(out, p.out_offset, p.out_stride, z, rows);
        for ((out, row), other) in out.iter_mut().zip(x.chunks_exact(cols)).zip(y.chunks_exact(cols)) {
            *out = p.scale
                * match operation {
                    MAX => row.iter().copied().fold(-3e38, f32::max),
                    APART => blockwise(row, other, |x, y| (x - y).abs()),
                    SUM_SQUARES => blockwise(row, row, |v, _| v * v),
                    _ => blockwise(row, row, |v, _| v),
                };
        }
    }
}

/// Blocks in lanes, their sums in float64: as good as float64 throughout, and SIMD.
fn blockwise(x: &[f32], y: &[f32], f: impl Fn(f32, f32) -> f32) -> f32 {
    x.chunks(1024).zip(y.chunks(1024)).map(|(x, y)| f64::from(sum_of(x, y, &f))).sum::<f64>() as f32
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for shape in [[1, 1, 1], [2, 3, 255], [1, 70, 257], [3, 5, 1], [1, 1, 5000]] {
        for operation in [Operation::Sum, Operation::Max, Operation::SumSquares] {
            let mut case = CaseBuilder::new(format!("{operation:?} {shape:?}"));
            // All below zero: a maximum that starts at zero would show.
            let x = case.random("x", shape, -2.0, -0.5);
            let out = case.gapped("out", [shape[0], shape[1], 1]);
            record(&mut case.plan, operation, 0.25, x, out);
            cases.push(case.compare(&[out.buf], 1e-5));
        }
        let mut case = CaseBuilder::new(format!("apart {shape:?}"));
        let operands = ["x", "y"].map(|label| case.random(label, shape, -2.0, 2.0));
        let out = case.gapped("out", [shape[0], shape[1], 1]);
        record_apart(&mut case.plan, 0.25, operands, out);
        cases.push(case.compare(&[out.buf], 1e-5));
    }
    cases
}
