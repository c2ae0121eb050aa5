// grad ← grad ∘ act′(y), in place, where y is the output of the activation.

struct Params {
    len: u32,
    activation: u32,
    y_offset: u32, y_stride: u32,
    grad_offset: u32, grad_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> y: array<f32>;
@group(0) @binding(2) var<storage, read_write> grad: array<f32>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = linear_group(group, groups) * 256u + lane;
    if i < p.len {
        let at = p.grad_offset + group.z * p.grad_stride + i;
        grad[at] *= activate_grad(p.activation, y[p.y_offset + group.z * p.y_stride + i]);
    }
}
