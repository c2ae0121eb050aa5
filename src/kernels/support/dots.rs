//! What [`row_dots`](super::super::row_dots) and [`col_dots`](super::super::col_dots) have in common.

use super::{Case, CaseBuilder};
use crate::plan::{Binding, Kernel, Mat, Plan, params};

params! {
    struct DotsParams {
        rows: u32, cols: u32,
        a_offset: u32, a_stride: u32,
        b_offset: u32, b_stride: u32,
        out_offset: u32, out_stride: u32,
    }
}

pub(in super::super) const BINDINGS: &[Binding] =
    &[Binding::read("a"), Binding::read("b"), Binding::write("out")];

pub(in super::super) fn record_dots(
    plan: &mut Plan,
    kernel: &'static Kernel,
    [a, b, out]: [Mat; 3],
    grid: [u32; 3],
) {
    assert_eq!((a.rows, a.cols, a.batch), (b.rows, b.cols, b.batch), "{}: sizes", kernel.name);
    assert!(out.cols == 1 && out.batch == a.batch, "{}: result", kernel.name);
    let params = DotsParams {
        rows: a.rows,
        cols: a.cols,
        a_offset: a.offset,
        a_stride: a.stride,
        b_offset: b.offset,
        b_stride: b.stride,
        out_offset: out.offset,
        out_stride: out.stride,
    };
    plan.record(kernel, &params, &[], &[a.buf, b.buf, out.buf], grid);
}

pub(in super::super) fn dots_cases(record: fn(&mut Plan, [Mat; 3]), out_is_rows: bool) -> Vec<Case> {
    let shapes = [[1, 1, 1], [2, 9, 70], [1, 131, 66]];
    shapes
        .into_iter()
        .map(|[batch, n, m]| {
            let mut case = CaseBuilder::new(format!("{batch} × {n}×{m}"));
            let a = case.random("a", [batch, n, m], -1.0, 1.0);
            let b = case.random("b", [batch, n, m], -1.0, 1.0);
            let out = case.gapped("out", [batch, if out_is_rows { n } else { m }, 1]);
            record(&mut case.plan, [a, b, out]);
            case.compare(&[out.buf], 1e-5)
        })
        .collect()
}
