// out_i = quotient(Σ_j K_ij v_j, w_i). One workgroup a row.

const LANES = 64u;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = linear_group(group, groups);
    if i >= p.rows { return; }
    let row = p.k_offset + group.z * p.k_stride + i * p.cols;
    let v_base = p.v_offset + group.z * p.v_stride;
    var sum = 0.0;
    for (var j = lane; j < p.cols; j += LANES) {
        sum += k[row + j] * v[v_base + j];
    }
    let total = sum_lanes(lane, sum);
    if lane == 0u {
        let at = p.w_offset + group.z * p.w_stride + i;
        out[p.out_offset + group.z * p.out_stride + i] = quotient(total, at);
    }
}
