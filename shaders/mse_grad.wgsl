// grad = 2/len · (y − target): the gradient of the mean squared error. The error itself is
// len/4 · Σ grad², which `reduce` computes from the result.

struct Params {
    len: u32,
    y_offset: u32, y_stride: u32,
    target_offset: u32, target_stride: u32,
    grad_offset: u32, grad_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> y: array<f32>;
@group(0) @binding(2) var<storage, read> wanted: array<f32>;
@group(0) @binding(3) var<storage, read_write> grad: array<f32>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = linear_group(group, groups) * 256u + lane;
    if i < p.len {
        let difference = y[p.y_offset + group.z * p.y_stride + i]
            - wanted[p.target_offset + group.z * p.target_stride + i];
        grad[p.grad_offset + group.z * p.grad_stride + i] = 2.0 / f32(p.len) * difference;
    }
}
