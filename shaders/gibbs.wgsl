// K_ij = a_i · softmax_j((g_j − C_ij)/ε): the Gibbs kernel exp((f⊕g − C)/ε) with the f for which every row
// sums to its weight; where weights are relaxed, r_i = a_i · exp((1−τ) ℓ_i) with ℓ_i = log Σ_j exp((g_j − C_ij)/ε)
// stands in the place of a_i. With a converged g it is the transport plan; with any other it is what the scalings of a
// Sinkhorn block are applied to. One workgroup a row.

struct Params {
    rows: u32, cols: u32,
    cost_offset: u32, cost_stride: u32,
    g_offset: u32, g_stride: u32,
    a_offset: u32, a_stride: u32,
    out_offset: u32, out_stride: u32,
    columns: u32, steps: u32, eps_column: u32,
    slack: f32,   // 1/λ, or 0
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> cost: array<f32>;
@group(0) @binding(2) var<storage, read> g: array<f32>;
@group(0) @binding(3) var<storage, read> a: array<f32>;
@group(0) @binding(4) var<storage, read> schedule: array<f32>;
@group(0) @binding(5) var<storage, read> step: array<u32>;
@group(0) @binding(6) var<storage, read_write> out: array<f32>;

// What is this far below a row's largest entry counts as that far: no zeros, and no subnormal numbers, which
// are slow.
const LEAST = -70.0;

const LANES = 64u;
var<workgroup> tops: array<f32, LANES>;

fn max_lanes(lane: u32, value: f32) -> f32 {
    tops[lane] = value;
    workgroupBarrier();
    for (var half = LANES / 2u; half > 0u; half /= 2u) {
        if lane < half { tops[lane] = max(tops[lane], tops[lane + half]); }
        workgroupBarrier();
    }
    return tops[0];
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = linear_group(group, groups);
    if i >= p.rows { return; }
    let eps = scheduled(p.eps_column);
    let row = i * p.cols;
    let cost_base = p.cost_offset + group.z * p.cost_stride + row;
    let out_base = p.out_offset + group.z * p.out_stride + row;
    let g_base = p.g_offset + group.z * p.g_stride;

    var top = -3e38;
    for (var j = lane; j < p.cols; j += LANES) { top = max(top, g[g_base + j] - cost[cost_base + j]); }
    top = max_lanes(lane, top);
    var sum = 0.0;
    for (var j = lane; j < p.cols; j += LANES) {
        let value = exp(max((g[g_base + j] - cost[cost_base + j] - top) / eps, LEAST));
        out[out_base + j] = value;
        sum += value;
    }
    let total = sum_lanes(lane, sum);
    var scale = a[p.a_offset + group.z * p.a_stride + i] / total;
    if p.slack > 0.0 { scale *= given(p.slack, eps, top / eps + log(total)); }
    for (var j = lane; j < p.cols; j += LANES) { out[out_base + j] *= scale; }
}
