// A plan that is never held, times a matrix, each of its entries weighted by a thin product:
//
//   out_i = scale · ε^−k Σ_j exp(⟨x_i, y_j⟩/ε) · ⟨p_i, q_j⟩ · b_j
//
// with x and p the first DIM and the next RANK columns of `left`, y and q those of `right`; without a rank every weight
// is 1. Potentials are among the columns of x and y, so the sums are logarithms of masses and do not overflow. A
// workgroup owns ROWS rows and goes over all columns, SPAN at a time: their entries with a 4×4 block a thread as in
// matmul.wgsl, then from shared memory their share in the result, up to CHUNK columns of it at once.

struct Params {
    first: u32, rows: u32,      // of all rows, those this dispatch is about
    cols: u32, dim: u32, rank: u32, pitch: u32, width: u32,
    scale: f32, over_eps: u32,  // k, zero or one
    left_offset: u32, right_offset: u32, b_offset: u32, out_offset: u32,
    columns: u32, steps: u32, eps_column: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> left: array<f32>;
@group(0) @binding(2) var<storage, read> right: array<f32>;
@group(0) @binding(3) var<storage, read> b: array<f32>;
@group(0) @binding(4) var<storage, read> schedule: array<f32>;
@group(0) @binding(5) var<storage, read> step: array<u32>;
@group(0) @binding(6) var<storage, read_write> out: array<f32>;

const DOWN = 6u;
const ACROSS = 16u;
const ROWS = 24u;     // 4 · DOWN
const SPAN = 64u;     // 4 · ACROSS
const DEPTH = 16u;
const TEAM = 4u;      // threads a row in the second half: DOWN · ACROSS / ROWS
const CHUNK = 32u;    // 8 · TEAM

// Entries beyond these are not told apart.
const LEAST = -70.0;
const MOST = 70.0;

// Padded by one as in matmul.wgsl.
var<workgroup> panel_x: array<vec4<f32>, 112>;   // DEPTH · (DOWN + 1)
var<workgroup> panel_y: array<vec4<f32>, 272>;   // DEPTH · (ACROSS + 1)
var<workgroup> entries: array<f32, 1560>;        // ROWS · (SPAN + 1)

fn left_at(i: u32, l: u32, end: u32) -> f32 {
    if i >= p.rows || l >= end { return 0.0; }
    return left[p.left_offset + (p.first + i) * p.pitch + l];
}

fn right_at(j: u32, l: u32, end: u32) -> f32 {
    if j >= p.cols || l >= end { return 0.0; }
    return right[p.right_offset + j * p.pitch + l];
}

// The inner products of the columns from `begin` to `end` for the thread's block.
fn products(begin: u32, end: u32, row: u32, col: u32, local: vec3<u32>, index: u32) -> array<vec4<f32>, 4> {
    var acc = array<vec4<f32>, 4>(vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0));
    for (var l0 = begin; l0 < end; l0 += DEPTH) {
        let l = l0 + index % DEPTH;
        let at = index / DEPTH;
        let i = row + 4u * at;
        panel_x[index % DEPTH * (DOWN + 1u) + at] =
            vec4(left_at(i, l, end), left_at(i + 1u, l, end), left_at(i + 2u, l, end), left_at(i + 3u, l, end));
        for (var slot = at; slot < ACROSS; slot += DOWN) {
            let j = col + 4u * slot;
            panel_y[index % DEPTH * (ACROSS + 1u) + slot] = vec4(
                right_at(j, l, end), right_at(j + 1u, l, end), right_at(j + 2u, l, end), right_at(j + 3u, l, end));
        }
        workgroupBarrier();
        for (var k = 0u; k < DEPTH; k += 1u) {
            let column = panel_x[k * (DOWN + 1u) + local.y];
            let row_values = panel_y[k * (ACROSS + 1u) + local.x];
            acc[0] += column.x * row_values;
            acc[1] += column.y * row_values;
            acc[2] += column.z * row_values;
            acc[3] += column.w * row_values;
        }
        workgroupBarrier();
    }
    return acc;
}

@compute @workgroup_size(ACROSS, DOWN, 1)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    let first_row = linear_group(group, groups) * ROWS;
    if first_row >= p.rows { return; }
    let inverse = 1.0 / scheduled(p.eps_column);
    let own = index / TEAM;
    let lane = index % TEAM;
    for (var c0 = 0u; c0 < p.width; c0 += CHUNK) {
        var acc = array<f32, 8>(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
        for (var j0 = 0u; j0 < p.cols; j0 += SPAN) {
            let logs = products(0u, p.dim, first_row, j0, local, index);
            var weights = array<vec4<f32>, 4>(vec4(1.0), vec4(1.0), vec4(1.0), vec4(1.0));
            if p.rank > 0u { weights = products(p.dim, p.dim + p.rank, first_row, j0, local, index); }
            for (var r = 0u; r < 4u; r += 1u) {
                let values = weights[r] * exp(clamp(inverse * logs[r], vec4(LEAST), vec4(MOST)));
                for (var s = 0u; s < 4u; s += 1u) {
                    entries[(4u * local.y + r) * (SPAN + 1u) + 4u * local.x + s] = values[s];
                }
            }
            workgroupBarrier();
            let span = min(SPAN, p.cols - j0);
            for (var j = 0u; j < span; j += 1u) {
                let entry = entries[own * (SPAN + 1u) + j];
                let row = p.b_offset + (j0 + j) * p.width + c0 + lane;
                for (var q = 0u; q < 8u; q += 1u) {
                    if c0 + lane + TEAM * q < p.width { acc[q] += entry * b[row + TEAM * q]; }
                }
            }
            workgroupBarrier();
        }
        if first_row + own < p.rows {
            let factor = p.scale * select(1.0, inverse, p.over_eps > 0u);
            for (var q = 0u; q < 8u; q += 1u) {
                let c = c0 + lane + TEAM * q;
                if c < p.width { out[p.out_offset + (p.first + first_row + own) * p.width + c] = factor * acc[q]; }
            }
        }
    }
}
