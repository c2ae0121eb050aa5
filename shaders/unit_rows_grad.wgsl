// Back through x ↦ u = x/|x|: out_i = α (g_i − ⟨g_i, u_i⟩ u_i) / |x_i|, zero for a row without a direction. One
// workgroup a row.

struct Params {
    rows: u32, cols: u32,
    alpha: f32,
    grad_offset: u32, grad_stride: u32,
    unit_offset: u32, unit_stride: u32,
    lengths_offset: u32, lengths_stride: u32,
    out_offset: u32, out_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> grad: array<f32>;
@group(0) @binding(2) var<storage, read> unit: array<f32>;
@group(0) @binding(3) var<storage, read> lengths: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

const LANES = 64u;
const LEAST = 1e-12;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = linear_group(group, groups);
    if i >= p.rows { return; }
    let grad_row = p.grad_offset + group.z * p.grad_stride + i * p.cols;
    let unit_row = p.unit_offset + group.z * p.unit_stride + i * p.cols;
    let out_row = p.out_offset + group.z * p.out_stride + i * p.cols;
    var sum = 0.0;
    for (var j = lane; j < p.cols; j += LANES) { sum += grad[grad_row + j] * unit[unit_row + j]; }
    let along = sum_lanes(lane, sum);
    let length = lengths[p.lengths_offset + group.z * p.lengths_stride + i];
    let scale = select(0.0, p.alpha / max(length, LEAST), length > LEAST);
    for (var j = lane; j < p.cols; j += LANES) {
        out[out_row + j] = scale * (grad[grad_row + j] - along * unit[unit_row + j]);
    }
}
