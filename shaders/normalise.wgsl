// x ← x / mass.

struct Params {
    len: u32,
    mass_offset: u32, mass_stride: u32,
    x_offset: u32, x_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> mass: array<f32>;
@group(0) @binding(2) var<storage, read_write> x: array<f32>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let e = linear_group(group, groups) * 256u + lane;
    if e >= p.len { return; }
    x[p.x_offset + group.z * p.x_stride + e] *= 1.0 / max(mass[p.mass_offset + group.z * p.mass_stride], 1e-37);
}
