//! Networks trained on all points at once, for the classic loss on distances that are thin products: no subsample, and
//! still nothing with a place for every pair ([`solver::whole`](crate::solver::whole)). One fit after another.

use super::control::{Control, Failure, Progress, Statistics, View, Watching};
use super::convergence::Convergence;
use super::objective::put;
use super::reached::Training;
use super::selection::{Candidate, Origin, Scorer};
use super::streamed::{IN_FLIGHT, pairs_at_once};
use super::transport::Coupling;
use super::{LossChoice, Settings, Sides};
use crate::geometry::Dense;
use crate::geometry::panel::Measure;
use crate::scale::{Clouds, Implicit, Relaxation};
use crate::solver::align::{Align, AlignSettings, STATS};
use crate::solver::infer::Encoders;
use crate::solver::whole::{Problem, Thin, Whole};
use compute::exec::{AnyExecutor, Device, Executor};
use compute::plan::Plan;
use compute::rng::Rng;

/// Columns that thin products of distances have, about, at most.
pub const RANK: usize = 64;
/// Points a side that are shown while it is on its way.
const SHOWN: usize = 400;

/// All network candidates, judged, with their plans between the judged rows.
pub(super) async fn candidates(
    device: &Device,
    sides: &Sides,
    settings: &Settings,
    scorer: &Scorer<'_>,
    control: &mut impl Control,
) -> Result<Vec<(Candidate, Coupling<Dense>)>, Failure> {
    let shapes = Align::shapes(&settings.train, sides.dims().map(|d| d as u32));
    let mut found = Vec::new();
    for measure in scorer.measures() {
        for subsample in 0..settings.fits {
            let origin = Origin::Network { measure, loss: LossChoice::Classic, subsample };
            let train = AlignSettings {
                // Fits differ in their first weights, as there is nothing else they could differ in.
                seed: settings.seed.wrapping_add(u64::from(subsample) << 32),
                ..settings.train.clone()
            };
            let (weights, step) =
                Fit { what: format!("network {}", found.len()), sides, origin, measure, train }
                    .train(device, control)
                    .await?;
            if let Some(bad) = weights.iter().find(|w| !w.is_finite()) {
                let cause = format!("a weight of the encoders became {bad}. A lower learning rate helps");
                return Err(Failure::Diverged { step, cause });
            }
            let shapes = shapes.clone();
            let encoders = Encoders::Networks { shapes, weights, cost: settings.train.cost };
            found.push(scorer.candidate(device, encoders, origin, control).await?);
        }
    }
    Ok(found)
}

/// Whether networks can be trained on all points of these sides, or why not.
pub fn suits(sides: &Sides, settings: &Settings) -> Result<(), Failure> {
    let refuse = |why: String| Err(Failure::Input(why));
    if settings.loss != LossChoice::Classic {
        return refuse(format!(
            "Training on all points at once needs the classic objective, not “{}”. Choose it, or train on a subsample.",
            settings.loss.name()
        ));
    }
    for measure in settings.panel(sides) {
        if let Some(other) = measure.sides().into_iter().find(|distance| !distance.is_low_rank()) {
            return refuse(format!(
                "Training on all points at once needs distances by angles or squared Euclidean ones; “{}” is neither. \
                 Choose another distance, or train on a subsample.",
                other.name()
            ));
        }
    }
    let used = [
        (settings.dirichlet > 0.0, "the smoothness term"),
        (settings.fused > 0.0 && sides.shared().is_some(), "shared features"),
        (settings.pairs > 0.0 && !sides.known().is_empty(), "known pairs"),
    ];
    match used.into_iter().find(|(used, _)| *used) {
        Some((_, what)) => refuse(format!(
            "Training on all points at once does not take {what} into account. Set its weight to 0, or train on a \
             subsample, which does."
        )),
        None => Ok(()),
    }
}

struct Fit<'a> {
    /// What its training is called.
    what: String,
    sides: &'a Sides,
    origin: Origin,
    measure: Measure,
    train: AlignSettings,
}

impl Fit<'_> {
    /// Trains it and returns its parameters, and the step at which its loss last moved.
    async fn train(&self, device: &Device, control: &mut impl Control) -> Result<(Vec<f32>, u32), Failure> {
        let train = &self.train;
        let mut plan = Plan::new();
        let problem = self.problem(&mut plan, control).await?;
        let pairs = pairs_at_once(device, 2 * train.embedding);
        let whole = Whole::record(&mut plan, train, &problem, pairs);
        let training = Training::new(&plan, self.what.clone(), &whole.state);
        let mut executor = device.prepare(plan).await?;
        let mut statistics = Convergence::new(train, 1);
        let (mut first, mut ended) = (0, false);
        if let Some((training, stand)) = training.as_ref().and_then(|t| Some((t, t.recall(control)?))) {
            (first, ended) = (stand.done, stand.ended);
            training.take_up(&stand, &mut executor)?;
            if ended {
                self.hear(&stand.statistics, 0, &mut statistics, control)?;
            }
        }
        for step in first..if ended { first } else { train.steps } {
            for &part in &whole.parts {
                executor.submit(part, 1)?;
                executor.settle(IN_FLIGHT).await?;
                control.checkpoint(Progress { phase: "training", done: step, of: train.steps }).await?;
            }
            executor.settle(0).await?;
            if let Some(stats) = executor.stats()?
                && self.hear(&stats.values, stats.first_step, &mut statistics, control)?
            {
                break;
            }
            if control.curious() {
                self.show(&mut executor, &whole, step, control).await?;
            }
            if control.finish() {
                break;
            }
            if let Some(training) = &training {
                training.tell(false, &mut executor, control).await?;
            }
        }
        if let Some(training) = training.filter(|_| !ended) {
            training.tell(true, &mut executor, control).await?;
        }
        let weights = executor.read(whole.weights).await?;
        Ok((weights, statistics.moved[0].step))
    }

    /// Hears of new statistics, and passes them on. True says that the training has converged.
    fn hear(
        &self,
        values: &[f32],
        first_step: u32,
        statistics: &mut Convergence<'_>,
        control: &mut impl Control,
    ) -> Result<bool, Failure> {
        let AlignSettings { annealing, steps, .. } = self.train;
        let converged = statistics.look(values, first_step)?;
        let new = first_step..first_step + values.len() as u32 / STATS;
        let eps = new.map(|step| annealing.eps(step, steps)).collect();
        control.statistics(Statistics { fits: &[self.origin], first_step, steps, values, eps });
        Ok(converged)
    }

    /// Puts all points and the factors of their distances into a plan.
    async fn problem(&self, plan: &mut Plan, control: &mut impl Control) -> Result<Problem, Failure> {
        let watch = &mut Watching::new(control, "preparing points");
        let inputs = self.sides.inputs(self.origin.preparations(), watch).await?;
        let inputs = inputs.map(|side| put(plan, "inputs", &[side]));
        let mut distances = Vec::new();
        for (side, distance) in self.measure.sides().into_iter().enumerate() {
            let low = distance.low_rank(self.sides.points()[side], RANK, watch).await?.ok_or_else(|| {
                let name = ["first", "second"][side];
                Failure::Input(format!("All points of the {name} data set are the same to this distance."))
            })?;
            distances.push(Thin {
                factors: put(plan, "distance factors", std::slice::from_ref(&low.u)),
                diagonal: put(plan, "distance factors", &[low.diagonal()]),
            });
        }
        Ok(Problem { inputs, distances: [distances[0], distances[1]] })
    }

    /// Shows where some of the points are, and the plan between them.
    async fn show(
        &self,
        executor: &mut AnyExecutor,
        whole: &Whole,
        step: u32,
        control: &mut impl Control,
    ) -> Result<(), Failure> {
        let mut sides = Vec::new();
        for mat in whole.embedded {
            let data = executor.read(mat.buf).await?;
            let (n, d) = (mat.rows as usize, mat.cols as usize);
            sides.push(Dense::new(n, d, data[mat.offset as usize..][..n * d].to_vec()));
        }
        let [f, g] = whole.potentials;
        let (f, g) = (executor.read(f.buf).await?, executor.read(g.buf).await?);
        let mut rng = Rng::new(self.train.seed);
        let rows = [0, 1].map(|side| rng.sample(sides[side].rows(), SHOWN));
        let embedded = [0, 1].map(|side| sides[side].picked(&rows[side]));
        let clouds = Clouds::new([&sides[0], &sides[1]], self.train.cost);
        let eps = self.train.annealing.eps(step, self.train.steps);
        let places = rows.each_ref().map(|rows| rows.iter().map(|&i| i as u32).collect::<Vec<_>>());
        let logs =
            Implicit { clouds, eps, relaxation: Relaxation::STRICT, f, g }.logs(&places[0], &places[1]);
        let masses = logs.into_iter().map(f32::exp).collect();
        let plans = vec![Dense::new(rows[0].len(), rows[1].len(), masses)];
        control.view(View { rows: rows.each_ref().map(Vec::as_slice), embedded, plans });
        Ok(())
    }
}
