//! Network candidates: fits on several distances and subsamples, trained together as one stack.

use super::choose::{Candidate, Judge, Origin};
use super::control::{Control, Failure, Progress, Statistics, View};
use super::objective::{Beside, Form, objective, put, terms};
use super::sides::sample_with;
use super::transport::Coupling;
use super::{Settings, Sides};
use crate::exec::{AnyExecutor, Device, Executor};
use crate::geometry::Dense;
use crate::plan::{Mat, Plan};
use crate::rng::Rng;
use crate::solver::align::{Align, AlignSettings, Problem, STATS};
use crate::solver::infer::Encoders;
use crate::solver::terms::fused::shared_cost;
use crate::solver::terms::pairs::weights as pair_weights;

/// All network candidates, judged, with their plans between the judged rows.
pub(super) async fn candidates(
    device: &Device,
    sides: &Sides,
    settings: &Settings,
    judge: &Judge<'_>,
    control: &mut impl Control,
) -> Result<Vec<(Candidate, Coupling<Dense>)>, Failure> {
    let stack = Stack::new(sides, settings, judge);
    let shapes = Align::shapes(&settings.train, sides.dims().map(|d| d as u32));
    let (weights, moved) = stack.train(device, control).await?;
    let each = weights.len() / stack.fits.len().max(1);
    let mut found = Vec::new();
    for ((fit, weights), step) in stack.fits.iter().zip(weights.chunks_exact(each.max(1))).zip(moved) {
        // A cost that has overflowed is rectified to zero, and the statistics go on as if nothing had happened:
        // what is left of the encoders tells, and the step at which the loss froze says when.
        if let Some(bad) = weights.iter().find(|w| !w.is_finite()) {
            let cause = format!("a weight of the encoders became {bad}. A lower learning rate helps");
            return Err(Failure::Diverged { step, cause });
        }
        let (shapes, weights) = (shapes.clone(), weights.to_vec());
        let encoders = Encoders::Networks { shapes, weights, cost: settings.train.cost };
        let candidate = judge.candidate(device, encoders, fit.origin, control).await;
        found.push(candidate.map_err(|failure| match failure {
            Failure::Diverged { cause, .. } => Failure::Diverged { step, cause },
            other => other,
        })?);
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
    sides: &'a Sides,
    fits: Vec<Fit>,
    judge: &'a Judge<'a>,
    settings: &'a Settings,
}

impl<'a> Stack<'a> {
    fn new(sides: &'a Sides, settings: &'a Settings, judge: &'a Judge<'a>) -> Self {
        let mut fits = Vec::new();
        for (index, measure) in judge.measures().into_iter().enumerate() {
            for subsample in 0..settings.fits {
                let origin = Origin::Network { measure, loss: settings.loss, subsample };
                fits.push(Fit { origin, index, inputs: sides.inputs(origin.preparations()) });
            }
        }
        Self { sides, fits, judge, settings }
    }

    /// Puts inputs and objective of all fits into an empty plan, for the `draw`-th subsamples. Buffers come in the
    /// same order for every draw, so that a later draw can replace an earlier one.
    fn problem(&self, plan: &mut Plan, draw: u32, form: Form) -> Problem {
        let mut inputs = [Vec::new(), Vec::new()];
        let mut within = [Vec::new(), Vec::new()];
        let mut beside = Beside { shared: Vec::new(), known: Vec::new() };
        for (place, fit) in self.fits.iter().enumerate() {
            let chosen = self.chosen(draw, place);
            let picked = [0, 1].map(|side| self.rows_of(side, &chosen[side]));
            for side in [0, 1] {
                let chosen = &chosen[side];
                inputs[side].push(fit.inputs[side].picked(&picked[side]));
                let whole = &self.judge.distances(fit.index)[side];
                let n = chosen.len();
                within[side].push(Dense::from_fn(n, n, |i, j| whole.at(chosen[i], chosen[j])));
            }
            let [n, m] = chosen.each_ref().map(Vec::len);
            if let Some(shared) = self.sides.shared() {
                let [sx, sy] = [0, 1].map(|side| shared[side].picked(&picked[side]));
                let cost = shared_cost([sx.data(), sy.data()], sx.cols());
                beside.shared.push(Dense::new(n, m, cost));
            }
            if !self.judge.known().is_empty() {
                let place = |side: usize, row: usize| chosen[side].iter().position(|&i| i == row);
                let both = |&(i, j): &(usize, usize)| Some((place(0, i)?, place(1, j)?));
                let pairs: Vec<(usize, usize)> = self.judge.known().iter().filter_map(both).collect();
                beside.known.push(Dense::new(n, m, pair_weights(n, m, &pairs)));
            }
        }
        let [x, y] = inputs.each_ref().map(|fits| put(plan, "inputs", fits));
        let within = [&within[0][..], &within[1][..]];
        let objective = objective(plan, self.settings.loss, within, form);
        Problem { x, y, objective, terms: terms(plan, self.settings, within, &beside) }
    }

    /// The subsample of the `place`-th fit: places among the judged rows of both sides.
    fn chosen(&self, draw: u32, place: usize) -> [Vec<usize>; 2] {
        // Of its own for every fit: those that differ only in first weights end alike.
        let shuffle = u64::from(draw) * 65_537 + place as u64;
        let mut rng = Rng::new(self.settings.seed.wrapping_mul(1_000_003).wrapping_add(shuffle));
        let most = self.settings.sample;
        // Known pairs make up to half of it, as many as fit.
        let known = self.judge.known();
        let pinned: Vec<(usize, usize)> = if known.is_empty() {
            Vec::new()
        } else {
            rng.sample(known.len(), most / 2).into_iter().map(|k| known[k]).collect()
        };
        let pinned = [pinned.iter().map(|p| p.0).collect::<Vec<_>>(), pinned.iter().map(|p| p.1).collect()];
        [0, 1].map(|side| sample_with(&pinned[side], self.judge.rows()[side].len(), most, &mut rng))
    }

    /// Rows of a side, given their places among the judged ones.
    fn rows_of(&self, side: usize, places: &[usize]) -> Vec<usize> {
        let judged = self.judge.rows()[side];
        places.iter().map(|&i| judged[i]).collect()
    }

    /// Shows where the first fit puts its points.
    async fn show(
        &self,
        executor: &mut AnyExecutor,
        align: &Align,
        draw: u32,
        control: &mut impl Control,
    ) -> Result<(), Failure> {
        let chosen = self.chosen(draw, 0);
        let rows = [0, 1].map(|side| self.rows_of(side, &chosen[side]));
        let mut embedded = Vec::new();
        for mat in align.embedded {
            let data = executor.read(mat.buf).await?;
            let (n, d) = (mat.rows as usize, mat.cols as usize);
            embedded.push(Dense::new(n, d, data[mat.offset as usize..][..n * d].to_vec()));
        }
        let Ok(embedded) = <[Dense; 2]>::try_from(embedded) else { return Ok(()) };
        let (n, m) = (align.plan.rows as usize, align.plan.cols as usize);
        let plans = executor.read(align.plan.buf).await?;
        let plans = plans.chunks_exact(n * m).map(|plan| Dense::new(n, m, plan.to_vec())).collect();
        control.view(View { rows: rows.each_ref().map(Vec::as_slice), embedded, plans });
        Ok(())
    }

    /// Puts the `draw`-th subsamples in the place of those an executor holds, which are in the same form.
    fn redraw(
        &self,
        executor: &mut AnyExecutor,
        potential: Mat,
        draw: u32,
        form: Form,
    ) -> Result<(), Failure> {
        let mut next = Plan::new();
        self.problem(&mut next, draw, form);
        for (id, desc) in next.ids().zip(next.buffers()) {
            executor.write(id, &desc.initial)?;
        }
        // Potentials of other points mean nothing to these.
        executor.write(potential.buf, &vec![0.0; potential.len() as usize * self.fits.len()])?;
        Ok(())
    }

    /// Trains the stack and returns the parameters of all fits, and for each the step at which its loss last moved.
    async fn train(
        &self,
        device: &Device,
        control: &mut impl Control,
    ) -> Result<(Vec<f32>, Vec<u32>), Failure> {
        let train = AlignSettings { seed: self.settings.seed, ..self.settings.train.clone() };
        let mut plan = Plan::new();
        let problem = self.problem(&mut plan, 0, Form::Cheapest);
        let form = Form::of(&problem.objective);
        let align = Align::record(&mut plan, &train, &problem);
        let mut executor = device.prepare(plan).await?;
        let mut watch = Watch::new(&train, self.fits.len());
        let origins: Vec<Origin> = self.fits.iter().map(|fit| fit.origin).collect();
        let mut done = 0;
        while done < train.steps {
            let mut chunk = control.chunk().min(train.steps - done);
            if let Some(every) = self.settings.redraw.filter(|every| *every > 0) {
                chunk = chunk.min(every - done % every);
                if done > 0 && done % every == 0 {
                    self.redraw(&mut executor, align.potential, done / every, form)?;
                }
            }
            executor.submit(align.step, chunk)?;
            executor.settle(1).await?;
            done += chunk;
            if let Some(stats) = executor.stats()? {
                let converged = watch.look(&stats.values, stats.first_step)?;
                let each = self.fits.len() * STATS as usize;
                let new = stats.first_step..stats.first_step + (stats.values.len() / each.max(1)) as u32;
                control.statistics(Statistics {
                    fits: &origins,
                    first_step: stats.first_step,
                    steps: train.steps,
                    values: &stats.values,
                    eps: new.map(|step| train.annealing.eps(step, train.steps)).collect(),
                });
                if converged {
                    break;
                }
            }
            if control.curious() {
                let draw =
                    self.settings.redraw.filter(|every| *every > 0).map_or(0, |every| (done - 1) / every);
                self.show(&mut executor, &align, draw, control).await?;
            }
            if control.finish() {
                break;
            }
            control.checkpoint(Progress { phase: "training", done, of: train.steps }).await?;
        }
        let weights = executor.read(align.weights).await?;
        Ok((weights, watch.moved.iter().map(|moved| moved.step).collect()))
    }
}

/// Watches the statistics of a run: is it broken, has it converged?
struct Watch<'a> {
    train: &'a AlignSettings,
    fits: usize,
    /// The lowest total loss at the final ε, and the step of it.
    best: Option<(f64, u32)>,
    moved: Vec<Moved>,
}

/// When the loss of a fit last moved.
#[derive(Clone, Copy, Default)]
struct Moved {
    step: u32,
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

/// Steps without improvement, at the final ε, after which a run has converged.
const PATIENCE: u32 = 30;
/// What counts as an improvement, relative to the loss.
const IMPROVEMENT: f64 = 1e-4;

impl<'a> Watch<'a> {
    fn new(train: &'a AlignSettings, fits: usize) -> Self {
        Self { train, fits, best: None, moved: vec![Moved::default(); fits] }
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
            self.moved.iter_mut().zip(losses.clone()).for_each(|(moved, loss)| moved.look(*loss, step));
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
    #[cfg(not(target_arch = "wasm32"))]
    use crate::procedure::LossChoice;

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

    /// Whatever form the first subsamples take, the next ones take the same, although they might be thin alone.
    #[test]
    #[cfg(not(target_arch = "wasm32"))]
    fn a_later_draw_takes_the_place_of_an_earlier_one() {
        let cloud = |seed| Dense::new(160, 1, Rng::new(seed).fill(160, -1.0, 1.0));
        let sides = Sides::new(cloud(1), cloud(2)).expect("usable");
        for loss in LossChoice::ALL {
            let settings = Settings { loss, sample: 120, dirichlet: 0.1, ..Settings::default() };
            let judge = Judge::new(&sides, &settings).expect("computed from points");
            let stack = Stack::new(&sides, &settings, &judge);
            for form in [Form::Cheapest, Form::Dense, Form::Thin([6, 7])] {
                let [mut first, mut second] = [Plan::new(), Plan::new()];
                let held = Form::of(&stack.problem(&mut first, 0, form).objective);
                let thin = loss == LossChoice::RankGw && form != Form::Dense;
                assert_eq!(matches!(held, Form::Thin(_)), thin, "{form:?}, {}", loss.name());
                stack.problem(&mut second, 1, held);
                let potential = first.mats("potential", stack.fits.len() as u32, 120, 1);
                first.set_initial(potential.buf, &vec![1.0; 120 * stack.fits.len()]);
                let mut executor = pollster::block_on(Device::Cpu.prepare(first.clone())).expect("fits");
                stack.redraw(&mut executor, potential, 1, held).expect("takes its place");
                let mut read = |id| pollster::block_on(executor.read(id)).expect("reads");
                for (id, desc) in second.ids().zip(second.buffers()) {
                    assert_eq!(read(id), desc.initial, "{} of {}", desc.label, loss.name());
                    let before = &first.buffers()[id.index()].initial;
                    assert!(desc.label == "mask" || *before != desc.initial, "{} is new", desc.label);
                }
                assert!(read(potential.buf).iter().all(|g| *g == 0.0));
            }
        }
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
