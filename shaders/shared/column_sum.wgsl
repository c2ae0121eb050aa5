// A workgroup of COLS × LANES threads that owns COLS columns: adds what the lanes of a column have.
const COLS = 64u;
const LANES = 4u;
var<workgroup> column_partial: array<f32, 256>;

fn sum_column(local: vec3<u32>, value: f32) -> f32 {
    column_partial[local.y * COLS + local.x] = value;
    workgroupBarrier();
    let x = local.x;
    let total = (column_partial[x] + column_partial[COLS + x])
        + (column_partial[2u * COLS + x] + column_partial[3u * COLS + x]);
    workgroupBarrier();
    return total;
}
