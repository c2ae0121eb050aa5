//! What the statistics of training say: is a run broken, has it converged?

use super::control::Failure;
use crate::solver::align::{AlignSettings, STATS};

/// Watches the statistics of a run: is it broken, has it converged?
pub(super) struct Convergence<'a> {
    train: &'a AlignSettings,
    fits: usize,
    /// No run has converged before this step.
    from: u32,
    /// The lowest total loss at the final ε, and the step of it.
    best: Option<(f64, u32)>,
    pub(super) moved: Vec<Moved>,
}

/// When the loss of a fit last moved.
#[derive(Clone, Copy, Default)]
pub(super) struct Moved {
    pub(super) step: u32,
    loss: f32,
    /// The largest loss so far, beside which a move has to show.
    largest: f32,
}

impl Moved {
    fn look(&mut self, loss: f32, step: u32) {
        self.largest = self.largest.max(loss.abs());
        if (loss - self.loss).abs() > IMPROVEMENT as f32 * self.largest {
            (self.loss, self.step) = (loss, step);
        }
    }
}

/// A run may end after so many steps, twice as many, and so on.
pub(super) const LOOKS: u32 = 10;
/// Steps without improvement, at the final ε, after which a run has converged.
const PATIENCE: u32 = 30;
/// What counts as an improvement, relative to the loss.
const IMPROVEMENT: f64 = 1e-4;

impl<'a> Convergence<'a> {
    pub(super) fn new(train: &'a AlignSettings, fits: usize) -> Self {
        Self { train, fits, from: 0, best: None, moved: vec![Moved::default(); fits] }
    }

    /// Where another loss is minimised from some step on: that it no longer falls before says nothing.
    pub(super) fn from(self, step: u32) -> Self {
        Self { from: step, ..self }
    }

    /// Looks at new rows of statistics; true says that the run has converged as of the last of them. Where a run ends
    /// must not depend on how many rows come at a time, so whoever ends it looks at fixed steps ([`LOOKS`]).
    pub(super) fn look(&mut self, values: &[f32], first_step: u32) -> Result<bool, Failure> {
        let AlignSettings { annealing, steps, rate, .. } = *self.train;
        let mut converged = false;
        for (row, step) in values.chunks_exact(self.fits * STATS as usize).zip(first_step..) {
            let losses = row.iter().step_by(STATS as usize);
            let errors = row.iter().skip(1).step_by(STATS as usize);
            let eps = annealing.eps(step, steps);
            if row.iter().any(|v| !v.is_finite()) {
                let cause = if errors.clone().any(|e| !e.is_finite()) {
                    format!("the transport at ε = {eps:.3} has no finite plan. A larger final ε helps")
                } else {
                    "the loss is not finite. A lower learning rate helps".into()
                };
                return Err(Failure::Diverged { step, cause });
            }
            if let Some(error) = errors.copied().find(|e| *e > 1.9) {
                let cause = format!(
                    "the plan at ε = {eps:.3} misses its marginals by {error:.1}, so it matches nothing. A learning rate below {rate:.0e} or more Sinkhorn iterations help"
                );
                return Err(Failure::Diverged { step, cause });
            }
            self.moved.iter_mut().zip(losses.clone()).for_each(|(moved, loss)| moved.look(*loss, step));
            if eps > annealing.end || step < self.from {
                continue;
            }
            let total: f64 = losses.map(|v| f64::from(*v)).sum();
            converged = match self.best {
                Some((best, at)) if total > best - IMPROVEMENT * best.abs() => step - at >= PATIENCE,
                _ => {
                    self.best = Some((total, step));
                    false
                }
            };
        }
        Ok(converged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::annealing::Annealing;

    fn watch(train: &AlignSettings) -> Convergence<'_> {
        Convergence::new(train, 1)
    }

    #[test]
    fn a_broken_run_is_reported_with_its_step_and_cause() {
        let train = AlignSettings::default();
        let diverged = |values: &[f32]| match watch(&train).look(values, 40) {
            Err(Failure::Diverged { step, cause }) => (step, cause),
            other => panic!("{other:?}"),
        };
        let (step, cause) = diverged(&[-1.0, 0.1, f32::NAN, 0.1]);
        assert_eq!(step, 41);
        assert!(cause.contains("learning rate"), "{cause}");
        let (step, cause) = diverged(&[f32::NAN, f32::INFINITY]);
        assert_eq!(step, 40);
        assert!(cause.contains("no finite plan"), "{cause}");
        assert!(diverged(&[-1.0, 2.0]).1.contains("misses its marginals"));
    }

    #[test]
    fn a_run_stops_when_its_loss_no_longer_falls_and_not_before_eps_has_fallen() {
        let train = AlignSettings::default();
        let flat = [-1.0f32, 0.01].repeat(PATIENCE as usize + 5);
        assert!(!watch(&train).look(&flat, 0).expect("lives"), "ε is still high");
        assert!(watch(&train).look(&flat, 250).expect("lives"));
        let falling: Vec<f32> = (0..PATIENCE + 5).flat_map(|t| [-1.0 - 0.01 * t as f32, 0.01]).collect();
        assert!(!watch(&train).look(&falling, 250).expect("lives"));
    }

    /// Neither ends the first loss the run, nor is the second held against it.
    #[test]
    fn a_loss_that_is_minimised_from_some_step_on_is_watched_from_there() {
        let train = AlignSettings {
            annealing: Annealing { share: 0.1, ..Annealing::default() },
            ..AlignSettings::default()
        };
        let flat = |loss: f32, steps: u32| [loss, 0.01].repeat(steps as usize);
        let mut watched = watch(&train).from(240);
        assert!(!watched.look(&flat(-2.0, 140), 100).expect("lives"), "the other loss");
        assert!(!watched.look(&flat(-1.0, PATIENCE), 240).expect("lives"), "not for long enough");
        assert!(watched.look(&flat(-1.0, 1), 240 + PATIENCE).expect("lives"));
    }
}
