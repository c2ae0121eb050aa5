// v_j ← β v_j + α τ ε log(b_j/c_j), g += v, c ← 0: a Sinkhorn half-step from the columns' sums, longer by α and carried on
// by what is left of earlier steps, after which the sums can be gathered anew. With α = 1 and β = 0 it is Sinkhorn's.
// τ = λ/(λ+ε) is 1 where weights are met.

struct Params {
    len: u32,
    slack: f32,              // 1/λ, or 0
    weights_offset: u32, c_offset: u32, v_offset: u32, g_offset: u32,
    columns: u32, steps: u32, first_column: u32,   // ε, α and β lie beside each other in the schedule
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> weights: array<f32>;   // b
@group(0) @binding(2) var<storage, read> schedule: array<f32>;
@group(0) @binding(3) var<storage, read> step: array<u32>;
@group(0) @binding(4) var<storage, read_write> c: array<f32>;
@group(0) @binding(5) var<storage, read_write> v: array<f32>;
@group(0) @binding(6) var<storage, read_write> g: array<f32>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let j = linear_group(group, groups) * 256u + lane;
    if j >= p.len { return; }
    let eps = scheduled(p.first_column);
    var step_length = eps * scheduled(p.first_column + 1u);
    if p.slack > 0.0 { step_length /= 1.0 + p.slack * eps; }
    let ratio = weights[p.weights_offset + j] / max(c[p.c_offset + j], 1e-37);
    let velocity = scheduled(p.first_column + 2u) * v[p.v_offset + j] + step_length * log(ratio);
    v[p.v_offset + j] = velocity;
    g[p.g_offset + j] += velocity;
    c[p.c_offset + j] = 0.0;
}
