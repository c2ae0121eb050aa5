// S_ij ← x2_i + y2_j + S_ij and the row sums of the result: squared distances from squared norms and
// −2 times the inner products. One workgroup a row.

struct Params {
    rows: u32, cols: u32,
    x2_offset: u32, x2_stride: u32,
    y2_offset: u32, y2_stride: u32,
    s_offset: u32, s_stride: u32,
    sums_offset: u32, sums_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x2: array<f32>;
@group(0) @binding(2) var<storage, read> y2: array<f32>;
@group(0) @binding(3) var<storage, read_write> s: array<f32>;
@group(0) @binding(4) var<storage, read_write> sums: array<f32>;

const LANES = 64u;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = linear_group(group, groups);
    if i >= p.rows { return; }
    let row = p.s_offset + group.z * p.s_stride + i * p.cols;
    let y2_base = p.y2_offset + group.z * p.y2_stride;
    let own = x2[p.x2_offset + group.z * p.x2_stride + i];
    var sum = 0.0;
    for (var j = lane; j < p.cols; j += LANES) {
        // Rounding must not make a squared distance negative.
        let value = max(own + y2[y2_base + j] + s[row + j], 0.0);
        s[row + j] = value;
        sum += value;
    }
    let total = sum_lanes(lane, sum);
    if lane == 0u { sums[p.sums_offset + group.z * p.sums_stride + i] = total; }
}
