// out_i = Σ_j A_ij B_ij. One workgroup a row.

struct Params {
    rows: u32, cols: u32,
    a_offset: u32, a_stride: u32,
    b_offset: u32, b_stride: u32,
    out_offset: u32, out_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

const LANES = 64u;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = linear_group(group, groups);
    if i >= p.rows { return; }
    let a_row = p.a_offset + group.z * p.a_stride + i * p.cols;
    let b_row = p.b_offset + group.z * p.b_stride + i * p.cols;
    var sum = 0.0;
    for (var j = lane; j < p.cols; j += LANES) {
        sum += a[a_row + j] * b[b_row + j];
    }
    let total = sum_lanes(lane, sum);
    if lane == 0u { out[p.out_offset + group.z * p.out_stride + i] = total; }
}
