//! How ε falls over the steps of a run.

/// ε relative to the mean cost, which is 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Annealing {
    pub shape: Shape,
    /// So high that the plan starts nearly uniform: this decides more than any other setting.
    pub start: f32,
    pub end: f32,
    /// The share of the steps over which ε falls; then it is held.
    pub share: f32,
}

/// The way from start to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// By the same factor in every step.
    Exponential,
    /// By the same amount in every step.
    Linear,
    /// At the end from the beginning: no annealing.
    Constant,
}

impl Default for Annealing {
    fn default() -> Self {
        Self { shape: Shape::Exponential, start: 20.0, end: 0.05, share: 0.8 }
    }
}

impl Annealing {
    /// ε at a step.
    pub fn eps(&self, step: u32, steps: u32) -> f32 {
        let falling = (self.share * steps as f32 - 1.0).max(1.0);
        let way = (step as f32 / falling).min(1.0);
        match self.shape {
            Shape::Exponential => self.start * (self.end / self.start).powf(way),
            Shape::Linear => self.start + (self.end - self.start) * way,
            Shape::Constant => self.end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Annealing, Shape};

    #[test]
    fn falls_from_start_to_end_and_stays() {
        for shape in [Shape::Exponential, Shape::Linear] {
            let annealing = Annealing { shape, ..Annealing::default() };
            assert_eq!(annealing.eps(0, 100), 20.0);
            assert!((annealing.eps(79, 100) - 0.05).abs() < 1e-6);
            assert!((annealing.eps(99, 100) - 0.05).abs() < 1e-6);
            assert!((1..100).all(|t| annealing.eps(t, 100) <= annealing.eps(t - 1, 100)));
        }
        // Halfway: the geometric and the arithmetic mean.
        let halfway = |shape| Annealing { shape, share: 1.0, ..Annealing::default() }.eps(40, 82);
        assert!((halfway(Shape::Exponential) - 1.0).abs() < 0.05);
        assert!((halfway(Shape::Linear) - 10.0).abs() < 0.2);
        assert_eq!(halfway(Shape::Constant), 0.05);
    }
}
