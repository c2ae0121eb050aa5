//! Network candidates: fits on several distances and subsamples, trained together as one stack.

use super::choose::{Candidate, Judge, Origin};
use super::control::{Control, Failure, Progress};
use super::objective::{objective, put, terms, widths};
use super::sides::rows;
use super::{Settings, Sides};
use crate::exec::{AnyExecutor, Device, Executor};
use crate::geometry::Dense;
use crate::plan::Plan;
use crate::rng::Rng;
use crate::solver::align::{Align, AlignSettings, Problem, STATS};
use crate::solver::infer::Encoders;

/// All network candidates, judged.
pub(super) async fn candidates(
    device: &Device,
    sides: &Sides,
    settings: &Settings,
    judge: &Judge<'_>,
    control: &mut impl Control,
) -> Result<Vec<Candidate>, Failure> {
    let mut fits = Vec::new();
    for (index, measure) in judge.measures().into_iter().enumerate() {
        for subsample in 0..settings.fits {
            let origin = Origin::Network { measure, loss: settings.loss, subsample };
            fits.push(Fit { origin, index, inputs: sides.inputs(origin.preparations()) });
        }
    }
    let stack = Stack { fits, judge, settings };
    let shapes = Align::shapes(&settings.train, sides.dims().map(|d| d as u32));
    let weights = stack.train(device, control).await?;
    let each = weights.len() / stack.fits.len().max(1);
    let mut found = Vec::new();
    for (fit, weights) in stack.fits.iter().zip(weights.chunks_exact(each.max(1))) {
        let (shapes, weights) = (shapes.clone(), weights.to_vec());
        let encoders = Encoders::Networks { shapes, weights, cost: settings.train.cost };
        found.push(judge.candidate(device, encoders, fit.origin, control).await?);
    }
    Ok(found)
}

/// One fit of the stack.
struct Fit {
    origin: Origin,
    /// The measure's place in the panel.
    index: usize,
    /// What its encoders see of all points.
    inputs: [Dense; 2],
}

struct Stack<'a> {
    fits: Vec<Fit>,
    judge: &'a Judge<'a>,
    settings: &'a Settings,
}

impl Stack<'_> {
    /// Puts inputs and objective of all fits into an empty plan, for the `draw`-th subsamples. Buffers come in the
    /// same order for every draw, so that a later draw can replace an earlier one.
    fn problem(&self, plan: &mut Plan, draw: u32, widths: Option<[usize; 2]>) -> Problem {
        let mut inputs = [Vec::new(), Vec::new()];
        let mut within = [Vec::new(), Vec::new()];
        for (place, fit) in self.fits.iter().enumerate() {
            // A subsample of its own for every fit: those that differ only in first weights end alike.
            let shuffle = u64::from(draw) * 65_537 + place as u64;
            let mut rng = Rng::new(self.settings.seed.wrapping_mul(1_000_003).wrapping_add(shuffle));
            for side in [0, 1] {
                let judged = self.judge.rows()[side];
                let chosen = rng.sample(judged.len(), self.settings.sample);
                let picked: Vec<usize> = chosen.iter().map(|&i| judged[i]).collect();
                inputs[side].push(rows(&fit.inputs[side], &picked));
                let whole = &self.judge.distances(fit.index)[side];
                let n = chosen.len();
                within[side].push(Dense::from_fn(n, n, |i, j| whole.at(chosen[i], chosen[j])));
            }
        }
        let [x, y] = inputs.each_ref().map(|fits| put(plan, "inputs", fits));
        let within = [&within[0][..], &within[1][..]];
        let objective = objective(plan, self.settings.loss, within, widths);
        Problem { x, y, objective, terms: terms(plan, self.settings.dirichlet, within) }
    }

    /// Trains the stack and returns the parameters of all fits.
    async fn train(&self, device: &Device, control: &mut impl Control) -> Result<Vec<f32>, Failure> {
        let train = AlignSettings { seed: self.settings.seed, ..self.settings.train.clone() };
        let mut plan = Plan::new();
        let problem = self.problem(&mut plan, 0, None);
        let widths = widths(&problem.objective);
        let inputs = plan.buffers().len();
        let align = Align::record(&mut plan, &train, &problem);
        let mut executor = device.prepare(plan).await?;
        let mut watch = Watch::new(&train, self.fits.len());
        let (mut done, mut draw) = (0, 0);
        while done < train.steps {
            let mut chunk = control.chunk().min(train.steps - done);
            if let Some(every) = self.settings.redraw {
                chunk = chunk.min(every - done % every);
                if done > 0 && done % every == 0 {
                    draw += 1;
                    let mut next = Plan::new();
                    self.problem(&mut next, draw, widths);
                    replace(&mut executor, &next, inputs)?;
                    // Potentials of other points mean nothing to these.
                    executor.write(
                        align.potential.buf,
                        &vec![0.0; align.potential.len() as usize * self.fits.len()],
                    )?;
                }
            }
            executor.submit(align.step, chunk)?;
            executor.settle(1).await?;
            done += chunk;
            if let Some(stats) = executor.stats()?
                && watch.look(&stats.values, stats.first_step)?
            {
                break;
            }
            control.checkpoint(Progress { phase: "training", done, of: train.steps }).await?;
        }
        Ok(executor.read(align.weights).await?)
    }
}

/// Writes the first contents of the first `count` buffers of a plan over those of an executor.
fn replace(executor: &mut AnyExecutor, plan: &Plan, count: usize) -> Result<(), Failure> {
    for (id, desc) in plan.ids().zip(plan.buffers()).take(count) {
        executor.write(id, &desc.initial)?;
    }
    Ok(())
}

/// Watches the statistics of a run: is it broken, has it converged?
struct Watch<'a> {
    train: &'a AlignSettings,
    fits: usize,
    /// The lowest total loss at the final ε, and the step of it.
    best: Option<(f64, u32)>,
}

/// Steps without improvement, at the final ε, after which a run has converged.
const PATIENCE: u32 = 30;
/// What counts as an improvement, relative to the loss.
const IMPROVEMENT: f64 = 1e-4;

impl<'a> Watch<'a> {
    fn new(train: &'a AlignSettings, fits: usize) -> Self {
        Self { train, fits, best: None }
    }

    /// Looks at new rows of statistics; true says that the run has converged.
    fn look(&mut self, values: &[f32], first_step: u32) -> Result<bool, Failure> {
        let AlignSettings { annealing, steps, rate, .. } = *self.train;
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
            if eps > annealing.end {
                continue;
            }
            let total: f64 = losses.map(|v| f64::from(*v)).sum();
            match self.best {
                Some((best, at)) if total > best - IMPROVEMENT * best.abs() => {
                    if step - at >= PATIENCE {
                        return Ok(true);
                    }
                }
                _ => self.best = Some((total, step)),
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(train: &AlignSettings) -> Watch<'_> {
        Watch::new(train, 1)
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
}
