// x_ij ← x_ij + u_i + v_j.

struct Params {
    rows: u32, cols: u32,
    u_offset: u32, u_stride: u32,
    v_offset: u32, v_stride: u32,
    x_offset: u32, x_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> u: array<f32>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read_write> x: array<f32>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let e = linear_group(group, groups) * 256u + lane;
    if e >= p.rows * p.cols { return; }
    let row = u[p.u_offset + group.z * p.u_stride + e / p.cols];
    let col = v[p.v_offset + group.z * p.v_stride + e % p.cols];
    x[p.x_offset + group.z * p.x_stride + e] += row + col;
}
