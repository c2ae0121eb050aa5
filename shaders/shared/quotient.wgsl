// What becomes of a sum s, given the weight w of its row or column (kernels::Quotient).
const PLAIN = 0u;        // s
const WEIGHT_OVER = 1u;  // w / s, the update of a Sinkhorn scaling
const OVER_WEIGHT = 2u;  // s / w
const WEIGHT_MINUS = 3u; // w − s

fn quotient(kind: u32, s: f32, w: f32) -> f32 {
    switch kind {
        // A sum that has underflowed must not become an infinite scaling.
        case WEIGHT_OVER: { return w / max(s, 1e-30); }
        case OVER_WEIGHT: { return s / w; }
        case WEIGHT_MINUS: { return w - s; }
        default: { return s; }
    }
}
