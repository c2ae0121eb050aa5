// What the conjugate gradients of the implicit backward pass start from: the plan's column sums
// c_j = Σ_i Π_ij and the right-hand side right_j = Σ_i Π_ij (G_ij − s_i/a_i) = (t − Πᵀ(s/a))_j.

struct Params {
    rows: u32, cols: u32,
    plan_offset: u32, plan_stride: u32,
    grad_offset: u32, grad_stride: u32,
    s_offset: u32, s_stride: u32,
    a_offset: u32, a_stride: u32,
    c_offset: u32, c_stride: u32,
    right_offset: u32, right_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> plan: array<f32>;
@group(0) @binding(2) var<storage, read> grad: array<f32>;
@group(0) @binding(3) var<storage, read> s: array<f32>;
@group(0) @binding(4) var<storage, read> a: array<f32>;
@group(0) @binding(5) var<storage, read_write> c: array<f32>;
@group(0) @binding(6) var<storage, read_write> right: array<f32>;

@compute @workgroup_size(COLS, LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let j = group.x * COLS + local.x;
    let plan_base = p.plan_offset + group.z * p.plan_stride + j;
    let grad_base = p.grad_offset + group.z * p.grad_stride + j;
    let s_base = p.s_offset + group.z * p.s_stride;
    let a_base = p.a_offset + group.z * p.a_stride;
    var column = 0.0;
    var sum = 0.0;
    if j < p.cols {
        for (var i = local.y; i < p.rows; i += LANES) {
            let value = plan[plan_base + i * p.cols];
            column += value;
            sum += value * (grad[grad_base + i * p.cols] - s[s_base + i] / a[a_base + i]);
        }
    }
    column = sum_column(local, column);
    sum = sum_column(local, sum);
    if local.y == 0u && j < p.cols {
        c[p.c_offset + group.z * p.c_stride + j] = column;
        right[p.right_offset + group.z * p.right_stride + j] = sum;
    }
}
