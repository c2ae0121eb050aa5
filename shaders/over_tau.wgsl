// out_i = x_i/τ and shifted_i = s_i + mean·(x_i/τ − x_i) with 1/τ = 1 + ε/λ: sums of a relaxed plan as they stand in the
// system of its adjoint potentials (solver::implicit).

struct Params {
    len: u32,
    slack: f32,   // 1/λ, or 0
    x_offset: u32, x_stride: u32,
    s_offset: u32, s_stride: u32,
    mean_offset: u32, mean_stride: u32,
    out_offset: u32, out_stride: u32,
    shifted_offset: u32, shifted_stride: u32,
    columns: u32, steps: u32, eps_column: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> s: array<f32>;
@group(0) @binding(3) var<storage, read> mean: array<f32>;
@group(0) @binding(4) var<storage, read> schedule: array<f32>;
@group(0) @binding(5) var<storage, read> step: array<u32>;
@group(0) @binding(6) var<storage, read_write> out: array<f32>;
@group(0) @binding(7) var<storage, read_write> shifted: array<f32>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = linear_group(group, groups) * 256u + lane;
    if i >= p.len { return; }
    let value = x[p.x_offset + group.z * p.x_stride + i];
    let rise = p.slack * scheduled(p.eps_column) * value;
    out[p.out_offset + group.z * p.out_stride + i] = value + rise;
    shifted[p.shifted_offset + group.z * p.shifted_stride + i] =
        s[p.s_offset + group.z * p.s_stride + i] + mean[p.mean_offset + group.z * p.mean_stride] * rise;
}
