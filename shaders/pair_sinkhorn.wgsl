// One Sinkhorn iteration seen from some rows, without a cost matrix: with t_ij = (ĝ_j + 2⟨x_i, y_j⟩)/ε
//
//   f̂_i = ε (log a − log Σ_j exp t_ij),      partial_gj = Σ_{i in group g} a · exp(t_ij) / Σ_k exp t_ik,
//
// that is, the potentials that make these rows meet their weight a, and what the rows then leave in every column. Where
// the weight is relaxed, r_i = a · exp((1−τ)(log Σ_j exp t_ij − |x_i|²/ε)) stands in its place.
// f̂ = f − |x|² and ĝ = g − |y|² are potentials of the cost |x − y|² with the squares taken out, so that what remains
// of the cost is a product. A workgroup owns ROWS rows and goes over all columns twice, each thread with a 4×4 block
// in registers as in matmul.wgsl: for the log-sum-exp, and for the columns.

struct Params {
    first: u32, rows: u32,   // of all rows, those this dispatch is about
    cols: u32, dim: u32,
    weight: f32, slack: f32, // a, and 1/λ or 0
    x_offset: u32, y_offset: u32, g_offset: u32, f_offset: u32, partial_offset: u32,
    columns: u32, steps: u32, eps_column: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> y: array<f32>;   // in panels of PANEL columns, each by dimensions
@group(0) @binding(3) var<storage, read> g: array<f32>;
@group(0) @binding(4) var<storage, read> schedule: array<f32>;
@group(0) @binding(5) var<storage, read> step: array<u32>;
@group(0) @binding(6) var<storage, read_write> f: array<f32>;
@group(0) @binding(7) var<storage, read_write> partial: array<f32>;

const PANEL = 16u;
const DOWN = 6u;
const ACROSS = 32u;
const ROWS = 24u;     // 4 · DOWN
const SPAN = 128u;    // 4 · ACROSS
const DEPTH = 16u;

// What is this far below a row's largest entry counts as that far: no zeros, and no subnormal numbers.
const LEAST = -70.0;

// Padded by one as in matmul.wgsl.
var<workgroup> panel_x: array<vec4<f32>, 112>;   // DEPTH · (DOWN + 1)
var<workgroup> panel_y: array<vec4<f32>, 528>;   // DEPTH · (ACROSS + 1)
// What the threads of a workgroup tell each other: ROWS × ACROSS for rows, DOWN × SPAN for columns.
var<workgroup> shelf: array<f32, 768>;

fn x_at(i: u32, l: u32) -> f32 {
    if i >= p.rows || l >= p.dim { return 0.0; }
    return x[p.x_offset + (p.first + i) * p.dim + l];
}

// Four neighbouring columns; the last panel is filled up with zeros.
fn y_at(j: u32, l: u32) -> vec4<f32> {
    if j >= p.cols || l >= p.dim { return vec4(0.0); }
    let at = p.y_offset + (j / PANEL * p.dim + l) * PANEL + j % PANEL;
    return vec4(y[at], y[at + 1u], y[at + 2u], y[at + 3u]);
}

// ⟨x_i, y_j⟩ for the thread's block.
fn products(first_row: u32, first_col: u32, local: vec3<u32>, index: u32) -> array<vec4<f32>, 4> {
    var acc = array<vec4<f32>, 4>(vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0));
    for (var l0 = 0u; l0 < p.dim; l0 += DEPTH) {
        if index < DEPTH * DOWN {
            let at = vec2(index % DEPTH, index / DEPTH);
            let i = first_row + 4u * at.y;
            let l = l0 + at.x;
            panel_x[at.x * (DOWN + 1u) + at.y] = vec4(x_at(i, l), x_at(i + 1u, l), x_at(i + 2u, l), x_at(i + 3u, l));
        }
        for (var slot = index; slot < DEPTH * ACROSS; slot += DOWN * ACROSS) {
            let at = vec2(slot / ACROSS, slot % ACROSS);
            panel_y[at.x * (ACROSS + 1u) + at.y] = y_at(first_col + 4u * at.y, l0 + at.x);
        }
        workgroupBarrier();
        for (var l = 0u; l < DEPTH; l += 1u) {
            let column = panel_x[l * (DOWN + 1u) + local.y];
            let row = panel_y[l * (ACROSS + 1u) + local.x];
            acc[0] += column.x * row;
            acc[1] += column.y * row;
            acc[2] += column.z * row;
            acc[3] += column.w * row;
        }
        workgroupBarrier();
    }
    return acc;
}

// ĝ_j/ε of four columns; those beyond the end count for nothing.
fn column_terms(j: u32, inverse: f32) -> vec4<f32> {
    var terms = vec4(LSE_EMPTY);
    for (var s = 0u; s < 4u; s += 1u) {
        if j + s < p.cols { terms[s] = g[p.g_offset + j + s] * inverse; }
    }
    return terms;
}

// The largest, or the sum, of what the threads beside each other have for their four rows.
fn across(local: vec3<u32>, values: vec4<f32>, largest: bool) -> vec4<f32> {
    for (var r = 0u; r < 4u; r += 1u) { shelf[(4u * local.y + r) * ACROSS + local.x] = values[r]; }
    workgroupBarrier();
    var total = vec4(select(0.0, LSE_EMPTY, largest));
    for (var k = 0u; k < ACROSS; k += 1u) {
        let at = 4u * local.y * ACROSS + k;
        let value = vec4(shelf[at], shelf[at + ACROSS], shelf[at + 2u * ACROSS], shelf[at + 3u * ACROSS]);
        total = select(total + value, max(total, value), largest);
    }
    workgroupBarrier();
    return total;
}

@compute @workgroup_size(ACROSS, DOWN, 1)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    let own = linear_group(group, groups);
    let first_row = own * ROWS;
    if first_row >= p.rows { return; }
    let eps = scheduled(p.eps_column);
    let inverse = 1.0 / eps;

    var tops = vec4(LSE_EMPTY);
    var sums = vec4(0.0);
    for (var j0 = 0u; j0 < p.cols; j0 += SPAN) {
        let dots = products(first_row, j0, local, index);
        let terms = column_terms(j0 + 4u * local.x, inverse);
        for (var r = 0u; r < 4u; r += 1u) {
            let t = terms + 2.0 * inverse * dots[r];
            let top = max(tops[r], max(max(t.x, t.y), max(t.z, t.w)));
            let e = exp(t - top);
            sums[r] = sums[r] * exp(tops[r] - top) + ((e.x + e.y) + (e.z + e.w));
            tops[r] = top;
        }
    }
    let row_tops = across(local, tops, true);
    let row_sums = across(local, sums * exp(tops - row_tops), false);

    var scales = vec4(0.0);
    for (var r = 0u; r < 4u; r += 1u) {
        let i = first_row + 4u * local.y + r;
        if i < p.rows {
            scales[r] = p.weight / row_sums[r];
            let lse = row_tops[r] + log(row_sums[r]);
            var log_mass = log(p.weight);
            if p.slack > 0.0 {
                var square = 0.0;
                for (var l = 0u; l < p.dim; l += 1u) { let v = x_at(i, l); square += v * v; }
                scales[r] *= given(p.slack, eps, lse - square / eps);
                log_mass += p.slack * eps / (1.0 + p.slack * eps) * (lse - square / eps);
            }
            if local.x == 0u { f[p.f_offset + p.first + i] = eps * (log_mass - lse); }
        }
    }

    for (var j0 = 0u; j0 < p.cols; j0 += SPAN) {
        let dots = products(first_row, j0, local, index);
        let terms = column_terms(j0 + 4u * local.x, inverse);
        var masses = vec4(0.0);
        for (var r = 0u; r < 4u; r += 1u) {
            let t = terms + 2.0 * inverse * dots[r];
            masses += scales[r] * exp(max(t - row_tops[r], vec4(LEAST)));
        }
        for (var s = 0u; s < 4u; s += 1u) { shelf[local.y * SPAN + 4u * local.x + s] = masses[s]; }
        workgroupBarrier();
        if index < SPAN && j0 + index < p.cols {
            var total = 0.0;
            for (var k = 0u; k < DOWN; k += 1u) { total += shelf[k * SPAN + index]; }
            partial[p.partial_offset + own * p.cols + j0 + index] = total;
        }
        workgroupBarrier();
    }
}
