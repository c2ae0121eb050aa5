// Soft ranks of every row (Blondel et al. 2020), within (0, 1], the largest value near 1: the projection of θ/w
// onto the permutahedron of (n, …, 1)/n. With the row in descending order,
//   z_j = θ_j / w,   y_j = z_j − (n − j)/n,   v the non-increasing fit of y,   rank_j = z_j − v_j
// The fit is constant on blocks, where it is the mean of y. Neighbouring blocks that are out of order are
// pooled until none is, in any sequence: each lane starts with a stretch of its own, then stretches are joined
// two by two. One workgroup a row.
//
// Blocks are kept where they begin and end: `sums` at the first position, `blocks` the last position at the
// first and the first at the last (a block of one holds itself), −1 in between.

struct Params {
    rows: u32, cols: u32,
    sorted_offset: u32, sorted_stride: u32,
    order_offset: u32, order_stride: u32,
    width_offset: u32, width_stride: u32,
    ranks_offset: u32, ranks_stride: u32,
    blocks_offset: u32, blocks_stride: u32,
    sums_offset: u32, sums_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> sorted: array<f32>;
@group(0) @binding(2) var<storage, read> order: array<f32>;
@group(0) @binding(3) var<storage, read> width: array<f32>;
@group(0) @binding(4) var<storage, read_write> ranks: array<f32>;
@group(0) @binding(5) var<storage, read_write> blocks: array<f32>;
@group(0) @binding(6) var<storage, read_write> sums: array<f32>;

const LANES = 64u;
const INSIDE = -1.0;

// Pools the block that begins at `start` with its neighbours within [low, high) until it is in order.
fn pool(blocks_row: u32, sums_row: u32, start: u32, low: u32, high: u32) {
    var first = start;
    var last = u32(blocks[blocks_row + first]);
    var sum = sums[sums_row + first];
    loop {
        let mean = sum / f32(last - first + 1u);
        if first > low {
            let before = u32(blocks[blocks_row + first - 1u]);
            let other = sums[sums_row + before];
            if other / f32(first - before) <= mean {
                blocks[blocks_row + first - 1u] = INSIDE;
                blocks[blocks_row + first] = INSIDE;
                sum += other;
                first = before;
                continue;
            }
        }
        if last + 1u < high {
            let end = u32(blocks[blocks_row + last + 1u]);
            let other = sums[sums_row + last + 1u];
            if mean <= other / f32(end - last) {
                blocks[blocks_row + last] = INSIDE;
                blocks[blocks_row + last + 1u] = INSIDE;
                sum += other;
                last = end;
                continue;
            }
        }
        break;
    }
    blocks[blocks_row + first] = f32(last);
    blocks[blocks_row + last] = f32(first);
    sums[sums_row + first] = sum;
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = linear_group(group, groups);
    if i >= p.rows { return; }
    let n = p.cols;
    let sorted_row = p.sorted_offset + group.z * p.sorted_stride + i * n;
    let order_row = p.order_offset + group.z * p.order_stride + i * n;
    let ranks_row = p.ranks_offset + group.z * p.ranks_stride + i * n;
    let blocks_row = p.blocks_offset + group.z * p.blocks_stride + i * n;
    let sums_row = p.sums_offset + group.z * p.sums_stride + i * n;
    let w = max(width[p.width_offset + group.z * p.width_stride], 1e-30);

    let stretch = (n + LANES - 1u) / LANES;
    let low = lane * stretch;
    for (var j = low; j < min(low + stretch, n); j += 1u) {
        sums[sums_row + j] = sorted[sorted_row + j] / w - f32(n - j) / f32(n);
        blocks[blocks_row + j] = f32(j);
        pool(blocks_row, sums_row, j, low, j + 1u);
    }
    for (var reach = 1u; reach < LANES; reach *= 2u) {
        storageBarrier();
        let middle = low + reach * stretch;
        if lane % (2u * reach) == 0u && middle < n {
            pool(blocks_row, sums_row, middle, low, min(middle + reach * stretch, n));
        }
    }
    storageBarrier();

    for (var first = lane; first < n; first += LANES) {
        if blocks[blocks_row + first] < f32(first) { continue; }
        let last = u32(blocks[blocks_row + first]);
        let mean = sums[sums_row + first] / f32(last - first + 1u);
        for (var j = first; j <= last; j += 1u) {
            ranks[ranks_row + u32(order[order_row + j])] = sorted[sorted_row + j] / w - mean;
        }
    }
}
