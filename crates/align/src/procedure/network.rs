//! Network candidates: fits on several distances and subsamples, trained together as one stack.

use super::control::{Aside, Control, Failure, Progress, Statistics, View};
use super::convergence::{Convergence, LOOKS};
use super::objective::{Beside, Form, objective_watched, put, terms};
use super::reached::Training;
use super::relaxed::sums;
use super::selection::{Candidate, Origin, Scorer};
use super::sides::sample_with;
use super::transport::Coupling;
use super::{Settings, Sides};
use crate::geometry::Dense;
use crate::scale::Watch;
use crate::solver::align::{Align, AlignSettings, Problem, STATS};
use crate::solver::infer::Encoders;
use crate::solver::terms::fused::shared_cost;
use crate::solver::terms::pairs::weights as pair_weights;
use compute::exec::{AnyExecutor, Device, Executor};
use compute::plan::{Mat, Plan};
use compute::rng::Rng;

/// All network candidates, judged, with their plans between the judged rows.
pub(super) async fn candidates(
    device: &Device,
    sides: &Sides,
    settings: &Settings,
    scorer: &Scorer<'_>,
    control: &mut impl Control,
) -> Result<Vec<(Candidate, Coupling<Dense>)>, Failure> {
    let stack = Stack::new(sides, settings, scorer);
    let shapes = Align::shapes(&settings.train, sides.dims().map(|d| d as u32));
    let (weights, moved) = stack.train(device, control).await?;
    let each = weights.len() / stack.fits.len().max(1);
    let mut found = Vec::new();
    let redrawn = settings.redrawn(sides).is_some();
    for (place, (weights, step)) in weights.chunks_exact(each.max(1)).zip(moved).enumerate() {
        let fit = &stack.fits[place];
        // A cost that has overflowed is rectified to zero, and the statistics go on as if nothing had happened:
        // what is left of the encoders tells, and the step at which the loss froze says when.
        if let Some(bad) = weights.iter().find(|w| !w.is_finite()) {
            let cause = format!("a weight of the encoders became {bad}. A lower learning rate helps");
            return Err(Failure::Diverged { step, cause });
        }
        let (shapes, weights) = (shapes.clone(), weights.to_vec());
        let encoders = Encoders::Networks { shapes, weights, cost: settings.train.cost };
        // Fits that got new subsamples have seen every row, though none of them often.
        let [rows, _] = if redrawn { [Vec::new(), Vec::new()] } else { stack.chosen(0, place) };
        let candidate = scorer.trained(&rows, device, encoders, fit.origin, control).await;
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
}

struct Stack<'a> {
    sides: &'a Sides,
    fits: Vec<Fit>,
    scorer: &'a Scorer<'a>,
    settings: &'a Settings,
}

impl<'a> Stack<'a> {
    fn new(sides: &'a Sides, settings: &'a Settings, scorer: &'a Scorer<'a>) -> Self {
        let mut fits = Vec::new();
        for (index, measure) in scorer.measures().into_iter().enumerate() {
            for subsample in 0..settings.fits {
                let origin = Origin::Network { measure, loss: settings.loss, subsample };
                fits.push(Fit { origin, index });
            }
        }
        Self { sides, fits, scorer, settings }
    }

    /// Puts inputs and objective of all fits into an empty plan, for the `draw`-th subsamples. Buffers come in the
    /// same order for every draw, so that a later draw can replace an earlier one.
    async fn problem(
        &self,
        plan: &mut Plan,
        draw: u32,
        form: Form,
        watch: &mut impl Watch,
    ) -> Result<Problem, Failure> {
        let mut inputs = [Vec::new(), Vec::new()];
        let mut within = [Vec::new(), Vec::new()];
        let mut beside = Beside { shared: Vec::new(), known: Vec::new() };
        for (place, fit) in self.fits.iter().enumerate() {
            let chosen = self.chosen(draw, place);
            let preparations = fit.origin.preparations();
            for side in [0, 1] {
                let points = self.sides.points()[side].picked(&chosen[side]);
                inputs[side].push(self.sides.seen(side, preparations[side], &points));
                within[side].push(self.within(fit.index, side, &chosen[side], watch).await?);
            }
            let [n, m] = chosen.each_ref().map(Vec::len);
            if let Some(shared) = self.sides.shared() {
                let [sx, sy] = [0, 1].map(|side| shared[side].picked(&chosen[side]));
                let cost = shared_cost([sx.data(), sy.data()], sx.cols());
                beside.shared.push(Dense::new(n, m, cost));
            }
            if !self.sides.known().is_empty() {
                let place = |side: usize, row: usize| chosen[side].iter().position(|&i| i == row);
                let both = |&(i, j): &(usize, usize)| Some((place(0, i)?, place(1, j)?));
                let pairs: Vec<(usize, usize)> = self.sides.known().iter().filter_map(both).collect();
                beside.known.push(Dense::new(n, m, pair_weights(n, m, &pairs)));
            }
            watch.step((place + 1) as f64 / self.fits.len() as f64).await?;
        }
        let [x, y] = inputs.each_ref().map(|fits| put(plan, "inputs", fits));
        let within = [&within[0][..], &within[1][..]];
        let objective = objective_watched(plan, self.settings.loss, within, form, watch).await?;
        let terms = terms(plan, self.settings, within, &beside, watch).await?;
        let sums = if self.settings.relaxed_networks { sums(plan, &objective, watch).await? } else { None };
        Ok(Problem { x, y, objective, terms, sums })
    }

    /// Distances within some rows of a side, by the `index`-th measure: those that are held for judging, which are of all
    /// rows, or those of a large side's own.
    async fn within(
        &self,
        index: usize,
        side: usize,
        chosen: &[usize],
        watch: &mut impl Watch,
    ) -> Result<Dense, Failure> {
        if self.sides.is_large(side) {
            let distance = self.scorer.measures()[index].sides()[side];
            return self.sides.within(side, distance, chosen, self.settings.neighbours, watch).await;
        }
        let whole = &self.scorer.distances(index)[side];
        Ok(Dense::from_fn(chosen.len(), chosen.len(), |i, j| whole.at(chosen[i], chosen[j])))
    }

    /// The subsample of the `place`-th fit: rows of both sides.
    fn chosen(&self, draw: u32, place: usize) -> [Vec<usize>; 2] {
        // Of its own for every fit: those that differ only in first weights end alike.
        let shuffle = u64::from(draw) * 65_537 + place as u64;
        let mut rng = Rng::new(self.settings.seed.wrapping_mul(1_000_003).wrapping_add(shuffle));
        let sizes = self.sides.points().map(|side| self.settings.trained_on(side.rows()));
        let most = sizes[0].min(sizes[1]);
        // Known pairs make up to half of it, as many as fit.
        let known = self.sides.known();
        let pinned: Vec<(usize, usize)> = if known.is_empty() {
            Vec::new()
        } else {
            rng.sample(known.len(), most / 2).into_iter().map(|k| known[k]).collect()
        };
        let pinned = [pinned.iter().map(|p| p.0).collect::<Vec<_>>(), pinned.iter().map(|p| p.1).collect()];
        [0, 1].map(|side| sample_with(&pinned[side], self.sides.points()[side].rows(), sizes[side], &mut rng))
    }

    /// Shows where the first fit puts its points.
    async fn show(
        &self,
        executor: &mut AnyExecutor,
        align: &Align,
        draw: u32,
        control: &mut impl Control,
    ) -> Result<(), Failure> {
        let rows = self.chosen(draw, 0);
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
    async fn redraw(
        &self,
        executor: &mut AnyExecutor,
        potential: Mat,
        draw: u32,
        form: Form,
        watch: &mut impl Watch,
    ) -> Result<(), Failure> {
        let mut next = Plan::new();
        self.problem(&mut next, draw, form, watch).await?;
        for (id, desc) in next.ids().zip(next.buffers()) {
            executor.write(id, &desc.initial)?;
        }
        // Potentials of other points mean nothing to these.
        executor.write(potential.buf, &vec![0.0; potential.len() as usize * self.fits.len()])?;
        Ok(())
    }

    /// Hears of new statistics, and passes them on. True says that the training has converged.
    fn hear(
        &self,
        values: &[f32],
        first_step: u32,
        train: &AlignSettings,
        statistics: &mut Convergence<'_>,
        control: &mut impl Control,
    ) -> Result<bool, Failure> {
        let converged = statistics.look(values, first_step)?;
        let origins: Vec<Origin> = self.fits.iter().map(|fit| fit.origin).collect();
        let each = self.fits.len() * STATS as usize;
        let new = first_step..first_step + (values.len() / each.max(1)) as u32;
        let eps = new.map(|step| train.annealing.eps(step, train.steps)).collect();
        control.statistics(Statistics { fits: &origins, first_step, steps: train.steps, values, eps });
        Ok(converged)
    }

    /// Trains the stack and returns the parameters of all fits, and for each the step at which its loss last moved.
    async fn train(
        &self,
        device: &Device,
        control: &mut impl Control,
    ) -> Result<(Vec<f32>, Vec<u32>), Failure> {
        let train = AlignSettings { seed: self.settings.seed, ..self.settings.train.clone() };
        let at = |done: u32| Progress { phase: "training", done, of: train.steps };
        let mut plan = Plan::new();
        let mut aside = Aside { control, at: at(0) };
        let problem = self.problem(&mut plan, 0, Form::Cheapest, &mut aside).await?;
        let form = Form::of(&problem.objective);
        let align = Align::record(&mut plan, &train, &problem);
        let training = Training::new(&plan, "networks".into(), &align.state);
        let mut executor = device.prepare(plan).await?;
        let mut statistics = Convergence::new(&train, self.fits.len()).from(align.last_pass_from());
        let redrawn = self.settings.redrawn(self.sides);
        let (mut done, mut ended) = (0, false);
        if let Some((training, stand)) = training.as_ref().and_then(|t| Some((t, t.recall(control)?))) {
            (done, ended) = (stand.done, stand.ended);
            if let Some(every) = redrawn.filter(|every| !ended && done > *every && done % every > 0) {
                let mut aside = Aside { control, at: at(done) };
                self.redraw(&mut executor, align.potential, done / every, form, &mut aside).await?;
            }
            training.take_up(&stand, &mut executor)?;
            if ended {
                self.hear(&stand.statistics, 0, &train, &mut statistics, control)?;
            }
        }
        while done < train.steps && !ended {
            let (pass, until) = align.pass(done);
            let mut chunk = control.chunk().min(until - done).min(LOOKS - done % LOOKS);
            if let Some(every) = redrawn {
                chunk = chunk.min(every - done % every);
                if done > 0 && done % every == 0 {
                    let mut aside = Aside { control, at: at(done) };
                    self.redraw(&mut executor, align.potential, done / every, form, &mut aside).await?;
                }
            }
            executor.submit(pass, chunk)?;
            executor.settle(1).await?;
            done += chunk;
            if let Some(stats) = executor.stats()? {
                let converged =
                    self.hear(&stats.values, stats.first_step, &train, &mut statistics, control)?;
                if converged && done.is_multiple_of(LOOKS) {
                    break;
                }
            }
            if control.curious() {
                let draw = redrawn.map_or(0, |every| (done - 1) / every);
                self.show(&mut executor, &align, draw, control).await?;
            }
            if control.finish() {
                break;
            }
            if let Some(training) = &training {
                training.tell(false, &mut executor, control).await?;
            }
            control.checkpoint(at(done)).await?;
        }
        if let Some(training) = training.filter(|_| !ended) {
            training.tell(true, &mut executor, control).await?;
        }
        let weights = executor.read(align.weights).await?;
        Ok((weights, statistics.moved.iter().map(|moved| moved.step).collect()))
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::geometry::distance::{Metric, pairwise};
    use crate::geometry::panel::{Distance, Measure};
    use crate::procedure::{EncoderChoice, LossChoice, NoControl};
    use crate::scale::NoWatch;

    /// Whatever form the first subsamples take, the next ones take the same, although they might be thin alone.
    #[test]
    fn a_later_draw_takes_the_place_of_an_earlier_one() {
        let cloud = |seed| Dense::new(160, 1, Rng::new(seed).fill(160, -1.0, 1.0));
        let sides = Sides::new(cloud(1), cloud(2)).expect("usable");
        for loss in LossChoice::ALL {
            let relaxed_networks = matches!(loss, LossChoice::Classic | LossChoice::RankGw);
            let settings =
                Settings { loss, sample: 120, dirichlet: 0.1, relaxed_networks, ..Settings::default() };
            let scorer =
                pollster::block_on(Scorer::new(&sides, &settings, &mut NoControl)).expect("computed");
            let stack = Stack::new(&sides, &settings, &scorer);
            let problem = |plan: &mut Plan, draw: u32, form: Form| {
                pollster::block_on(stack.problem(plan, draw, form, &mut NoWatch)).expect("computed")
            };
            for form in [Form::Cheapest, Form::Dense, Form::Thin([6, 7])] {
                let [mut first, mut second] = [Plan::new(), Plan::new()];
                let held = Form::of(&problem(&mut first, 0, form).objective);
                let thin = loss == LossChoice::RankGw && form != Form::Dense;
                assert_eq!(matches!(held, Form::Thin(_)), thin, "{form:?}, {}", loss.name());
                problem(&mut second, 1, held);
                assert_eq!(first.buffers().len(), second.buffers().len(), "{}", loss.name());
                let potential = first.mats("potential", stack.fits.len() as u32, 120, 1);
                first.set_initial(potential.buf, &vec![1.0; 120 * stack.fits.len()]);
                let mut executor = pollster::block_on(Device::Cpu.prepare(first.clone())).expect("fits");
                pollster::block_on(stack.redraw(&mut executor, potential, 1, held, &mut NoWatch))
                    .expect("takes its place");
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

    /// Not only those on which candidates are compared; and known pairs always.
    #[test]
    fn subsamples_of_large_sides_come_from_all_rows() {
        let cloud = |n: usize, seed| Dense::new(n, 2, Rng::new(seed).fill(2 * n, -1.0, 1.0));
        let known = vec![(2299, 3), (7, 0)];
        let sides = Sides::new(cloud(2300, 1), cloud(60, 2)).and_then(|sides| sides.knowing(known));
        let sides = sides.expect("usable");
        let measures = vec![Measure::same(Distance::Euclidean)];
        let settings = Settings { sample: 40, measures, ..Settings::default() };
        let scorer = pollster::block_on(Scorer::new(&sides, &settings, &mut NoControl)).expect("computed");
        let stack = Stack::new(&sides, &settings, &scorer);
        let mut seen = [vec![false; 2300], vec![false; 60]];
        for draw in 0..600 {
            let chosen = stack.chosen(draw, 0);
            for side in [0, 1] {
                assert_eq!(chosen[side].len(), 40);
                chosen[side].iter().for_each(|&row| seen[side][row] = true);
            }
            assert!(chosen[0].contains(&2299) && chosen[1].contains(&3), "a known pair");
        }
        assert!(seen.iter().flatten().all(|seen| *seen), "every row has its turn");
        let chosen = stack.chosen(0, 0);
        for side in [0, 1] {
            let got = pollster::block_on(stack.within(0, side, &chosen[side], &mut NoWatch));
            let got = got.expect("computed");
            let want = pairwise(&sides.points()[side].picked(&chosen[side]), Metric::Euclidean);
            assert!(got.data().iter().zip(want.data()).all(|(a, b)| (a - b).abs() < 1e-4), "side {side}");
        }
    }

    /// Networks that compete with maps leave rows to be scored on; alone they learn from all that they may.
    #[test]
    fn networks_are_scored_on_rows_that_they_have_not_seen() {
        let cloud = |seed| Dense::new(90, 3, Rng::new(seed).fill(270, -1.0, 1.0));
        let sides = Sides::new(cloud(1), cloud(2)).expect("usable");
        let measures = vec![Measure::same(Distance::Euclidean)];
        let both = Settings { measures, ..Settings::default() };
        let alone = Settings { encoder: EncoderChoice::Networks, ..both.clone() };
        assert_eq!((both.trained_on(90), alone.trained_on(90), both.trained_on(1000)), (60, 90, 300));
        let scorer = pollster::block_on(Scorer::new(&sides, &both, &mut NoControl)).expect("computed");
        let stack = Stack::new(&sides, &both, &scorer);
        let [seen, of_y] = stack.chosen(0, 0);
        assert_eq!([seen.len(), of_y.len()], [60; 2]);
        let identity = Dense::from_fn(3, 3, |i, j| f32::from(u8::from(i == j)));
        let encoders = || crate::procedure::linear::encoders(&identity);
        let origin = stack.fits[0].origin;
        let score = |rows: &[usize]| {
            let control = &mut NoControl;
            let scored = scorer.trained(rows, &Device::Cpu, encoders(), origin, control);
            pollster::block_on(scored).expect("scored").0.score
        };
        let unseen: Vec<usize> = (0..90).filter(|row| !seen.contains(row)).collect();
        assert_ne!(score(&seen), score(&unseen), "other rows count");
        // With nothing left to score on, all rows count.
        let all: Vec<usize> = (0..90).collect();
        assert_eq!(score(&all), score(&[]));
    }

    #[test]
    fn subsamples_of_large_sides_are_drawn_anew_unless_told_otherwise() {
        let cloud = |n: usize| Dense::new(n, 2, Rng::new(4).fill(2 * n, -1.0, 1.0));
        let sides = |n: usize| Sides::new(cloud(30), cloud(n)).expect("usable");
        let every =
            |redraw: Option<u32>, n: usize| Settings { redraw, ..Settings::default() }.redrawn(&sides(n));
        assert_eq!((every(None, 2000), every(Some(0), 2000), every(Some(9), 2000)), (None, None, Some(9)));
        assert!(every(None, 2001).is_some());
        assert_eq!((every(Some(0), 2001), every(Some(9), 2001)), (None, Some(9)));
    }
}
