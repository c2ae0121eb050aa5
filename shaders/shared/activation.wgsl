// Activations and their derivatives. The derivative is a function of the *output* y, so a forward pass
// has to keep nothing but its outputs. The numbers are those of kernels::Activation.
const IDENTITY = 0u;
const RELU = 1u;
const LEAKY_RELU = 2u;
const ELU = 3u;
const TANH = 4u;
const LEAKY_SLOPE = 0.01;

fn activate(kind: u32, x: f32) -> f32 {
    switch kind {
        case RELU: { return max(x, 0.0); }
        case LEAKY_RELU: { return select(LEAKY_SLOPE * x, x, x > 0.0); }
        // min: both arms are evaluated, and exp of a large x would be infinite.
        case ELU: { return select(exp(min(x, 0.0)) - 1.0, x, x > 0.0); }
        // clamp: some drivers compute tanh as (e²ˣ−1)/(e²ˣ+1), which is ∞/∞ for large x.
        case TANH: { return tanh(clamp(x, -15.0, 15.0)); }
        default: { return x; }
    }
}

fn activate_grad(kind: u32, y: f32) -> f32 {
    switch kind {
        case RELU: { return select(0.0, 1.0, y > 0.0); }
        case LEAKY_RELU: { return select(LEAKY_SLOPE, 1.0, y > 0.0); }
        case ELU: { return select(y + 1.0, 1.0, y > 0.0); }
        case TANH: { return 1.0 - y * y; }
        default: { return 1.0; }
    }
}
