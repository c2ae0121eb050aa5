// out_j = Σ_i grad_ij: the gradient of a bias, added over the rows of a batch.
//
// A workgroup owns 64 columns; four lanes share a column, so that a row is read by 64 neighbours.

struct Params {
    rows: u32, cols: u32,
    grad_offset: u32, grad_stride: u32,
    out_offset: u32, out_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> grad: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(COLS, LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let j = group.x * COLS + local.x;
    let base = p.grad_offset + group.z * p.grad_stride;
    var sum = 0.0;
    if j < p.cols {
        for (var i = local.y; i < p.rows; i += LANES) {
            sum += grad[base + i * p.cols + j];
        }
    }
    let total = sum_column(local, sum);
    if local.y == 0u && j < p.cols { out[p.out_offset + group.z * p.out_stride + j] = total; }
}
