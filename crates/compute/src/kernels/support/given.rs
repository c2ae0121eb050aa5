//! What a row or a column gives away of its weight, or takes beyond it, where weights are relaxed.

/// The largest logarithm of a ratio of masses: no zeros, no infinities, and no subnormal numbers.
pub(in super::super) const MOST: f32 = 70.0;

/// `r/a = exp((1−τ) ℓ)` of a relaxed half-step, `1−τ = ε/(λ+ε)`; `slack` is 1/λ. The twin of
/// `shaders/shared/given.wgsl`.
pub(in super::super) fn given(slack: f32, eps: f32, lse: f32) -> f32 {
    let share = slack * eps / (1.0 + slack * eps);
    (share * lse).clamp(-MOST, MOST).exp()
}
