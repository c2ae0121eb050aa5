// t_j = b_j exp((ε log b_j − g_j − q_j)/λ): what a column whose weight is relaxed is to hold, given its potential g + q.
// At the optimum it holds just that.

struct Params {
    len: u32,
    slack: f32,   // 1/λ
    b_offset: u32, b_stride: u32,
    g_offset: u32, g_stride: u32,
    q_offset: u32, q_stride: u32,
    out_offset: u32, out_stride: u32,
    columns: u32, steps: u32, eps_column: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read> g: array<f32>;
@group(0) @binding(3) var<storage, read> q: array<f32>;
@group(0) @binding(4) var<storage, read> schedule: array<f32>;
@group(0) @binding(5) var<storage, read> step: array<u32>;
@group(0) @binding(6) var<storage, read_write> out: array<f32>;

const MOST = 70.0;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let j = linear_group(group, groups) * 256u + lane;
    if j >= p.len { return; }
    let weight = b[p.b_offset + group.z * p.b_stride + j];
    let potential = g[p.g_offset + group.z * p.g_stride + j] + q[p.q_offset + group.z * p.q_stride + j];
    let rise = p.slack * (scheduled(p.eps_column) * log(weight) - potential);
    out[p.out_offset + group.z * p.out_stride + j] = weight * exp(clamp(rise, -MOST, MOST));
}
