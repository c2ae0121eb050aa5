// The rows whose inner products are the normalised squared distances, with the minus sign outside:
//   [z̃_i | −½|z̃_i|² | 1] and [w̃_j | 1 | −½|w̃_j|²],   C_ij = −⟨ , ⟩ = ½|z̃_i − w̃_j|²
// in the scaled embeddings of sqm_moments. First all rows of z, then those of w; one thread a row.

struct Params {
    n: u32, m: u32, d: u32,
    z_offset: u32, z_stride: u32,
    w_offset: u32, w_stride: u32,
    moments_offset: u32, moments_stride: u32,
    sides_offset: u32, sides_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> z: array<f32>;
@group(0) @binding(2) var<storage, read> w: array<f32>;
@group(0) @binding(3) var<storage, read> moments: array<f32>;
@group(0) @binding(4) var<storage, read_write> sides: array<f32>;

const LANES = 64u;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = linear_group(group, groups) * LANES + lane;
    if i >= p.n + p.m { return; }
    let first = i < p.n;
    let z_row = p.z_offset + group.z * p.z_stride + i * p.d;
    let w_row = p.w_offset + group.z * p.w_stride + (i - p.n) * p.d;
    let centre = p.moments_offset + group.z * p.moments_stride;
    let row = p.sides_offset + group.z * p.sides_stride + i * (p.d + 2u);
    let scale = moments[centre + 3u * p.d];
    var square = 0.0;
    for (var k = 0u; k < p.d; k += 1u) {
        var value = 0.0;
        if first { value = z[z_row + k]; } else { value = w[w_row + k]; }
        value = scale * (value - moments[centre + k]);
        sides[row + k] = value;
        square += value * value;
    }
    sides[row + p.d] = select(1.0, -0.5 * square, first);
    sides[row + p.d + 1u] = select(-0.5 * square, 1.0, first);
}
