//! How far a matrix has moved since it was last looked at, so that a host can tell when iterations have
//! converged without reading the matrix.

use super::support::{Case, CaseBuilder};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        rows: u32, cols: u32,
        x_offset: u32, x_stride: u32,
        kept_offset: u32, kept_stride: u32,
        sums_offset: u32, sums_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "change",
    summary: "change of a matrix since the last look",
    wgsl: wgsl!("grid", "row_sum", => "change"),
    bindings: &[Binding::read("x"), Binding::write("kept"), Binding::write("sums")],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Records `sums_i = Σ_j |x_ij − kept_ij|` and `kept ← x` for `[x, kept, sums]`.
///
/// Differences are taken element by element: from norms and an inner product, `|x|² − 2⟨x, kept⟩ + |kept|²`
/// would lose in float32 every change below a thousandth.
pub fn record(plan: &mut Plan, [x, kept, sums]: [Mat; 3]) {
    assert_eq!((kept.rows, kept.cols, kept.batch), (x.rows, x.cols, x.batch), "change: sizes");
    assert_eq!((sums.rows, sums.cols, sums.batch), (x.rows, 1, x.batch), "change: sums");
    let params = Params {
        rows: x.rows,
        cols: x.cols,
        x_offset: x.offset,
        x_stride: x.stride,
        kept_offset: kept.offset,
        kept_stride: kept.stride,
        sums_offset: sums.offset,
        sums_stride: sums.stride,
    };
    let grid = linear_grid(x.rows.into(), 1, x.batch);
    plan.record(&KERNEL, &params, &[], &[x.buf, kept.buf, sums.buf], grid);
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([x], [kept, sums]) = call.buffers();
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let x = part(x, p.x_offset, p.x_stride, z, rows * cols);
        let kept = part_mut(kept, p.kept_offset, p.kept_stride, z, rows * cols);
        let sums = part_mut(sums, p.sums_offset, p.sums_stride, z, rows);
        for ((sum, x), kept) in sums.iter_mut().zip(x.chunks_exact(cols)).zip(kept.chunks_exact_mut(cols)) {
            *sum = x.iter().zip(&*kept).map(|(x, kept)| (x - kept).abs()).sum();
            kept.copy_from_slice(x);
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for [batch, n, m] in [[1, 1, 1], [2, 9, 70], [1, 131, 66]] {
        for repeats in [1, 2] {
            let mut case = CaseBuilder::new(format!("{batch} × {n}×{m}, look {repeats}"));
            let x = case.random("x", [batch, n, m], -1.0, 1.0);
            let kept = case.random("kept", [batch, n, m], -1.0, 1.0);
            let sums = case.gapped("sums", [batch, n, 1]);
            record(&mut case.plan, [x, kept, sums]);
            // At the second look nothing has changed.
            cases.push(case.compare_after(repeats, &[kept.buf, sums.buf], 1e-5));
        }
    }
    cases
}
