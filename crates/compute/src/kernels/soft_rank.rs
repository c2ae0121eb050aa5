//! Soft ranks within each row: ranks that a gradient can pass through.

use super::sort_rows::descending;
use super::support::{Case, CaseBuilder};
use super::{part, part_mut, sort_rows, wgsl};
use crate::plan::{Binding, Call, Kernel, Mat, Params as _, Plan, linear_grid, params};

params! {
    struct Params {
        rows: u32, cols: u32,
        sorted_offset: u32, sorted_stride: u32,
        order_offset: u32, order_stride: u32,
        width_offset: u32, width_stride: u32,
        ranks_offset: u32, ranks_stride: u32,
        blocks_offset: u32, blocks_stride: u32,
        sums_offset: u32, sums_stride: u32,
    }
}

pub static KERNEL: Kernel = Kernel {
    name: "soft_rank",
    summary: "soft ranks within each row",
    wgsl: wgsl!("grid", => "soft_rank"),
    bindings: &[
        Binding::read("sorted"),
        Binding::read("order"),
        Binding::read("width"),
        Binding::write("ranks"),
        Binding::write("blocks"),
        Binding::write("sums"),
    ],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// What `blocks` holds inside a block.
const INSIDE: f32 = -1.0;

/// The rows in descending order, as [`sort_rows`] leaves them, and the blocks on which their soft ranks are θ/w
/// plus a constant; what the way back needs.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    pub sorted: Mat,
    pub order: Mat,
    /// w for every fit, 1×1. In the paper's notation w = δ·n.
    pub width: Mat,
    /// At the first position of a block its last and the reverse, −1 in between.
    pub blocks: Mat,
}

impl Blocks {
    /// Room for the blocks of rows of this shape, to be filled by [`sort_rows`] and [`record`].
    pub fn new(plan: &mut Plan, shape: Mat, width: Mat) -> Self {
        let mut room = |label| plan.mats(label, shape.batch, shape.rows, shape.cols);
        Self { sorted: room("sorted rows"), order: room("order of the rows"), width, blocks: room("blocks") }
    }
}

/// Records the ranks of sorted rows, scattered back to where the values came from. The formula stands in
/// `shaders/soft_rank.wgsl`.
pub fn record(plan: &mut Plan, op: &Blocks, ranks: Mat) {
    let Blocks { sorted, order, width, blocks } = *op;
    for other in [order, blocks, ranks] {
        assert_eq!(
            (sorted.rows, sorted.cols, sorted.batch),
            (other.rows, other.cols, other.batch),
            "soft_rank: sizes"
        );
    }
    assert_eq!((width.len(), width.batch), (1, sorted.batch), "soft_rank: width");
    let sums = plan.mats("block sums", sorted.batch, sorted.rows, sorted.cols);
    let params = Params {
        rows: sorted.rows,
        cols: sorted.cols,
        sorted_offset: sorted.offset,
        sorted_stride: sorted.stride,
        order_offset: order.offset,
        order_stride: order.stride,
        width_offset: width.offset,
        width_stride: width.stride,
        ranks_offset: ranks.offset,
        ranks_stride: ranks.stride,
        blocks_offset: blocks.offset,
        blocks_stride: blocks.stride,
        sums_offset: sums.offset,
        sums_stride: sums.stride,
    };
    let buffers = [sorted.buf, order.buf, width.buf, ranks.buf, blocks.buf, sums.buf];
    let grid = linear_grid(sorted.rows.into(), 1, sorted.batch);
    plan.record(&KERNEL, &params, &[], &buffers, grid);
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let batch = call.batch();
    let ([sorted, order, width], [ranks, blocks, _]) = call.buffers();
    let (rows, cols) = (p.rows as usize, p.cols as usize);
    for z in 0..batch {
        let sorted = part(sorted, p.sorted_offset, p.sorted_stride, z, rows * cols);
        let order = part(order, p.order_offset, p.order_stride, z, rows * cols);
        let width = part(width, p.width_offset, p.width_stride, z, 1)[0].max(1e-30);
        let ranks = part_mut(ranks, p.ranks_offset, p.ranks_stride, z, rows * cols);
        let blocks = part_mut(blocks, p.blocks_offset, p.blocks_stride, z, rows * cols);
        for at in (0..rows).map(|i| i * cols) {
            let (sorted, order) = (&sorted[at..][..cols], &order[at..][..cols]);
            let (ranks, blocks) = (&mut ranks[at..][..cols], &mut blocks[at..][..cols]);
            for (first, last, mean) in fit(sorted, width) {
                blocks[first..=last].fill(INSIDE);
                blocks[first] = last as f32;
                blocks[last] = first as f32;
                for j in first..=last {
                    ranks[order[j] as usize] = (f64::from(sorted[j]) / f64::from(width) - mean) as f32;
                }
            }
        }
    }
}

/// The non-increasing fit to `y_j = θ_j/w − (n − j)/n`, block by block: first and last position, mean.
fn fit(sorted: &[f32], width: f32) -> Vec<(usize, usize, f64)> {
    let n = sorted.len();
    let mut blocks: Vec<(usize, usize, f64)> = Vec::new();
    for (j, theta) in sorted.iter().enumerate() {
        let mut block = (j, j, f64::from(*theta) / f64::from(width) - (n - j) as f64 / n as f64);
        while let Some(&(first, last, mean)) = blocks.last().filter(|before| before.2 <= block.2) {
            let [own, other] = [block.1 + 1 - block.0, last + 1 - first].map(|count| count as f64);
            block = (first, block.1, (own * block.2 + other * mean) / (own + other));
            blocks.pop();
        }
        blocks.push(block);
    }
    blocks
}

/// The soft ranks of one row on the host, for what is constant during a run.
pub fn soft_ranks(row: &[f32], width: f32) -> Vec<f32> {
    let order = descending(row);
    let sorted: Vec<f32> = order.iter().map(|&j| row[j]).collect();
    let mut ranks = vec![0.0; row.len()];
    for (first, last, mean) in fit(&sorted, width) {
        for j in first..=last {
            ranks[order[j]] = (f64::from(sorted[j]) / f64::from(width) - mean) as f32;
        }
    }
    ranks
}

/// Records sorting and ranking of random rows within [0, 1).
pub(super) fn random_ranks(case: &mut CaseBuilder, shape: [u32; 3], width: f32) -> (Blocks, Mat) {
    let x = case.random("x", shape, 0.0, 1.0);
    let width = case.random("width", [shape[0], 1, 1], 0.8 * width, 1.2 * width);
    let [sorted, order, blocks, ranks] =
        ["sorted", "order", "blocks", "ranks"].map(|label| case.gapped(label, shape));
    sort_rows::record(&mut case.plan, [x, sorted, order]);
    let op = Blocks { sorted, order, width, blocks };
    record(&mut case.plan, &op, ranks);
    (op, ranks)
}

/// Shapes with fewer, as many and more columns than lanes, and widths from single blocks to one for all.
pub(super) fn rank_cases(
    record: impl Fn(&mut CaseBuilder, [u32; 3], f32) -> Vec<Mat>,
    tolerance: f32,
) -> Vec<Case> {
    let mut cases = Vec::new();
    for shape in [[1, 1, 1], [2, 9, 7], [1, 3, 64], [2, 5, 65], [1, 3, 300]] {
        for width in [0.02, 0.3, 5.0] {
            let mut case = CaseBuilder::new(format!("{shape:?}, width {width}"));
            let outputs: Vec<_> = record(&mut case, shape, width).into_iter().map(|mat| mat.buf).collect();
            cases.push(case.compare(&outputs, tolerance));
        }
    }
    cases
}

pub fn cases() -> Vec<Case> {
    let record = |case: &mut CaseBuilder, shape, width| {
        let (op, ranks) = random_ranks(case, shape, width);
        vec![ranks, op.blocks]
    };
    rank_cases(record, 1e-5)
}
