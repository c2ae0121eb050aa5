// r/a = exp((1−τ) ℓ) of a relaxed half-step, 1−τ = ε/(λ+ε); bounded, so that no row becomes nothing or too much
// (kernels::support::given). `slack` is 1/λ.
fn given(slack: f32, eps: f32, lse: f32) -> f32 {
    let share = slack * eps / (1.0 + slack * eps);
    return exp(clamp(share * lse, -70.0, 70.0));
}
