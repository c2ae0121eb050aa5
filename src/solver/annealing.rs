//! How ε falls over the steps of a run.

/// ε relative to the mean cost, which is 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Annealing {
    /// So high that the plan starts nearly uniform: this decides more than any other setting.
    pub start: f32,
    pub end: f32,
    /// The share of the steps over which ε falls, exponentially; then it is held.
    pub share: f32,
}

impl Default for Annealing {
    fn default() -> Self {
        Self { start: 20.0, end: 0.05, share: 0.8 }
    }
}

impl Annealing {
    /// ε at a step.
    pub fn eps(&self, step: u32, steps: u32) -> f32 {
        let falling = (self.share * steps as f32 - 1.0).max(1.0);
        let way = (step as f32 / falling).min(1.0);
        self.start * (self.end / self.start).powf(way)
    }
}

#[cfg(test)]
mod tests {
    use super::Annealing;

    #[test]
    fn falls_from_start_to_end_and_stays() {
        let annealing = Annealing::default();
        assert_eq!(annealing.eps(0, 100), 20.0);
        assert!((annealing.eps(79, 100) - 0.05).abs() < 1e-6);
        assert!((annealing.eps(99, 100) - 0.05).abs() < 1e-6);
        let halfway = annealing.eps(40, 81);
        assert!(halfway < 20.0 && halfway > 0.05);
        assert!((1..100).all(|t| annealing.eps(t, 100) <= annealing.eps(t - 1, 100)));
    }
}
