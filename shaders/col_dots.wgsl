// out_j = Σ_i A_ij B_ij.

@compute @workgroup_size(COLS, LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let j = group.x * COLS + local.x;
    let a_base = p.a_offset + group.z * p.a_stride + j;
    let b_base = p.b_offset + group.z * p.b_stride + j;
    var sum = 0.0;
    if j < p.cols {
        for (var i = local.y; i < p.rows; i += LANES) {
            sum += a[a_base + i * p.cols] * b[b_base + i * p.cols];
        }
    }
    let total = sum_column(local, sum);
    if local.y == 0u && j < p.cols { out[p.out_offset + group.z * p.out_stride + j] = total; }
}
