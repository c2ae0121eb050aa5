// One Adam step over a flat arena of parameters.
//
// Learning rate and both bias corrections come from the schedule (three neighbouring columns), so the
// step needs nothing from the host.

struct Params {
    len: u32,
    beta1: f32, beta2: f32, epsilon: f32,
    columns: u32, steps: u32, rate_column: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> grad: array<f32>;
@group(0) @binding(2) var<storage, read> schedule: array<f32>;
@group(0) @binding(3) var<storage, read> step: array<u32>;
@group(0) @binding(4) var<storage, read_write> weights: array<f32>;
@group(0) @binding(5) var<storage, read_write> first: array<f32>;
@group(0) @binding(6) var<storage, read_write> second: array<f32>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = linear_group(group, groups) * 256u + lane;
    if i >= p.len { return; }
    let g = grad[i];
    let m = p.beta1 * first[i] + (1.0 - p.beta1) * g;
    let v = p.beta2 * second[i] + (1.0 - p.beta2) * g * g;
    first[i] = m;
    second[i] = v;
    let m_hat = m * scheduled(p.rate_column + 1u);
    let v_hat = v * scheduled(p.rate_column + 2u);
    weights[i] -= scheduled(p.rate_column) * m_hat / (sqrt(v_hat) + p.epsilon);
}
