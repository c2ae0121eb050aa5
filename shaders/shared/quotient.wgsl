// What becomes of a sum s, given where the weight w of its row or column stands (kernels::Quotient). A
// plain sum has no weight, and none is read.
const PLAIN = 0u;        // s
const WEIGHT_OVER = 1u;  // w / s, the update of a Sinkhorn scaling
const OVER_WEIGHT = 2u;  // s / w

fn quotient(s: f32, at: u32) -> f32 {
    switch p.kind {
        // A sum that has underflowed must not become an infinite scaling.
        case WEIGHT_OVER: { return w[at] / max(s, 1e-30); }
        case OVER_WEIGHT: { return s / w[at]; }
        default: { return s; }
    }
}
