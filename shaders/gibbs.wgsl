// K_ij = exp((f_i + g_j − C_ij)/ε) and its row sums. With converged potentials K is the transport plan;
// with any others it is what the scalings u, v of a Sinkhorn block are applied to. One workgroup a row.

struct Params {
    rows: u32, cols: u32,
    cost_offset: u32, cost_stride: u32,
    f_offset: u32, f_stride: u32,
    g_offset: u32, g_stride: u32,
    out_offset: u32, out_stride: u32,
    sums_offset: u32, sums_stride: u32,
    columns: u32, steps: u32, eps_column: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> cost: array<f32>;
@group(0) @binding(2) var<storage, read> f: array<f32>;
@group(0) @binding(3) var<storage, read> g: array<f32>;
@group(0) @binding(4) var<storage, read> schedule: array<f32>;
@group(0) @binding(5) var<storage, read> step: array<u32>;
@group(0) @binding(6) var<storage, read_write> out: array<f32>;
@group(0) @binding(7) var<storage, read_write> sums: array<f32>;

// Beyond this the potentials are far from solving anything; e⁸⁰ is still a finite number.
const LARGEST = 80.0;

const LANES = 64u;

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
    let f_i = f[p.f_offset + group.z * p.f_stride + i];

    var sum = 0.0;
    for (var j = lane; j < p.cols; j += LANES) {
        let value = exp(min((f_i + g[g_base + j] - cost[cost_base + j]) / eps, LARGEST));
        out[out_base + j] = value;
        sum += value;
    }
    let total = sum_lanes(lane, sum);
    if lane == 0u { sums[p.sums_offset + group.z * p.sums_stride + i] = total; }
}
