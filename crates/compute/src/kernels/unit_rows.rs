//! Rows scaled to length 1: the directions that a cosine compares.

use super::support::{Case, CaseBuilder};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        rows: u32, cols: u32,
        x_offset: u32, x_stride: u32,
        unit_offset: u32, unit_stride: u32,
        lengths_offset: u32, lengths_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "unit_rows",
    summary: "rows scaled to length one",
    wgsl: wgsl!("grid", "row_sum", => "unit_rows"),
    bindings: &[Binding::read("x"), Binding::write("unit"), Binding::write("lengths")],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// A row that is not longer has no direction.
pub(super) const LEAST: f32 = 1e-12;

/// Records `unit_i = x_i/|x_i|`, `lengths_i = |x_i|` for `[x, unit, lengths]`; a row without a direction
/// becomes zero.
pub fn record(plan: &mut Plan, [x, unit, lengths]: [Mat; 3]) {
    assert_eq!((x.rows, x.cols, x.batch), (unit.rows, unit.cols, unit.batch), "unit_rows: sizes");
    assert_eq!((x.rows, 1, x.batch), (lengths.rows, lengths.cols, lengths.batch), "unit_rows: lengths");
    let params = Params {
        rows: x.rows,
        cols: x.cols,
        x_offset: x.offset,
        x_stride: x.stride,
        unit_offset: unit.offset,
        unit_stride: unit.stride,
        lengths_offset: lengths.offset,
        lengths_stride: lengths.stride,
    };
    let grid = linear_grid(x.rows.into(), 1, x.batch);
    plan.record(&KERNEL, &params, &[], &[x.buf, unit.buf, lengths.buf], grid);
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([x], [unit, lengths]) = call.buffers();
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let x = part(x, p.x_offset, p.x_stride, z, rows * cols);
        let unit = part_mut(unit, p.unit_offset, p.unit_stride, z, rows * cols);
        let lengths = part_mut(lengths, p.lengths_offset, p.lengths_stride, z, rows);
        for ((x, unit), length) in x.chunks_exact(cols).zip(unit.chunks_exact_mut(cols)).zip(lengths) {
            *length = x.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>().sqrt() as f32;
            let scale = if *length > LEAST { 1.0 / *length } else { 0.0 };
            unit.iter_mut().zip(x).for_each(|(unit, x)| *unit = scale * x);
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for [batch, n, d] in [[1, 1, 1], [2, 9, 16], [1, 70, 130]] {
        // The second of each has no directions at all.
        for high in [1.0, 0.0] {
            let mut case = CaseBuilder::new(format!("{batch} × {n}×{d}, up to {high}"));
            let x = case.random("x", [batch, n, d], -high, high);
            let unit = case.gapped("unit", [batch, n, d]);
            let lengths = case.gapped("lengths", [batch, n, 1]);
            record(&mut case.plan, [x, unit, lengths]);
            cases.push(case.compare(&[unit.buf, lengths.buf], 1e-5));
        }
    }
    cases
}
