// out[i, first + c] = scale · x[i, c]: a matrix becomes some columns of a wider one. One thread an element.

struct Params {
    rows: u32, cols: u32,
    first: u32, pitch: u32,   // where in a row of out, and how long that row is
    scale: f32,
    x_offset: u32, out_offset: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let e = linear_group(group, groups) * 256u + lane;
    if e >= p.rows * p.cols { return; }
    out[p.out_offset + e / p.cols * p.pitch + p.first + e % p.cols] = p.scale * x[p.x_offset + e];
}
