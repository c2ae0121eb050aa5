// The sum over a workgroup, known to every lane afterwards. The shader says how many LANES it has.
var<workgroup> row_partial: array<f32, LANES>;

fn sum_lanes(lane: u32, value: f32) -> f32 {
    row_partial[lane] = value;
    workgroupBarrier();
    for (var half = LANES / 2u; half > 0u; half /= 2u) {
        if lane < half { row_partial[lane] += row_partial[lane + half]; }
        workgroupBarrier();
    }
    let total = row_partial[0];
    workgroupBarrier();
    return total;
}
