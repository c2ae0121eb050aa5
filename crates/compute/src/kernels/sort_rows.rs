//! Every row in descending order, with where each value came from: the first step to its ranks.

use super::support::{Case, CaseBuilder};
use super::{part, part_mut, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        rows: u32, cols: u32,
        x_offset: u32, x_stride: u32,
        sorted_offset: u32, sorted_stride: u32,
        order_offset: u32, order_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "sort_rows",
    summary: "rows in descending order",
    wgsl: wgsl!("grid", => "sort_rows"),
    bindings: &[Binding::read("x"), Binding::write("sorted"), Binding::write("order")],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Records `sorted_ij = x_i,order_ij`, descending in j, for `[x, sorted, order]`. Of equal values the first comes
/// first. The columns in `order` are floats, exact below 2²⁴.
pub fn record(plan: &mut Plan, [x, sorted, order]: [Mat; 3]) {
    for other in [sorted, order] {
        assert_eq!((x.rows, x.cols, x.batch), (other.rows, other.cols, other.batch), "sort_rows: sizes");
    }
    assert!(x.cols < 1 << 24, "sort_rows: a column that a float cannot name");
    let params = Params {
        rows: x.rows,
        cols: x.cols,
        x_offset: x.offset,
        x_stride: x.stride,
        sorted_offset: sorted.offset,
        sorted_stride: sorted.stride,
        order_offset: order.offset,
        order_stride: order.stride,
    };
    let grid = linear_grid(x.rows.into(), 1, x.batch);
    plan.record(&KERNEL, &params, &[], &[x.buf, sorted.buf, order.buf], grid);
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([x], [sorted, order]) = call.buffers();
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let x = part(x, p.x_offset, p.x_stride, z, rows * cols);
        let sorted = part_mut(sorted, p.sorted_offset, p.sorted_stride, z, rows * cols);
        let order = part_mut(order, p.order_offset, p.order_stride, z, rows * cols);
        for (i, row) in x.chunks_exact(cols).enumerate() {
            for (j, from) in descending(row).into_iter().enumerate() {
                sorted[i * cols + j] = row[from];
                order[i * cols + j] = from as f32;
            }
        }
    }
}

/// The columns of a row from the largest value to the smallest, equal ones as they come.
pub(super) fn descending(row: &[f32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..row.len()).collect();
    // Adding zero makes −0 into 0, which total_cmp would tell apart.
    order.sort_by(|&a, &b| (row[b] + 0.0).total_cmp(&(row[a] + 0.0)));
    order
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    // Around powers of two, and more columns than a workgroup has lanes.
    for shape in [[1, 1, 1], [2, 5, 7], [1, 3, 64], [1, 3, 65], [1, 2, 1023], [1, 2, 2500]] {
        for levels in [0, 3] {
            let mut case = CaseBuilder::new(format!("{shape:?}, {levels} levels"));
            let x = case.random("x", shape, -1.0, 1.0);
            if levels > 0 {
                // Many equal values, among them both zeros.
                let all = case.uniform(case.plan.buffers()[x.buf.index()].len as usize, -1.5, 1.5);
                let coarse: Vec<f32> = all.into_iter().map(f32::round).collect();
                case.plan.set_initial(x.buf, &coarse);
            }
            let [sorted, order] = ["sorted", "order"].map(|label| case.gapped(label, shape));
            record(&mut case.plan, [x, sorted, order]);
            cases.push(case.compare(&[sorted.buf, order.buf], 0.0));
        }
    }
    cases
}
