// Back through the soft ranks: from the gradient u of the ranks to that of the values,
//   out_j = (u_j − mean of u over the block of j) / w
// One workgroup a row, a lane for every block.

struct Params {
    rows: u32, cols: u32,
    order_offset: u32, order_stride: u32,
    blocks_offset: u32, blocks_stride: u32,
    width_offset: u32, width_stride: u32,
    grad_offset: u32, grad_stride: u32,
    out_offset: u32, out_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> order: array<f32>;
@group(0) @binding(2) var<storage, read> blocks: array<f32>;
@group(0) @binding(3) var<storage, read> width: array<f32>;
@group(0) @binding(4) var<storage, read> grad: array<f32>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;

const LANES = 64u;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = linear_group(group, groups);
    if i >= p.rows { return; }
    let order_row = p.order_offset + group.z * p.order_stride + i * p.cols;
    let blocks_row = p.blocks_offset + group.z * p.blocks_stride + i * p.cols;
    let grad_row = p.grad_offset + group.z * p.grad_stride + i * p.cols;
    let out_row = p.out_offset + group.z * p.out_stride + i * p.cols;
    let w = max(width[p.width_offset + group.z * p.width_stride], 1e-30);
    for (var first = lane; first < p.cols; first += LANES) {
        // Only the first position of a block holds one that is not before it.
        if blocks[blocks_row + first] < f32(first) { continue; }
        let last = u32(blocks[blocks_row + first]);
        var sum = 0.0;
        for (var j = first; j <= last; j += 1u) { sum += grad[grad_row + u32(order[order_row + j])]; }
        let mean = sum / f32(last - first + 1u);
        for (var j = first; j <= last; j += 1u) {
            let at = u32(order[order_row + j]);
            out[out_row + at] = (grad[grad_row + at] - mean) / w;
        }
    }
}
