// The cost of the linear encoders: C = −(S/std(S) + λ w G), with λ from the schedule, w a weight of the
// fit, and std from the sums of S and of S² over all entries. With `start` it is −G alone.

struct Params {
    len: u32,
    start: u32,
    s_offset: u32, s_stride: u32,
    moments_offset: u32, moments_stride: u32,
    guide_offset: u32, guide_stride: u32,
    weight_offset: u32, weight_stride: u32,
    cost_offset: u32, cost_stride: u32,
    columns: u32, steps: u32, lambda_column: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> s: array<f32>;
@group(0) @binding(2) var<storage, read> moments: array<f32>;
@group(0) @binding(3) var<storage, read> guide: array<f32>;
@group(0) @binding(4) var<storage, read> weight: array<f32>;
@group(0) @binding(5) var<storage, read> schedule: array<f32>;
@group(0) @binding(6) var<storage, read> step: array<u32>;
@group(0) @binding(7) var<storage, read_write> cost: array<f32>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let at = linear_group(group, groups) * 256u + lane;
    if at >= p.len { return; }
    let z = group.z;
    let hint = guide[p.guide_offset + z * p.guide_stride + at];
    var value = hint;
    if p.start == 0u {
        let count = f32(p.len);
        let mean = moments[p.moments_offset + z * p.moments_stride] / count;
        let square = moments[p.moments_offset + z * p.moments_stride + 1u] / count;
        let deviation = sqrt(max(square - mean * mean, 1e-20));
        let lambda = scheduled(p.lambda_column) * weight[p.weight_offset + z * p.weight_stride];
        value = s[p.s_offset + z * p.s_stride + at] / deviation + lambda * hint;
    }
    cost[p.cost_offset + z * p.cost_stride + at] = -value;
}
