// The gradient of an embedding z through C = S / mean(S), S_ij = |z_i − w_j|²:
//   ∂z_i = 2/mean · ((ρ_i − count·κ) z_i − product_i + κ Σ_j w_j)
// with ρ the row sums of ∂C, product = ∂C·W, κ = mean(∂C∘C), count the number of w. It is the same for
// the other side with rows and columns exchanged.

struct Params {
    rows: u32, cols: u32,
    count: f32,
    z_offset: u32, z_stride: u32,
    product_offset: u32, product_stride: u32,
    rho_offset: u32, rho_stride: u32,
    others_offset: u32, others_stride: u32,
    kappa_offset: u32, kappa_stride: u32,
    mean_offset: u32, mean_stride: u32,
    out_offset: u32, out_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> z: array<f32>;
@group(0) @binding(2) var<storage, read> product: array<f32>;
@group(0) @binding(3) var<storage, read> rho: array<f32>;
@group(0) @binding(4) var<storage, read> others: array<f32>;
@group(0) @binding(5) var<storage, read> kappa: array<f32>;
@group(0) @binding(6) var<storage, read> mean: array<f32>;
@group(0) @binding(7) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let e = linear_group(group, groups) * 256u + lane;
    if e >= p.rows * p.cols { return; }
    let i = e / p.cols;
    let d = e % p.cols;
    let b = group.z;
    let k = kappa[p.kappa_offset + b * p.kappa_stride];
    let weight = rho[p.rho_offset + b * p.rho_stride + i] - p.count * k;
    let value = weight * z[p.z_offset + b * p.z_stride + e]
        - product[p.product_offset + b * p.product_stride + e]
        + k * others[p.others_offset + b * p.others_stride + d];
    out[p.out_offset + b * p.out_stride + e] = 2.0 * value / max(mean[p.mean_offset + b * p.mean_stride], 1e-30);
}
