// out = Σ_j |c_j/Σc − t_j/Σt|: how far masses are from what they are to be, where only their shares count. One workgroup
// a problem.

struct Params {
    len: u32,
    c_offset: u32, c_stride: u32,
    t_offset: u32, t_stride: u32,
    out_offset: u32, out_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> c: array<f32>;
@group(0) @binding(2) var<storage, read> t: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

const LANES = 256u;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let c_base = p.c_offset + group.z * p.c_stride;
    let t_base = p.t_offset + group.z * p.t_stride;
    var masses = 0.0;
    var targets = 0.0;
    for (var j = lane; j < p.len; j += LANES) {
        masses += c[c_base + j];
        targets += t[t_base + j];
    }
    masses = max(sum_lanes(lane, masses), 1e-37);
    targets = max(sum_lanes(lane, targets), 1e-37);
    var apart = 0.0;
    for (var j = lane; j < p.len; j += LANES) {
        apart += abs(c[c_base + j] / masses - t[t_base + j] / targets);
    }
    apart = sum_lanes(lane, apart);
    if lane == 0u { out[p.out_offset + group.z * p.out_stride] = apart; }
}
