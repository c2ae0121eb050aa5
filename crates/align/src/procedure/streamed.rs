//! Entropic transport between all points of both sides, without an array that has a place for every pair.
//!
//! ε falls from coarse to fine in a few large steps, each begun when the one before is roughly solved; within a step
//! the iterations are accelerated ([`Momentum`]). The host looks at the device's statistics after every stretch of
//! iterations, and keeps a copy of the potentials: to go back to, and for whoever has to go on elsewhere.

use super::control::{Aside, Control, Failure, Progress};
use super::starved::Starved;
use super::transport::Way;
use crate::scale::{Clouds, Implicit, Relaxation, Solved};
use crate::solver::momentum::{Momentum, Verdict};
use crate::solver::streamed::{Extent, Look, Streamed, Stride, packed};
use compute::exec::{AnyExecutor, Device, ExecError, Executor};

/// ε begins here; the mean cost is 1.
const COARSEST: f32 = 1.0;
/// What a step takes ε down to, at least.
const FALL: f32 = 0.25;
/// The error at which the next step may begin.
const ROUGH: f32 = 0.1;
/// The error up to which given potentials belong to an ε.
const CLOSE: f32 = 0.5;
/// Iterations of one stretch.
const STRETCH: u32 = 8;
/// About the iterations an ε takes, for a guess at the time left.
const USUAL: u32 = 16;
/// The most iterations at one ε, and at the last.
const PATIENCE: u32 = 48;
const LAST_PATIENCE: u32 = 2000;
/// Stretches without a better error after which there is no hope: what rounding leaves.
const STALE: u32 = 8;
/// No plan misses its marginal by more than this, so a plan without it is better than any with columns left out.
const WORST: f32 = 2.0;
/// The largest logarithm of a ratio of masses.
const MOST: f32 = 70.0;
/// So many times the tolerance is worth a last few iterations on any device.
const NEARLY: f32 = 4.0;
/// The name under which potentials are told, those of the rows before those of the columns.
pub(super) const POTENTIALS: &str = "potentials";
const PHASE: &str = "matching all points";
/// Submits under way: a cancelled run waits for these.
pub(super) const IN_FLIGHT: u32 = 2;

/// Solves the transport at `eps` until the columns miss their weights by no more than `tolerance` in sum, or as far as
/// it goes; from potentials that an earlier run has reached, where they are given. If the device is lost on the way, the
/// CPU goes on from the last ones that were kept, unless there are too many points for it and much is left to do.
pub async fn streamed(
    device: &Device,
    clouds: Clouds,
    eps: f32,
    relaxation: Relaxation,
    tolerance: f32,
    start: Option<[Vec<f32>; 2]>,
    control: &mut impl Control,
) -> Result<Solved, Failure> {
    let mut reached = start.map(|potentials| Reached { potentials, eps: f32::MAX, error: f32::MAX });
    let goal = Goal { eps, relaxation, tolerance };
    let solved = match attempt(device, &clouds, goal, &mut reached, control).await {
        Err(lost @ Failure::Device(ExecError::DeviceLost { .. })) => {
            let nearly = |reached: &Reached| reached.eps <= eps && reached.error <= NEARLY * tolerance;
            let few = Way::of(clouds.x.rows(), clouds.y.rows(), None) == Way::Held;
            if !few && !reached.as_ref().is_some_and(nearly) {
                return Err(lost);
            }
            attempt(&Device::Cpu, &clouds, goal, &mut reached, control).await
        }
        other => other,
    };
    let iterations = solved?;
    let Some(Reached { potentials: [f, g], error, .. }) = reached else {
        return Err(Failure::Diverged { step: iterations, cause: "the transport has no finite plan".into() });
    };
    Ok(Solved { plan: Implicit { clouds, eps, relaxation, f, g }, error, iterations })
}

/// What to solve.
#[derive(Clone, Copy)]
struct Goal {
    eps: f32,
    relaxation: Relaxation,
    tolerance: f32,
}

/// The best potentials so far at the finest ε so far, and their error.
struct Reached {
    potentials: [Vec<f32>; 2],
    eps: f32,
    error: f32,
}

/// Solves it on one device, from the potentials that were reached before, if any; those that are reached take their place.
/// Returns the iterations.
async fn attempt(
    device: &Device,
    clouds: &Clouds,
    Goal { eps, relaxation, tolerance }: Goal,
    reached: &mut Option<Reached>,
    control: &mut impl Control,
) -> Result<u32, Failure> {
    let extent = extent_of(clouds, eps, reached.as_ref().map(|reached| &reached.potentials))?;
    let at_once = pairs_at_once(device, extent.dim);
    let mut recorded = Streamed::record(extent, at_once, relaxation);
    // Small problems take several iterations in a submit.
    let fitting = (at_once / extent.pairs()).clamp(1, STRETCH.into()) as u32;
    let repeats = if recorded.parts.len() == 1 { fitting } else { 1 };
    let executor = device.prepare(std::mem::take(&mut recorded.plan)).await?;
    let ladder = ladder(eps);
    let mut run = Run {
        executor,
        recorded,
        extent,
        repeats,
        clouds,
        relaxation,
        control,
        kept: [Vec::new(), Vec::new()],
        iterations: 0,
        parts_done: 0,
        expected: ladder.len() as u32 * USUAL,
    };
    run.load(reached.as_ref().map(|reached| &reached.potentials))?;
    let first = if reached.is_some() { run.rung_of_start(&ladder).await? } else { 0 };
    for (k, eps) in ladder.iter().enumerate().skip(first) {
        let left = (ladder.len() - 1 - k) as u32;
        if left > 0 {
            run.solve(*eps, ROUGH.max(tolerance), PATIENCE, left, reached).await?;
        } else {
            run.solve(*eps, tolerance, LAST_PATIENCE, 0, reached).await?;
        }
    }
    Ok(run.iterations)
}

/// The sizes, if there is something to solve.
fn extent_of(clouds: &Clouds, eps: f32, start: Option<&[Vec<f32>; 2]>) -> Result<Extent, Failure> {
    let lengths = [clouds.x.rows(), clouds.y.rows()];
    if lengths.contains(&0) || clouds.x.cols() == 0 {
        return Err(Failure::Input("There are no points to match.".into()));
    }
    if !(eps > 0.0 && eps.is_finite()) {
        return Err(Failure::Input(format!("ε has to be larger than zero, not {eps}.")));
    }
    if start.is_some_and(|potentials| potentials.each_ref().map(Vec::len) != lengths) {
        return Err(Failure::Input("The potentials to start from belong to other points.".into()));
    }
    let [rows, cols, dim] = [lengths[0], lengths[1], clouds.x.cols()]
        .map(|size| u32::try_from(size).map_err(|_| Failure::Input(format!("{size} points are too many."))));
    Ok(Extent { rows: rows?, cols: cols?, dim: dim? })
}

/// Pairs in one submit: a few tens of milliseconds of work, in a browser and on a slow device as well. What a pair
/// takes grows with the dimensions, and besides there is an exponential, worth about 32 of them.
pub(super) fn pairs_at_once(device: &Device, dim: u32) -> u64 {
    let at_32 = if matches!(device, Device::Cpu) { 1 << 24 } else { 1 << 25 };
    at_32 * 64 / u64::from(dim + 32)
}

/// ε from coarse to fine, the last one exactly as it was asked for.
fn ladder(eps: f32) -> Vec<f32> {
    let falls = ((COARSEST / eps).ln() / (1.0 / FALL).ln()).ceil().max(0.0);
    let mut all: Vec<f32> =
        (0..falls as u32).map(|k| COARSEST * (eps / COARSEST).powf(k as f32 / falls)).collect();
    all.push(eps);
    all
}

/// A transport under way.
struct Run<'a, C> {
    executor: AnyExecutor,
    recorded: Streamed,
    extent: Extent,
    /// Iterations in one submit; where an iteration has several parts, one.
    repeats: u32,
    clouds: &'a Clouds,
    relaxation: Relaxation,
    control: &'a mut C,
    /// The last good potentials, without the squares.
    kept: [Vec<f32>; 2],
    iterations: u32,
    parts_done: u32,
    /// Iterations in all, as far as can be told.
    expected: u32,
}

impl<C: Control> Run<'_, C> {
    /// Hands everything to the device.
    fn load(&mut self, start: Option<&[Vec<f32>; 2]>) -> Result<(), Failure> {
        let Clouds { x, y, x_squares, y_squares } = self.clouds;
        self.executor.write(self.recorded.steps.points[0].buf, x.data())?;
        self.executor.write(self.recorded.steps.points[1].buf, &packed(y.data(), y.cols()))?;
        if self.relaxation.y.is_some() {
            self.executor.write(self.recorded.steps.squares.buf, y_squares)?;
        }
        self.kept = match start {
            Some([f, g]) => [difference(f, x_squares), difference(g, y_squares)],
            // Potentials of zero.
            None => [x_squares, y_squares].map(|squares| squares.iter().map(|s| -s).collect()),
        };
        self.restore()
    }

    /// Takes the device back to the kept potentials; the iteration that follows leaves them as they are, but for a
    /// constant where marginals are relaxed.
    fn restore(&mut self) -> Result<(), Failure> {
        let cols = self.extent.cols;
        self.executor.write(self.recorded.steps.g.buf, &self.kept[1])?;
        // Whatever the steps before have become: it is not to be carried on.
        self.executor.write(self.recorded.steps.velocity.buf, &vec![0.0; cols as usize])?;
        let sums = match self.relaxation.y {
            // What the potentials ask for: `exp(−g/λ)`, of any mass.
            Some(lambda) => {
                let whole = self.kept[1].iter().zip(&self.clouds.y_squares).map(|(g, square)| g + square);
                let least = whole.clone().fold(f32::MAX, f32::min);
                whole.map(|g| ((least - g) / lambda).max(-MOST).exp() / cols as f32).collect()
            }
            None => vec![1.0 / cols as f32; cols as usize],
        };
        self.executor.write(self.recorded.steps.sums.buf, &sums)?;
        Ok(())
    }

    /// The place on the ladder that the given potentials had reached: the finest ε at which they are nearly right.
    async fn rung_of_start(&mut self, ladder: &[f32]) -> Result<usize, Failure> {
        for (k, &eps) in ladder.iter().enumerate().rev() {
            let looks = self.stretch(Stride { eps, alpha: 0.0, beta: 0.0 }, 1, 0.0).await?;
            if looks.last().is_some_and(|look| look.error <= CLOSE) {
                return Ok(k);
            }
        }
        Ok(0)
    }

    /// Iterates at one ε until the error is small enough, with `left` more to come.
    async fn solve(
        &mut self,
        eps: f32,
        goal: f32,
        patience: u32,
        left: u32,
        reached: &mut Option<Reached>,
    ) -> Result<(), Failure> {
        let mut momentum = Momentum::new(eps);
        let strict = self.relaxation.is_strict();
        let mut before = None;
        let (mut best, mut stale, mut aim) = (f32::MAX, 0, goal);
        let end = self.iterations + patience;
        while self.iterations < end && stale < STALE {
            let looks = self.stretch(momentum.stride(), STRETCH, aim).await?;
            let Some(&now) = looks.last() else { break };
            // Its theory is that of strict marginals; relaxed ones need few steps.
            let verdict = if strict { momentum.learn(before, &looks) } else { Verdict::GoOn };
            let sums = self.executor.read(self.recorded.steps.sums.buf).await?;
            let starved = Starved::among(&sums, self.relaxation);
            let standing = if starved.any { WORST + now.error } else { now.error };
            stale = if standing < 0.99 * best { 0 } else { stale + 1 };
            if verdict == Verdict::GoBack {
                self.restore()?;
                continue;
            }
            if !(now.error.is_finite() && now.dual.is_finite()) {
                let cause = "the transport has no finite plan".into();
                return Err(Failure::Diverged { step: self.iterations, cause });
            }
            self.keep(eps * mass_of(&sums).ln()).await?;
            if standing < best {
                best = standing;
                let reached =
                    reached.insert(Reached { potentials: self.potentials(), eps, error: now.error });
                if self.control.keeps(false) {
                    self.control.remember(POTENTIALS, reached.potentials.concat());
                }
            }
            if !starved.unreached.is_empty() {
                self.lift(&starved, eps).await?;
                (momentum, before) = (Momentum::new(eps), None);
                continue;
            }
            // While ε is to fall, little is enough.
            let hungry = starved.any && left == 0;
            if now.error <= goal && !hungry {
                return Ok(());
            }
            aim = if hungry { 0.0 } else { goal };
            self.expect(before, now, goal, left);
            before = Some(now);
        }
        Ok(())
    }

    /// Goes on from the kept potentials, with those of columns that no row reaches where they have to be.
    async fn lift(&mut self, starved: &Starved, eps: f32) -> Result<(), Failure> {
        let [f, _] = self.potentials();
        let at = self.progress();
        let watch = &mut Aside { control: &mut *self.control, at };
        for (j, potential) in starved.lifted(self.clouds, eps, &f, watch).await? {
            self.kept[1][j] = potential - self.clouds.y_squares[j];
        }
        self.restore()
    }

    /// Plays iterations and returns their statistics; fewer where looking is cheap beside an iteration and the error
    /// is small enough.
    async fn stretch(&mut self, stride: Stride, count: u32, goal: f32) -> Result<Vec<Look>, Failure> {
        self.executor.write(self.recorded.clock.schedule, &stride.words())?;
        let parts = self.recorded.parts.clone();
        let mut looks = Vec::new();
        let mut left = count;
        while left > 0 {
            let repeats = self.repeats.min(left);
            for &part in &parts {
                self.executor.submit(part, repeats)?;
                self.executor.settle(IN_FLIGHT).await?;
                self.parts_done += repeats;
                let progress = self.progress();
                self.control.checkpoint(progress).await?;
            }
            self.iterations += repeats;
            left -= repeats;
            if left > 0 && parts.len() == 1 {
                continue;
            }
            self.executor.settle(0).await?;
            if let Some(stats) = self.executor.stats()? {
                looks.extend(stats.values.as_chunks().0.iter().map(|&[error, dual]| Look { error, dual }));
            }
            if looks.last().is_some_and(|look| look.error <= goal) {
                break;
            }
        }
        Ok(looks)
    }

    fn progress(&self) -> Progress {
        let of = (self.expected * self.recorded.parts.len() as u32).max(self.parts_done + 1);
        Progress { phase: PHASE, done: self.parts_done, of }
    }

    /// Keeps the potentials as they stand; of those of a relaxed plan this is taken off, so that it sums to 1.
    async fn keep(&mut self, excess: f32) -> Result<(), Failure> {
        let mut f = self.executor.read(self.recorded.steps.f.buf).await?;
        if !self.relaxation.is_strict() {
            f.iter_mut().for_each(|f| *f -= excess);
        }
        let g = self.executor.read(self.recorded.steps.g.buf).await?;
        self.kept = [f, g];
        Ok(())
    }

    /// The kept potentials of the cost itself.
    fn potentials(&self) -> [Vec<f32>; 2] {
        let squares = [&self.clouds.x_squares, &self.clouds.y_squares];
        [0, 1].map(|side| self.kept[side].iter().zip(squares[side]).map(|(v, square)| v + square).collect())
    }

    /// Says how many iterations there will be if the error goes on shrinking as it does.
    fn expect(&mut self, before: Option<Look>, now: Look, goal: f32, left: u32) {
        let rate = before.map_or(0.5, |before| (now.error / before.error).clamp(0.1, 0.95));
        let stretches = ((goal / now.error).ln() / rate.ln()).clamp(0.0, 100.0);
        self.expected = self.iterations + (stretches * STRETCH as f32).ceil() as u32 + left * USUAL;
    }
}

/// The mass of a plan whose columns hold these.
fn mass_of(sums: &[f32]) -> f32 {
    sums.iter().map(|sum| f64::from(*sum)).sum::<f64>() as f32
}

fn difference(values: &[f32], squares: &[f32]) -> Vec<f32> {
    values.iter().zip(squares).map(|(v, square)| v - square).collect()
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::super::control::NoControl;
    use super::*;
    use crate::geometry::Dense;
    use crate::scale::CostKind;

    /// Steps that came to no numbers leave nothing behind.
    #[test]
    fn going_back_forgets_the_steps_before() {
        let side = |n: usize| Dense::from_fn(n, 2, |i, j| (i * (j + 1) % 7) as f32);
        let clouds = Clouds::new([&side(9), &side(8)], CostKind::Sqm);
        let extent = Extent { rows: 9, cols: 8, dim: 2 };
        let mut recorded = Streamed::record(extent, 1 << 20, Relaxation::STRICT);
        let executor = pollster::block_on(Device::Cpu.prepare(std::mem::take(&mut recorded.plan)));
        let mut run = Run {
            executor: executor.expect("prepared"),
            recorded,
            extent,
            repeats: 1,
            clouds: &clouds,
            relaxation: Relaxation::STRICT,
            control: &mut NoControl,
            kept: [Vec::new(), Vec::new()],
            iterations: 0,
            parts_done: 0,
            expected: 1,
        };
        run.load(None).expect("loaded");
        run.executor.write(run.recorded.steps.velocity.buf, &[f32::NAN; 8]).expect("written");
        run.restore().expect("restored");
        let looks = pollster::block_on(run.stretch(Stride::plain(0.5), 2, 0.0)).expect("played");
        assert!(looks.iter().all(|look| look.error.is_finite() && look.dual.is_finite()), "{looks:?}");
    }

    #[test]
    fn a_ladder_ends_where_it_was_told_to() {
        assert_eq!(ladder(2.0), [2.0]);
        assert_eq!(ladder(1.0), [1.0]);
        let fine = ladder(0.05);
        assert_eq!((fine.len(), fine[0], fine[3]), (4, 1.0, 0.05));
        assert!(fine.windows(2).all(|pair| pair[1] < pair[0] && pair[1] > 0.24 * pair[0]));
    }
}
