// Centre and scale of two embeddings z (n rows) and w (m rows): with μ halfway between their means,
//   mean |z_i − w_j|² = mean |z_i − μ|² + mean |w_j − μ|² + 2 |z̄ − μ|²,
// a sum without cancellation and without anything n×m. In the scaled embeddings z̃ = γ(z − μ),
// w̃ = γ(w − μ) with γ² = 2/mean the normalised cost is ½|z̃_i − w̃_j|². One workgroup a fit.
//
// moments: μ, Σ_i z̃_i, Σ_j w̃_j (d values each), γ

struct Params {
    n: u32, m: u32, d: u32,
    z_offset: u32, z_stride: u32,
    w_offset: u32, w_stride: u32,
    moments_offset: u32, moments_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> z: array<f32>;
@group(0) @binding(2) var<storage, read> w: array<f32>;
@group(0) @binding(3) var<storage, read_write> moments: array<f32>;

const LANES = 256u;
var<workgroup> partial: array<vec2<f32>, LANES>;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let z_base = p.z_offset + group.z * p.z_stride;
    let w_base = p.w_offset + group.z * p.w_stride;
    let centre = p.moments_offset + group.z * p.moments_stride;
    let size = vec2(f32(p.n), f32(p.m));

    // Neighbouring lanes take neighbouring columns; what is left of them shares the rows.
    let width = min(p.d, LANES);
    let teams = LANES / width;
    let team = lane / width;
    for (var first = 0u; first < p.d; first += width) {
        let k = first + lane % width;
        var sum = vec2(0.0);
        if team < teams && k < p.d {
            for (var i = team; i < p.n; i += teams) { sum.x += z[z_base + i * p.d + k]; }
            for (var j = team; j < p.m; j += teams) { sum.y += w[w_base + j * p.d + k]; }
        }
        partial[lane] = sum;
        workgroupBarrier();
        if lane < width && k < p.d {
            for (var other = 1u; other < teams; other += 1u) { sum += partial[other * width + lane]; }
            let mean = sum / size;
            let middle = 0.5 * (mean.x + mean.y);
            moments[centre + k] = middle;
            moments[centre + p.d + k] = size.x * (mean.x - middle);
            moments[centre + 2u * p.d + k] = size.y * (mean.y - middle);
        }
        workgroupBarrier();
    }
    storageBarrier();
    workgroupBarrier();

    var square = 0.0;
    for (var e = lane; e < p.n * p.d; e += LANES) {
        let value = z[z_base + e] - moments[centre + e % p.d];
        square += value * value / size.x;
    }
    for (var e = lane; e < p.m * p.d; e += LANES) {
        let value = w[w_base + e] - moments[centre + e % p.d];
        square += value * value / size.y;
    }
    for (var k = lane; k < p.d; k += LANES) {
        let value = moments[centre + p.d + k] / size.x;
        square += 2.0 * value * value;
    }
    // Two sides that coincide in a single point have no scale; their cost stays zero.
    let scale = sqrt(2.0 / max(sum_lanes(lane, square), 1e-30));
    for (var k = lane; k < 2u * p.d; k += LANES) { moments[centre + p.d + k] *= scale; }
    if lane == 0u { moments[centre + 3u * p.d] = scale; }
}
