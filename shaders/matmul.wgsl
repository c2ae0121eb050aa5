// C = epilogue(alpha · op(A) · op(B)), for a stack of matrices.
//
// A workgroup of EDGE×EDGE threads computes a tile of 4·EDGE × 4·EDGE elements, each thread a 4×4 block
// held in registers. Panels of DEPTH columns of op(A) and rows of op(B) pass through workgroup memory as
// vec4s: a step of the inner loop is two vec4 loads for sixteen multiply-adds. Where the matrices end the
// panels are filled with zeros, so every size works.

struct Params {
    m: u32, n: u32, k: u32,
    alpha: f32,
    epilogue: u32,     // 0: none  1: activate(c + bias_j)   2: c · activate_grad(y_ij)
    activation: u32,
    border: u32,       // 1: the last row of Aᵀ is not stored, it is all ones
    a_offset: u32, a_stride: u32,
    b_offset: u32, b_stride: u32,
    aux_offset: u32, aux_stride: u32,
    c_offset: u32, c_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read> aux: array<f32>;
@group(0) @binding(4) var<storage, read_write> c: array<f32>;

// What shapes the inner loop is fixed when the pipeline is made; what happens once per element is a
// parameter, so that there are few pipelines to compile.
override LAYOUT: u32;  // 0: A·B   1: A·Bᵀ   2: Aᵀ·B
override EDGE: u32;    // 8 or 16

const NT = 1u;
const TN = 2u;
const ADD_BIAS = 1u;
const GATE = 2u;
const DEPTH = 16u;

// One vec4 of padding a row keeps the transposing stores off a single memory bank. The array's size is
// that of the larger tile and a plain constant: Safari gives arrays sized by an override no room at all.
override PITCH: u32 = EDGE + 1u;
const PANEL = 272u; // DEPTH · (16 + 1)
var<workgroup> panel_a: array<vec4<f32>, PANEL>;
var<workgroup> panel_b: array<vec4<f32>, PANEL>;

fn a_at(base: u32, i: u32, l: u32) -> f32 {
    if i >= p.m || l >= p.k { return 0.0; }
    if LAYOUT == TN {
        let stored = p.m - p.border;
        if i >= stored { return 1.0; }
        return a[base + l * stored + i];
    }
    return a[base + i * p.k + l];
}

fn b_at(base: u32, l: u32, j: u32) -> f32 {
    if j >= p.n || l >= p.k { return 0.0; }
    return b[base + select(l * p.n + j, j * p.k + l, LAYOUT == NT)];
}

@compute @workgroup_size(EDGE, EDGE, 1)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    let first_row = group.y * 4u * EDGE;
    let first_col = group.x * 4u * EDGE;
    let a_base = p.a_offset + group.z * p.a_stride;
    let b_base = p.b_offset + group.z * p.b_stride;

    var acc: array<vec4<f32>, 4>;
    for (var l0 = 0u; l0 < p.k; l0 += DEPTH) {
        for (var slot = index; slot < DEPTH * EDGE; slot += EDGE * EDGE) {
            // Neighbouring threads take neighbouring addresses: along l where l is the fast axis of
            // the matrix in memory, along its rows or columns otherwise.
            let across = vec2(slot / EDGE, slot % EDGE);
            let along = vec2(slot % DEPTH, slot / DEPTH);
            let at_a = select(along, across, LAYOUT == TN);
            let i = first_row + 4u * at_a.y;
            let la = l0 + at_a.x;
            panel_a[at_a.x * PITCH + at_a.y] = vec4(
                a_at(a_base, i, la), a_at(a_base, i + 1u, la),
                a_at(a_base, i + 2u, la), a_at(a_base, i + 3u, la));
            let at_b = select(across, along, LAYOUT == NT);
            let j = first_col + 4u * at_b.y;
            let lb = l0 + at_b.x;
            panel_b[at_b.x * PITCH + at_b.y] = vec4(
                b_at(b_base, lb, j), b_at(b_base, lb, j + 1u),
                b_at(b_base, lb, j + 2u), b_at(b_base, lb, j + 3u));
        }
        workgroupBarrier();
        for (var l = 0u; l < DEPTH; l += 1u) {
            let column = panel_a[l * PITCH + local.y];
            let row = panel_b[l * PITCH + local.x];
            acc[0] += column.x * row;
            acc[1] += column.y * row;
            acc[2] += column.z * row;
            acc[3] += column.w * row;
        }
        workgroupBarrier();
    }

    let aux_base = p.aux_offset + group.z * p.aux_stride;
    let c_base = p.c_offset + group.z * p.c_stride;
    for (var r = 0u; r < 4u; r += 1u) {
        let i = first_row + 4u * local.y + r;
        for (var s = 0u; s < 4u; s += 1u) {
            let j = first_col + 4u * local.x + s;
            if i < p.m && j < p.n {
                var value = p.alpha * acc[r][s];
                if p.epilogue == ADD_BIAS {
                    value = activate(p.activation, value + aux[aux_base + j]);
                } else if p.epilogue == GATE {
                    value *= activate_grad(p.activation, aux[aux_base + i * p.n + j]);
                }
                c[c_base + i * p.n + j] = value;
            }
        }
    }
}
