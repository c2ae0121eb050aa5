// sums_i = Σ_j |x_ij − kept_ij|, then kept ← x: how far a matrix has moved since it was last looked at.
// One workgroup a row.

struct Params {
    rows: u32, cols: u32,
    x_offset: u32, x_stride: u32,
    kept_offset: u32, kept_stride: u32,
    sums_offset: u32, sums_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> kept: array<f32>;
@group(0) @binding(3) var<storage, read_write> sums: array<f32>;

const LANES = 64u;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = linear_group(group, groups);
    if i >= p.rows { return; }
    let x_row = p.x_offset + group.z * p.x_stride + i * p.cols;
    let kept_row = p.kept_offset + group.z * p.kept_stride + i * p.cols;
    var sum = 0.0;
    for (var j = lane; j < p.cols; j += LANES) {
        let value = x[x_row + j];
        sum += abs(value - kept[kept_row + j]);
        kept[kept_row + j] = value;
    }
    let total = sum_lanes(lane, sum);
    if lane == 0u { sums[p.sums_offset + group.z * p.sums_stride + i] = total; }
}
