// Every row in descending order, and where each value came from; of equal values the first comes first, so
// that the order is the same on every device. Columns are kept as floats, exact below 2²⁴.
//
// Batcher's bitonic network in the form in which every exchange puts the larger value first: values beyond the
// end of a row would stay there, so rows of any length work. One workgroup a row, in storage: a row may be
// longer than workgroup memory.

struct Params {
    rows: u32, cols: u32,
    x_offset: u32, x_stride: u32,
    sorted_offset: u32, sorted_stride: u32,
    order_offset: u32, order_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> sorted: array<f32>;
@group(0) @binding(3) var<storage, read_write> order: array<f32>;

const LANES = 256u;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = linear_group(group, groups);
    if i >= p.rows { return; }
    let x_row = p.x_offset + group.z * p.x_stride + i * p.cols;
    let sorted_row = p.sorted_offset + group.z * p.sorted_stride + i * p.cols;
    let order_row = p.order_offset + group.z * p.order_stride + i * p.cols;
    for (var j = lane; j < p.cols; j += LANES) {
        sorted[sorted_row + j] = x[x_row + j];
        order[order_row + j] = f32(j);
    }
    storageBarrier();

    for (var run = 2u; run < 2u * p.cols; run *= 2u) {
        for (var gap = run / 2u; gap > 0u; gap /= 2u) {
            for (var pair = lane; 2u * gap * (pair / gap) < p.cols; pair += LANES) {
                let first = 2u * gap * (pair / gap) + pair % gap;
                // The first exchange of a merge meets the second run from its end.
                let second = select(first + gap, first ^ (run - 1u), gap == run / 2u);
                if second < p.cols {
                    let left = sorted[sorted_row + first];
                    let right = sorted[sorted_row + second];
                    let left_from = order[order_row + first];
                    let right_from = order[order_row + second];
                    if left < right || (left == right && left_from > right_from) {
                        sorted[sorted_row + first] = right;
                        sorted[sorted_row + second] = left;
                        order[order_row + first] = right_from;
                        order[order_row + second] = left_from;
                    }
                }
            }
            storageBarrier();
        }
    }
}
