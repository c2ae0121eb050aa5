//! What the rows and the columns of a transport plan are to hold: weights, met exactly or only roughly.
//!
//! A relaxed transport minimises
//!
//! `⟨C, Π⟩ + ε KL(Π | a⊗b) + λx KL(Π1 | a) + λy KL(Πᵀ1 | b)`
//!
//! among the plans of mass 1. A row whose partners are all far away then gives part of its weight to others. λ is what
//! is fixed; the exponent `τ = λ/(λ+ε)` of a half-step follows from ε, which falls over a run.

/// The weights of both sides, each of which sums to 1, and how far the plan may depart from them.
#[derive(Clone, Copy, Debug)]
pub struct Marginals<'a> {
    pub a: &'a [f32],
    pub b: &'a [f32],
    pub relaxation: Relaxation,
}

impl<'a> Marginals<'a> {
    /// Weights that are met.
    pub fn strict(a: &'a [f32], b: &'a [f32]) -> Self {
        Self { a, b, relaxation: Relaxation::STRICT }
    }
}

/// Equal weights for `n` points.
pub fn uniform(n: u32) -> Vec<f32> {
    vec![1.0 / n as f32; n as usize]
}

/// λ of either side; none where the weights are met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relaxation {
    pub x: Option<f32>,
    pub y: Option<f32>,
}

impl Relaxation {
    /// Both sides meet their weights: balanced transport.
    pub const STRICT: Self = Self { x: None, y: None };

    /// The same λ on both sides.
    pub const fn both(lambda: f32) -> Self {
        Self { x: Some(lambda), y: Some(lambda) }
    }

    pub fn is_strict(self) -> bool {
        self == Self::STRICT
    }

    /// λ of a side, 0 or 1.
    pub fn of(self, side: usize) -> Option<f32> {
        [self.x, self.y][side]
    }

    /// 1/λ of a side: 0 where its weights are met.
    pub fn slack(self, side: usize) -> f32 {
        self.of(side).map_or(0.0, f32::recip)
    }

    /// `τ = λ/(λ+ε)` of a side: 1 where its weights are met.
    pub fn tau(self, side: usize, eps: f32) -> f32 {
        1.0 / (1.0 + self.slack(side) * eps)
    }
}

#[cfg(test)]
mod tests {
    use super::Relaxation;

    #[test]
    fn tau_follows_from_lambda_and_eps() {
        let one = Relaxation { x: None, y: Some(0.2) };
        assert_eq!((one.tau(0, 0.05), one.slack(0)), (1.0, 0.0));
        assert!((one.tau(1, 0.05) - 0.8).abs() < 1e-6 && (one.tau(1, 0.2) - 0.5).abs() < 1e-6);
        assert!(!one.is_strict() && Relaxation::STRICT.is_strict() && !Relaxation::both(0.5).is_strict());
    }
}
