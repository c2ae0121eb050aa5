// Ends a step: copies the step's values into row (step mod rows) of the statistics ring, then advances
// the step counter. The counter changes here and nowhere else.

struct Params { columns: u32, rows: u32 }

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> values: array<f32>;
@group(0) @binding(2) var<storage, read_write> ring: array<f32>;
@group(0) @binding(3) var<storage, read_write> step: array<u32>;

@compute @workgroup_size(1)
fn main() {
    let now = step[0];
    for (var c = 0u; c < p.columns; c += 1u) {
        ring[(now % p.rows) * p.columns + c] = values[c];
    }
    step[0] = now + 1u;
}
