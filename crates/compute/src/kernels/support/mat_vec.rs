//! What [`mat_vec`](super::super::mat_vec) and [`mat_t_vec`](super::super::mat_t_vec) have in common.

use super::{Case, CaseBuilder, at_least};
use crate::plan::{Binding, Kernel, Mat, Plan, params};

params! {
    struct MatVecParams {
        rows: u32, cols: u32,
        kind: u32,
        k_offset: u32, k_stride: u32,
        v_offset: u32, v_stride: u32,
        w_offset: u32, w_stride: u32,
        out_offset: u32, out_stride: u32,
    }
}

pub(in super::super) const BINDINGS: &[Binding] =
    &[Binding::read("k"), Binding::read("v"), Binding::read("w"), Binding::write("out")];

/// What becomes of a sum `s`, given the weight `w` of its row or column.
#[derive(Clone, Copy, Debug)]
pub enum Quotient {
    /// `s`
    Plain,
    /// `w / s`: the update of a Sinkhorn scaling.
    WeightOver(Mat),
    /// `s / w`
    OverWeight(Mat),
}

/// The smallest sum a weight is divided by.
const LEAST: f32 = 1e-30;

/// The twin of `shaders/shared/quotient.wgsl`.
pub(in super::super) fn quotient(p: &MatVecParams, s: f32, w: &[f32], z: usize, at: usize) -> f32 {
    let w = || w[p.w_offset as usize + z * p.w_stride as usize + at];
    match p.kind {
        1 => w() / at_least(LEAST, s),
        2 => s / w(),
        _ => s,
    }
}

/// Records either kernel: `k` times `v` (or its transpose), and the quotient.
pub(in super::super) fn record_mat_vec(
    plan: &mut Plan,
    kernel: &'static Kernel,
    [k, v, out]: [Mat; 3],
    quotient: Quotient,
    grid: [u32; 3],
) {
    let (kind, w) = match quotient {
        Quotient::Plain => (0, v),
        Quotient::WeightOver(w) => (1, w),
        Quotient::OverWeight(w) => (2, w),
    };
    assert!([v, out].iter().all(|vec| vec.cols == 1 && vec.batch == k.batch), "{}: vectors", kernel.name);
    assert!(kind == 0 || (w.rows == out.rows && w.batch == k.batch), "{}: weights", kernel.name);
    let params = MatVecParams {
        rows: k.rows,
        cols: k.cols,
        kind,
        k_offset: k.offset,
        k_stride: k.stride,
        v_offset: v.offset,
        v_stride: v.stride,
        w_offset: w.offset,
        w_stride: w.stride,
        out_offset: out.offset,
        out_stride: out.stride,
    };
    plan.record(kernel, &params, &[], &[k.buf, v.buf, w.buf, out.buf], grid);
}

pub(in super::super) fn mat_vec_cases(
    record: fn(&mut Plan, [Mat; 3], Quotient),
    out_is_rows: bool,
) -> Vec<Case> {
    let mut cases = Vec::new();
    for [batch, n, m] in [[1, 1, 1], [2, 7, 65], [1, 130, 3], [1, 67, 258]] {
        for kind in ["plain", "w/s", "s/w"] {
            let mut case = CaseBuilder::new(format!("{kind} {batch} × {n}×{m}"));
            let (own, other) = if out_is_rows { (n, m) } else { (m, n) };
            let k = case.random("k", [batch, n, m], 0.1, 1.0);
            let v = case.random("v", [batch, other, 1], 0.1, 1.0);
            let w = case.random("w", [batch, own, 1], 0.5, 2.0);
            let out = case.gapped("out", [batch, own, 1]);
            let quotient = match kind {
                "w/s" => Quotient::WeightOver(w),
                "s/w" => Quotient::OverWeight(w),
                _ => Quotient::Plain,
            };
            record(&mut case.plan, [k, v, out], quotient);
            cases.push(case.compare(&[out.buf], 1e-5));
        }
    }
    cases
}
