// x_i ← (w_i / x_i)^τ with τ = λ/(λ+ε): the update of a Sinkhorn scaling whose weight is relaxed, from the sum x.

struct Params {
    len: u32,
    slack: f32,   // 1/λ
    w_offset: u32, w_stride: u32,
    x_offset: u32, x_stride: u32,
    columns: u32, steps: u32, eps_column: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> w: array<f32>;
@group(0) @binding(2) var<storage, read> schedule: array<f32>;
@group(0) @binding(3) var<storage, read> step: array<u32>;
@group(0) @binding(4) var<storage, read_write> x: array<f32>;

// Neither may be nothing.
const LEAST = 1e-37;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = linear_group(group, groups) * 256u + lane;
    if i >= p.len { return; }
    let at = p.x_offset + group.z * p.x_stride + i;
    let ratio = log(max(w[p.w_offset + group.z * p.w_stride + i], LEAST)) - log(max(x[at], LEAST));
    x[at] = exp(ratio / (1.0 + p.slack * scheduled(p.eps_column)));
}
