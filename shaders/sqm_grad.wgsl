// The gradients of both embeddings through C = S / mean(S), S_ij = |z_i − w_j|²:
//   ∂z_i = γ · ((ρ_i − m·κ) z̃_i − Σ_j ∂C_ij w̃_j + κ Σ_j w̃_j)
// with ρ the row sums of ∂C and κ = mean(∂C∘C); for w the same with rows and columns exchanged. Everything
// that is summed over the other side is a product of ∂C with the rows of sqm_sides: there the constant column
// gives ρ, and the inner product of these products with the rows themselves is −nm·κ.

struct Params {
    n: u32, m: u32, d: u32,
    sides_offset: u32, sides_stride: u32,
    products_offset: u32, products_stride: u32,
    moments_offset: u32, moments_stride: u32,
    inner_offset: u32, inner_stride: u32,
    dz_offset: u32, dz_stride: u32,
    dw_offset: u32, dw_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> sides: array<f32>;
@group(0) @binding(2) var<storage, read> products: array<f32>;
@group(0) @binding(3) var<storage, read> moments: array<f32>;
@group(0) @binding(4) var<storage, read> inner: array<f32>;
@group(0) @binding(5) var<storage, read_write> dz: array<f32>;
@group(0) @binding(6) var<storage, read_write> dw: array<f32>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let e = linear_group(group, groups) * 256u + lane;
    if e >= (p.n + p.m) * p.d { return; }
    let i = e / p.d;
    let k = e % p.d;
    let b = group.z;
    let first = i < p.n;
    let row = i * (p.d + 2u);
    let own = p.sides_offset + b * p.sides_stride + row;
    let product = p.products_offset + b * p.products_stride + row;
    let base = p.moments_offset + b * p.moments_stride;
    let others = moments[base + select(p.d, 2u * p.d, first) + k];
    let rho = products[product + select(p.d + 1u, p.d, first)];
    // Per row of this side: count·κ, with count the rows of the other.
    let share = -inner[p.inner_offset + b * p.inner_stride] / select(f32(p.m), f32(p.n), first);
    let kappa = share / select(f32(p.n), f32(p.m), first);
    let value = moments[base + 3u * p.d]
        * ((rho - share) * sides[own + k] - products[product + k] + kappa * others);
    if first {
        dz[p.dz_offset + b * p.dz_stride + e] = value;
    } else {
        dw[p.dw_offset + b * p.dw_stride + e - p.n * p.d] = value;
    }
}
