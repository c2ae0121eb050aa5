// x ← x / divisor, by one value for each matrix of the stack.

struct Params {
    len: u32,
    divisor_offset: u32, divisor_stride: u32,
    x_offset: u32, x_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> divisor: array<f32>;
@group(0) @binding(2) var<storage, read_write> x: array<f32>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = linear_group(group, groups) * 256u + lane;
    if i < p.len {
        // Two sides that coincide in a single point have no scale; they are left at zero.
        x[p.x_offset + group.z * p.x_stride + i] /= max(divisor[p.divisor_offset + group.z * p.divisor_stride], 1e-30);
    }
}
