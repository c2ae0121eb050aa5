//! Squared distances from inner products, and their row sums.

use super::support::{Case, CaseBuilder, sum as lanes_sum};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        rows: u32, cols: u32,
        x2_offset: u32, x2_stride: u32,
        y2_offset: u32, y2_stride: u32,
        s_offset: u32, s_stride: u32,
        sums_offset: u32, sums_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "sqm_rows",
    summary: "squared distances and their row sums",
    wgsl: wgsl!("grid", "row_sum", => "sqm_rows"),
    bindings: &[Binding::read("x2"), Binding::read("y2"), Binding::write("s"), Binding::write("sums")],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Records `S_ij ← x2_i + y2_j + S_ij`, `sums = S·1` for `[x2, y2, S, sums]`.
pub fn record(plan: &mut Plan, [x2, y2, s, sums]: [Mat; 4]) {
    assert_eq!((x2.rows, y2.rows, sums.rows), (s.rows, s.cols, s.rows), "sqm_rows: sizes");
    let params = Params {
        rows: s.rows,
        cols: s.cols,
        x2_offset: x2.offset,
        x2_stride: x2.stride,
        y2_offset: y2.offset,
        y2_stride: y2.stride,
        s_offset: s.offset,
        s_stride: s.stride,
        sums_offset: sums.offset,
        sums_stride: sums.stride,
    };
    let grid = linear_grid(s.rows.into(), 1, s.batch);
    plan.record(&KERNEL, &params, &[], &[x2.buf, y2.buf, s.buf, sums.buf], grid);
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([x2, y2], [s, sums]) = call.buffers();
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let x2 = part(x2, p.x2_offset, p.x2_stride, z, rows);
        let y2 = part(y2, p.y2_offset, p.y2_stride, z, cols);
        let s = part_mut(s, p.s_offset, p.s_stride, z, rows * cols);
        let sums = part_mut(sums, p.sums_offset, p.sums_stride, z, rows);
        for ((row, x2), sum) in s.chunks_exact_mut(cols).zip(x2).zip(sums) {
            row.iter_mut().zip(y2).for_each(|(s, y2)| *s = (x2 + y2 + *s).max(0.0));
            *sum = lanes_sum(row);
        }
    }
}

pub fn cases() -> Vec<Case> {
    let shapes = [[1, 1, 1], [2, 7, 65], [1, 70, 130]];
    shapes
        .into_iter()
        .map(|[batch, n, m]| {
            let mut case = CaseBuilder::new(format!("{batch} × {n}×{m}"));
            let x2 = case.random("x2", [batch, n, 1], 0.0, 1.0);
            let y2 = case.random("y2", [batch, m, 1], 0.0, 1.0);
            let s = case.random("s", [batch, n, m], -1.0, 1.0);
            let sums = case.gapped("sums", [batch, n, 1]);
            record(&mut case.plan, [x2, y2, s, sums]);
            case.compare(&[s.buf, sums.buf], 1e-5)
        })
        .collect()
}
