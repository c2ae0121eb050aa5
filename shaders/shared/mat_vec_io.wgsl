// What mat_vec and mat_t_vec are called with (kernels::support::mat_vec).
struct Params {
    rows: u32, cols: u32,
    kind: u32,
    k_offset: u32, k_stride: u32,
    v_offset: u32, v_stride: u32,
    w_offset: u32, w_stride: u32,
    out_offset: u32, out_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> k: array<f32>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read> w: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;
