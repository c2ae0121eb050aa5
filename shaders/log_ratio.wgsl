// out_i = alpha · log(x_i/w_i).

struct Params {
    len: u32,
    alpha: f32,
    x_offset: u32, x_stride: u32,
    w_offset: u32, w_stride: u32,
    out_offset: u32, out_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> w: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

// The ratio may not be nothing.
const LEAST = 1e-37;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = linear_group(group, groups) * 256u + lane;
    if i >= p.len { return; }
    let ratio = x[p.x_offset + group.z * p.x_stride + i] / w[p.w_offset + group.z * p.w_stride + i];
    out[p.out_offset + group.z * p.out_stride + i] = p.alpha * log(max(ratio, LEAST));
}
