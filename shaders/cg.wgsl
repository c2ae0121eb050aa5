// The vector part of one conjugate-gradient iteration on the scaled Schur complement
//   Â = I − D Πᵀ diag(1/a) Π D,   D = diag(c)^−½,
// whose null vector √c is projected out where it has one; with relaxed marginals it is definite. The products with Π are other kernels' work: they turn `probe`
// (D times the direction) into `product` (Πᵀ diag(1/a) Π D p). One workgroup a system.
//
// START takes the right-hand side in `product`, and D times it, scaled to length 1 because its square may
// underflow, is the first residual. Afterwards: β = D · solution · that length.
//
// state: 0 ρ = rᵀr   1 length of the right-hand side   2 one when done

struct Params {
    start: u32,
    m: u32,
    singular: u32,
    tolerance: f32,
    c_offset: u32, c_stride: u32,
    product_offset: u32, product_stride: u32,
    work_offset: u32, work_stride: u32,
    probe_offset: u32, probe_stride: u32,
    beta_offset: u32, beta_stride: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> c: array<f32>;
@group(0) @binding(2) var<storage, read> product: array<f32>;
// Solution, residual, direction (m values each), then the three values of the state.
@group(0) @binding(3) var<storage, read_write> work: array<f32>;
@group(0) @binding(4) var<storage, read_write> probe: array<f32>;
@group(0) @binding(5) var<storage, read_write> beta: array<f32>;

const LANES = 256u;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let c_base = p.c_offset + group.z * p.c_stride;
    let product_base = p.product_offset + group.z * p.product_stride;
    let solution = p.work_offset + group.z * p.work_stride;
    let residual = solution + p.m;
    let direction = residual + p.m;
    let state = direction + p.m;
    let probe_base = p.probe_offset + group.z * p.probe_stride;
    let beta_base = p.beta_offset + group.z * p.beta_stride;

    var mass = 0.0;
    for (var j = lane; j < p.m; j += LANES) { mass += c[c_base + j]; }
    mass = sum_lanes(lane, mass);

    if p.start == 1u {
        // ⟨√c, D · product⟩ = Σ product
        var along = 0.0;
        for (var j = lane; j < p.m; j += LANES) { along += product[product_base + j]; }
        along = select(0.0, sum_lanes(lane, along) / mass, p.singular > 0u);
        var square = 0.0;
        for (var j = lane; j < p.m; j += LANES) {
            let root = sqrt(c[c_base + j]);
            let value = product[product_base + j] / root - along * root;
            work[residual + j] = value;
            square += value * value;
        }
        let length = sqrt(sum_lanes(lane, square));
        let scale = select(0.0, 1.0 / max(length, 1e-30), length > 1e-30);
        for (var j = lane; j < p.m; j += LANES) {
            let value = scale * work[residual + j];
            work[solution + j] = 0.0;
            work[residual + j] = value;
            work[direction + j] = value;
            probe[probe_base + j] = value / sqrt(c[c_base + j]);
            beta[beta_base + j] = 0.0;
        }
        if lane == 0u {
            work[state] = 1.0;
            work[state + 1u] = length;
            work[state + 2u] = select(1.0, 0.0, length > 1e-30);
        }
        return;
    }

    let rho = work[state];
    let length = work[state + 1u];
    let done = work[state + 2u];
    storageBarrier();
    workgroupBarrier();

    // Â p = p − D · product, with what rounding leaves along √c taken out.
    var along = 0.0;
    for (var j = lane; j < p.m; j += LANES) {
        along += sqrt(c[c_base + j]) * work[direction + j] - product[product_base + j];
    }
    along = select(0.0, sum_lanes(lane, along) / mass, p.singular > 0u);
    var curvature = 0.0;
    var square = 0.0;
    for (var j = lane; j < p.m; j += LANES) {
        let root = sqrt(c[c_base + j]);
        let d = work[direction + j];
        curvature += d * (d - product[product_base + j] / root - along * root);
        square += d * d;
    }
    curvature = sum_lanes(lane, curvature);
    square = sum_lanes(lane, square);
    // An exact permutation makes the matrix zero: nothing left to solve.
    let stop = done > 0.5 || curvature <= 1e-7 * square;
    let alpha = select(rho / max(curvature, 1e-30), 0.0, stop);
    var next = 0.0;
    for (var j = lane; j < p.m; j += LANES) {
        let root = sqrt(c[c_base + j]);
        let d = work[direction + j];
        work[solution + j] += alpha * d;
        let value = work[residual + j] - alpha * (d - product[product_base + j] / root - along * root);
        work[residual + j] = value;
        next += value * value;
    }
    next = sum_lanes(lane, next);
    let turn = select(next / max(rho, 1e-30), 0.0, stop);
    for (var j = lane; j < p.m; j += LANES) {
        let root = sqrt(c[c_base + j]);
        let d = work[residual + j] + turn * work[direction + j];
        if !stop { work[direction + j] = d; }
        probe[probe_base + j] = work[direction + j] / root;
        beta[beta_base + j] = length * work[solution + j] / root;
    }
    if lane == 0u && !stop {
        work[state] = next;
    }
    if lane == 0u && (stop || next <= p.tolerance * p.tolerance) {
        work[state + 2u] = 1.0;
    }
}
