// Points in panels of PANEL columns, each dimension by dimension, the last one filled up with zeros: the order in which
// pair_sinkhorn reads them. One thread an element of the result.

struct Params {
    points: u32, dim: u32,
    scale: f32,
    x_offset: u32, out_offset: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

const PANEL = 16u;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let e = linear_group(group, groups) * 256u + lane;
    if e >= (p.points + PANEL - 1u) / PANEL * PANEL * p.dim { return; }
    let point = e / (PANEL * p.dim) * PANEL + e % PANEL;
    var value = 0.0;
    if point < p.points { value = p.scale * x[p.x_offset + point * p.dim + e / PANEL % p.dim]; }
    out[p.out_offset + e] = value;
}
