// out_i = scale · reduction over j of x_ij, or of |x_ij − y_ij|: one workgroup a row.

struct Params {
    rows: u32, cols: u32,
    scale: f32,
    x_offset: u32, x_stride: u32,
    y_offset: u32, y_stride: u32,
    out_offset: u32, out_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> y: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

override OPERATION: u32;   // 0: Σ x   1: max x   2: Σ x²   3: Σ |x − y|
const MAX = 1u;
const SUM_SQUARES = 2u;
const APART = 3u;

const LANES = 256u;
var<workgroup> partial: array<f32, LANES>;

fn combine(left: f32, right: f32) -> f32 {
    if OPERATION == MAX { return max(left, right); }
    return left + right;
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = linear_group(group, groups);
    if i >= p.rows { return; }
    let base = p.x_offset + group.z * p.x_stride + i * p.cols;
    let y_base = p.y_offset + group.z * p.y_stride + i * p.cols;

    var total = select(0.0, -3e38, OPERATION == MAX);
    for (var j = lane; j < p.cols; j += LANES) {
        var value = x[base + j];
        if OPERATION == SUM_SQUARES { value *= value; }
        if OPERATION == APART { value = abs(value - y[y_base + j]); }
        total = combine(total, value);
    }
    partial[lane] = total;
    workgroupBarrier();
    for (var half = LANES / 2u; half > 0u; half /= 2u) {
        if lane < half { partial[lane] = combine(partial[lane], partial[lane + half]); }
        workgroupBarrier();
    }
    if lane == 0u {
        out[p.out_offset + group.z * p.out_stride + i] = p.scale * partial[0];
    }
}
