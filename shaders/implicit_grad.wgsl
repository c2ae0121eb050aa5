// ∂L/∂C_ij = −(1/ε) Π_ij (G_ij − α_i − β_j) with α_i = (s_i − (Πβ)_i)/r_i, given the numerator of α.

struct Params {
    rows: u32, cols: u32,
    plan_offset: u32, plan_stride: u32,
    grad_offset: u32, grad_stride: u32,
    numerator_offset: u32, numerator_stride: u32,
    r_offset: u32, r_stride: u32,
    beta_offset: u32, beta_stride: u32,
    out_offset: u32, out_stride: u32,
    columns: u32, steps: u32, eps_column: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> plan: array<f32>;
@group(0) @binding(2) var<storage, read> grad: array<f32>;
@group(0) @binding(3) var<storage, read> numerator: array<f32>;
@group(0) @binding(4) var<storage, read> r: array<f32>;
@group(0) @binding(5) var<storage, read> beta: array<f32>;
@group(0) @binding(6) var<storage, read> schedule: array<f32>;
@group(0) @binding(7) var<storage, read> step: array<u32>;
@group(0) @binding(8) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let e = linear_group(group, groups) * 256u + lane;
    if e >= p.rows * p.cols { return; }
    let i = e / p.cols;
    let j = e % p.cols;
    let z = group.z;
    let alpha = numerator[p.numerator_offset + z * p.numerator_stride + i] / r[p.r_offset + z * p.r_stride + i];
    let inner = grad[p.grad_offset + z * p.grad_stride + e] - alpha - beta[p.beta_offset + z * p.beta_stride + j];
    out[p.out_offset + z * p.out_stride + e] =
        -plan[p.plan_offset + z * p.plan_stride + e] * inner / scheduled(p.eps_column);
}
