// unit_i = x_i / |x_i| and the lengths. A row too short to have a direction becomes zero. One workgroup a row.

struct Params {
    rows: u32, cols: u32,
    x_offset: u32, x_stride: u32,
    unit_offset: u32, unit_stride: u32,
    lengths_offset: u32, lengths_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> unit: array<f32>;
@group(0) @binding(3) var<storage, read_write> lengths: array<f32>;

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
    let x_row = p.x_offset + group.z * p.x_stride + i * p.cols;
    let unit_row = p.unit_offset + group.z * p.unit_stride + i * p.cols;
    var square = 0.0;
    for (var j = lane; j < p.cols; j += LANES) { square += x[x_row + j] * x[x_row + j]; }
    let length = sqrt(sum_lanes(lane, square));
    let scale = select(0.0, 1.0 / max(length, LEAST), length > LEAST);
    for (var j = lane; j < p.cols; j += LANES) { unit[unit_row + j] = scale * x[x_row + j]; }
    if lane == 0u { lengths[p.lengths_offset + group.z * p.lengths_stride + i] = length; }
}
