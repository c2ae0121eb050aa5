// out_j = ε (log_w_j − log Σ_i exp((v_i − C_ij)/ε)): row_lse for the columns of the same matrix.
//
// A workgroup owns 32 columns; eight lanes share a column, so that reads stay along rows.

const COLS = 32u;
const LANES = 8u;
var<workgroup> partial: array<Lse, 256>;

@compute @workgroup_size(COLS, LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let j = group.x * COLS + local.x;
    let eps = scheduled(p.eps_column);
    let base = p.cost_offset + group.z * p.cost_stride;
    let v_base = p.v_offset + group.z * p.v_stride;

    var acc = Lse(LSE_EMPTY, 0.0);
    if j < p.cols {
        for (var i = local.y; i < p.rows; i += LANES) {
            acc = lse_add(acc, (v[v_base + i] - cost[base + i * p.cols + j]) / eps);
        }
    }
    partial[local.y * COLS + local.x] = acc;
    workgroupBarrier();
    for (var half = LANES / 2u; half > 0u; half /= 2u) {
        if local.y < half {
            let at = local.y * COLS + local.x;
            partial[at] = lse_merge(partial[at], partial[at + half * COLS]);
        }
        workgroupBarrier();
    }
    if local.y == 0u && j < p.cols {
        let lse = partial[local.x].top + log(partial[local.x].sum);
        let weight = log_w[p.log_w_offset + group.z * p.log_w_stride + j];
        out[p.out_offset + group.z * p.out_stride + j] = eps * (weight - lse);
    }
}
