// The negative log-likelihood of known pairs under the plan, with w_ij > 0 where i and j are known to belong
// together, row by row:
//   sums_i = −Σ_j w_ij log(Π_ij / a_i),   grad_ij = −w_ij / Π_ij
// A plan that has underflowed counts as FLOOR, so that neither grows beyond bounds. One workgroup a row.

struct Params {
    rows: u32, cols: u32,
    w_offset: u32, w_stride: u32,
    plan_offset: u32, plan_stride: u32,
    a_offset: u32, a_stride: u32,
    grad_offset: u32, grad_stride: u32,
    sums_offset: u32, sums_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> w: array<f32>;
@group(0) @binding(2) var<storage, read> plan: array<f32>;
@group(0) @binding(3) var<storage, read> a: array<f32>;
@group(0) @binding(4) var<storage, read_write> grad: array<f32>;
@group(0) @binding(5) var<storage, read_write> sums: array<f32>;

const LANES = 64u;
const FLOOR = 1e-30;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = linear_group(group, groups);
    if i >= p.rows { return; }
    let w_row = p.w_offset + group.z * p.w_stride + i * p.cols;
    let plan_row = p.plan_offset + group.z * p.plan_stride + i * p.cols;
    let grad_row = p.grad_offset + group.z * p.grad_stride + i * p.cols;
    let log_a = log(a[p.a_offset + group.z * p.a_stride + i]);
    var sum = 0.0;
    for (var j = lane; j < p.cols; j += LANES) {
        let weight = w[w_row + j];
        let value = max(plan[plan_row + j], FLOOR);
        grad[grad_row + j] = -weight / value;
        sum += weight * (log_a - log(value));
    }
    let total = sum_lanes(lane, sum);
    if lane == 0u { sums[p.sums_offset + group.z * p.sums_stride + i] = total; }
}
