// One-sided Jacobi: rotates pairs of columns of A until all are orthogonal, and V along with them, so that
// A·Vᵀ stays what it was. Then the columns of A are u_j s_j of a singular value decomposition, and
//   out_j = u_j (s_j/s_1)^p,    p from the schedule.
// One workgroup a matrix. In each round of a sweep every column meets one other (as in a round-robin
// tournament), so that the lanes work on separate pairs.

struct Params {
    rows: u32, cols: u32,
    sweeps: u32,
    a_offset: u32, a_stride: u32,
    v_offset: u32, v_stride: u32,
    out_offset: u32, out_stride: u32,
    columns: u32, steps: u32, power_column: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> schedule: array<f32>;
@group(0) @binding(2) var<storage, read> step: array<u32>;
@group(0) @binding(3) var<storage, read_write> a: array<f32>;
@group(0) @binding(4) var<storage, read_write> v: array<f32>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;

const LANES = 256u;
// Columns closer to orthogonal than this are left alone.
const TOLERANCE = 1e-6;
// Directions this far below the largest count as absent.
const LEAST = 1e-6;

var<workgroup> largest: array<f32, LANES>;

fn rotate_a(base: u32, rows: u32, i: u32, j: u32, c: f32, s: f32) {
    for (var r = 0u; r < rows; r += 1u) {
        let at = base + r * p.cols;
        let x = a[at + i];
        let y = a[at + j];
        a[at + i] = c * x - s * y;
        a[at + j] = s * x + c * y;
    }
}

fn rotate_v(base: u32, i: u32, j: u32, c: f32, s: f32) {
    for (var r = 0u; r < p.cols; r += 1u) {
        let at = base + r * p.cols;
        let x = v[at + i];
        let y = v[at + j];
        v[at + i] = c * x - s * y;
        v[at + j] = s * x + c * y;
    }
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let a_base = p.a_offset + group.z * p.a_stride;
    let v_base = p.v_offset + group.z * p.v_stride;
    let out_base = p.out_offset + group.z * p.out_stride;

    // An odd number of columns gets an absent partner.
    let players = p.cols + (p.cols & 1u);
    let circle = players - 1u;
    for (var round = 0u; round < p.sweeps * circle; round += 1u) {
        for (var pair = lane; pair < players / 2u; pair += LANES) {
            var i = circle;
            var j = round % circle;
            if pair > 0u {
                i = (round + pair) % circle;
                j = (round + circle - pair) % circle;
            }
            if max(i, j) < p.cols {
                var xx = 0.0;
                var yy = 0.0;
                var xy = 0.0;
                for (var r = 0u; r < p.rows; r += 1u) {
                    let x = a[a_base + r * p.cols + i];
                    let y = a[a_base + r * p.cols + j];
                    xx += x * x;
                    yy += y * y;
                    xy += x * y;
                }
                if abs(xy) > TOLERANCE * sqrt(xx) * sqrt(yy) && abs(xy) > 1e-30 {
                    let zeta = (yy - xx) / (2.0 * xy);
                    let t = select(-1.0, 1.0, zeta >= 0.0) / (abs(zeta) + sqrt(1.0 + zeta * zeta));
                    let c = 1.0 / sqrt(1.0 + t * t);
                    rotate_a(a_base, p.rows, i, j, c, c * t);
                    rotate_v(v_base, i, j, c, c * t);
                }
            }
        }
        storageBarrier();
        workgroupBarrier();
    }

    var top = 0.0;
    for (var j = lane; j < p.cols; j += LANES) {
        var square = 0.0;
        for (var r = 0u; r < p.rows; r += 1u) {
            let x = a[a_base + r * p.cols + j];
            square += x * x;
        }
        top = max(top, sqrt(square));
    }
    largest[lane] = top;
    workgroupBarrier();
    for (var width = LANES / 2u; width > 0u; width /= 2u) {
        if lane < width { largest[lane] = max(largest[lane], largest[lane + width]); }
        workgroupBarrier();
    }
    let first = largest[0];
    let power = scheduled(p.power_column);
    for (var j = lane; j < p.cols; j += LANES) {
        var square = 0.0;
        for (var r = 0u; r < p.rows; r += 1u) {
            let x = a[a_base + r * p.cols + j];
            square += x * x;
        }
        let s = sqrt(square);
        var scale = 0.0;
        if s > LEAST * first && s > 1e-30 { scale = pow(s / first, power) / s; }
        for (var r = 0u; r < p.rows; r += 1u) {
            out[out_base + r * p.cols + j] = scale * a[a_base + r * p.cols + j];
        }
    }
}
