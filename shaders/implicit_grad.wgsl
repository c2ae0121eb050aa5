// ∂L/∂C_ij = −(1/ε) Π_ij (G_ij − α_i − β_j) with α_i = (s_i − (Πβ)_i)/a_i. One workgroup a row.

struct Params {
    rows: u32, cols: u32,
    plan_offset: u32, plan_stride: u32,
    grad_offset: u32, grad_stride: u32,
    s_offset: u32, s_stride: u32,
    a_offset: u32, a_stride: u32,
    beta_offset: u32, beta_stride: u32,
    out_offset: u32, out_stride: u32,
    columns: u32, steps: u32, eps_column: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> plan: array<f32>;
@group(0) @binding(2) var<storage, read> grad: array<f32>;
@group(0) @binding(3) var<storage, read> s: array<f32>;
@group(0) @binding(4) var<storage, read> a: array<f32>;
@group(0) @binding(5) var<storage, read> beta: array<f32>;
@group(0) @binding(6) var<storage, read> schedule: array<f32>;
@group(0) @binding(7) var<storage, read> step: array<u32>;
@group(0) @binding(8) var<storage, read_write> out: array<f32>;

const LANES = 64u;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = linear_group(group, groups);
    if i >= p.rows { return; }
    let z = group.z;
    let row = i * p.cols;
    let plan_base = p.plan_offset + z * p.plan_stride + row;
    let grad_base = p.grad_offset + z * p.grad_stride + row;
    let out_base = p.out_offset + z * p.out_stride + row;
    let beta_base = p.beta_offset + z * p.beta_stride;
    let eps = scheduled(p.eps_column);

    var sum = 0.0;
    for (var j = lane; j < p.cols; j += LANES) { sum += plan[plan_base + j] * beta[beta_base + j]; }
    let along = sum_lanes(lane, sum);
    let alpha = (s[p.s_offset + z * p.s_stride + i] - along) / a[p.a_offset + z * p.a_stride + i];
    for (var j = lane; j < p.cols; j += LANES) {
        out[out_base + j] = -plan[plan_base + j] * (grad[grad_base + j] - alpha - beta[beta_base + j]) / eps;
    }
}
