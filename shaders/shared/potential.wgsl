// What row_lse and col_lse are called with (kernels::support::potential).
struct Params {
    rows: u32, cols: u32,
    cost_offset: u32, cost_stride: u32,
    v_offset: u32, v_stride: u32,
    log_w_offset: u32, log_w_stride: u32,
    out_offset: u32, out_stride: u32,
    columns: u32, steps: u32, eps_column: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> cost: array<f32>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read> log_w: array<f32>;
@group(0) @binding(4) var<storage, read> schedule: array<f32>;
@group(0) @binding(5) var<storage, read> step: array<u32>;
@group(0) @binding(6) var<storage, read_write> out: array<f32>;
