// out_i = ε (log_w_i − log Σ_j exp((v_j − C_ij)/ε)): log-sum-exp over rows, in the form in which a
// Sinkhorn half-step needs it. ε is this step's value from the schedule. One workgroup a row.

const LANES = 64u;
var<workgroup> partial: array<Lse, LANES>;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = linear_group(group, groups);
    if i >= p.rows { return; }
    let eps = scheduled(p.eps_column);
    let row = p.cost_offset + group.z * p.cost_stride + i * p.cols;
    let v_base = p.v_offset + group.z * p.v_stride;

    var acc = Lse(LSE_EMPTY, 0.0);
    for (var j = lane; j < p.cols; j += LANES) {
        acc = lse_add(acc, (v[v_base + j] - cost[row + j]) / eps);
    }
    partial[lane] = acc;
    workgroupBarrier();
    for (var half = LANES / 2u; half > 0u; half /= 2u) {
        if lane < half { partial[lane] = lse_merge(partial[lane], partial[lane + half]); }
        workgroupBarrier();
    }
    if lane == 0u {
        let lse = partial[0].top + log(partial[0].sum);
        let weight = log_w[p.log_w_offset + group.z * p.log_w_stride + i];
        out[p.out_offset + group.z * p.out_stride + i] = eps * (weight - lse);
    }
}
