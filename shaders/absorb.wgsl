// g_j += ε log v_j: the scalings of a block go into the potential.

struct Params {
    len: u32,
    v_offset: u32, v_stride: u32,
    g_offset: u32, g_stride: u32,
    columns: u32, steps: u32, eps_column: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> v: array<f32>;
@group(0) @binding(2) var<storage, read> schedule: array<f32>;
@group(0) @binding(3) var<storage, read> step: array<u32>;
@group(0) @binding(4) var<storage, read_write> g: array<f32>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let j = linear_group(group, groups) * 256u + lane;
    if j >= p.len { return; }
    let scaling = max(v[p.v_offset + group.z * p.v_stride + j], 1e-37);
    g[p.g_offset + group.z * p.g_stride + j] += scheduled(p.eps_column) * log(scaling);
}
