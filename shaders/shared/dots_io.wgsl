// What row_dots and col_dots are called with (kernels::support::dots).
struct Params {
    rows: u32, cols: u32,
    a_offset: u32, a_stride: u32,
    b_offset: u32, b_stride: u32,
    out_offset: u32, out_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;
