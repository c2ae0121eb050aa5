// out_j = quotient(Σ_i K_ij v_i, w_j): mat_vec for the columns of the same matrix.

@compute @workgroup_size(COLS, LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let j = group.x * COLS + local.x;
    let base = p.k_offset + group.z * p.k_stride;
    let v_base = p.v_offset + group.z * p.v_stride;
    var sum = 0.0;
    if j < p.cols {
        for (var i = local.y; i < p.rows; i += LANES) {
            sum += k[base + i * p.cols + j] * v[v_base + i];
        }
    }
    let total = sum_column(local, sum);
    if local.y == 0u && j < p.cols {
        let at = p.w_offset + group.z * p.w_stride + j;
        out[p.out_offset + group.z * p.out_stride + j] = quotient(total, at);
    }
}
