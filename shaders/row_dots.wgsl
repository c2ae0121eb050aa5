// out_i = Σ_j A_ij B_ij. One workgroup a row.

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
