//! A run as the page follows it: progress, curves, points on the move; and how it is held, stepped and ended.

use std::collections::HashMap;

use super::aligning::PREPARING;
use super::runs::Runs;
use super::scope::{breathe, now, post};
use super::share::Share;
use align::geometry::Dense;
use align::metrics::plan::relative_entropy;
use align::procedure::{Control, Failure, Origin, Progress, Settings, Sides, Statistics, View, Watching};
use align::solver::align::STATS;
use analysis::labels::Coded;
use analysis::view::{flat, heat, steady, together};
use schema::{self, Ending, Event, RunId};

/// Progress is posted this often at most, and points on the move.
const PROGRESS_MS: f64 = 40.0;
const VIEW_MS: f64 = 90.0;
/// Looking takes at most one part in so many of the time.
const LOOKING: f64 = 10.0;
/// What a training has reached is told this often, at most; telling takes at most one part in so many of the time, and
/// no more is written than so many bytes a millisecond, which any disk takes without anybody noticing.
const KEEP_MS: f64 = 2000.0;
const TELLING: f64 = 20.0;
const WRITTEN: f64 = 2000.0;
/// Squares along each side of the plan's picture.
const HEAT: usize = 64;
/// Work between two looks at the messages: short enough that a cancel is felt at once.
const TARGET_MS: f64 = 40.0;

/// What an earlier attempt at a run has reached, by name.
pub(super) type Reached = HashMap<String, Vec<f32>>;

pub(super) struct Live<'a> {
    runs: &'a Runs,
    run: RunId,
    share: Share,
    posted: f64,
    /// When the next view is due, and when somebody was last found to want one.
    due: f64,
    asked: f64,
    looked: f64,
    /// Milliseconds that the run was held.
    held: f64,
    chunk: u32,
    /// Where the points were in the last view.
    before: Vec<Dense>,
    /// The plan entropy of every fit in the last view.
    entropies: Vec<f32>,
    /// Labels of both sides.
    coded: Coded,
    /// Steps that the networks have been trained, and how many are set.
    trained: (u32, u32),
    reached: Reached,
    /// When a training is to be told next, and when it was last asked about.
    tell: f64,
    telling: f64,
}

impl<'a> Live<'a> {
    /// The last part of the run, matching all points, is foretold to take this share of it.
    pub(super) fn new(runs: &'a Runs, run: RunId, settings: &Settings, last: f64, coded: Coded) -> Self {
        Self {
            runs,
            run,
            share: Share::new(settings, last),
            posted: 0.0,
            due: 0.0,
            asked: 0.0,
            looked: now(),
            held: 0.0,
            chunk: 1,
            before: Vec::new(),
            entropies: Vec::new(),
            coded,
            trained: (0, 0),
            reached: Reached::new(),
            tell: now() + KEEP_MS,
            telling: now(),
        }
    }
}

impl Live<'_> {
    /// An earlier attempt has come so far.
    pub(super) fn recalls(&mut self, reached: Reached) {
        self.reached = reached;
    }

    /// Milliseconds that the run was held so far.
    pub(super) fn held(&self) -> f64 {
        self.held
    }

    /// How the training ended.
    pub(super) fn ending(&self) -> Ending {
        Ending::new(self.trained.0, self.trained.1, self.runs.is_finishing(self.run))
    }

    fn has_trained(&mut self, done: u32, of: u32) {
        self.trained = (self.trained.0.max(done), self.trained.1.max(of));
    }
}

/// Points a side that are shown before training.
const FIRST_SIGHT: usize = 1500;

impl Live<'_> {
    /// Shows both sides as they are, each by itself, so that there is something to look at from the first moment.
    pub(super) async fn before_training(&mut self, sides: &Sides) -> Result<(), Failure> {
        post(self.run, Event::Labels(self.coded.columns.clone()), Vec::new());
        let (mut places, mut codes) = (Vec::new(), Vec::new());
        for (side, points) in sides.points().into_iter().enumerate() {
            let every = points.rows().div_ceil(FIRST_SIGHT).max(1);
            let rows: Vec<usize> = (0..points.rows()).step_by(every).collect();
            codes.push(self.coded.shown(side, rows.iter().copied()));
            let watch = &mut Watching::new(self, PREPARING);
            let mut flat = flat(&points.picked(&rows), watch).await?.data().to_vec();
            // Their units have nothing to do with each other.
            let size = (flat.iter().map(|v| v * v).sum::<f32>() / flat.len().max(1) as f32).sqrt().max(1e-20);
            flat.iter_mut().for_each(|v| *v /= size);
            places.push(flat);
        }
        places.append(&mut codes);
        post(self.run, Event::Moving, places);
        Ok(())
    }
}

impl Control for Live<'_> {
    async fn checkpoint(&mut self, progress: Progress) -> Result<(), Failure> {
        self.share.learn(&progress);
        if progress.phase == "training" {
            self.has_trained(progress.done, progress.of);
        } else {
            // Those of a linear map's plan are no network's.
            self.entropies.clear();
        }
        self.chunk = paced(self.chunk, now() - self.looked);
        if now() - self.posted > PROGRESS_MS {
            self.posted = now();
            let share = self.share.value();
            let Progress { phase, done, of } = progress;
            let event = schema::Progress { phase: phase.to_owned(), done, of, share };
            post(self.run, Event::Progress(event), Vec::new());
        }
        breathe().await;
        let asked = now();
        if !self.runs.wanted(self.run).await {
            return Err(Failure::Cancelled);
        }
        self.looked = now();
        self.held += self.looked - asked;
        Ok(())
    }

    fn chunk(&self) -> u32 {
        self.chunk
    }

    fn statistics(&mut self, new: Statistics<'_>) {
        let fits = new.fits.len();
        self.has_trained(new.first_step + new.eps.len() as u32, new.steps);
        let column = |which: usize| -> Vec<f32> {
            new.values.chunks_exact(STATS as usize).filter_map(|pair| pair.get(which).copied()).collect()
        };
        // Entropies are known as of the last view.
        let entropies =
            if self.entropies.len() == fits { self.entropies.repeat(new.eps.len()) } else { Vec::new() };
        let names = new.fits.iter().map(|origin| match origin {
            Origin::Network { measure, subsample, .. } => format!("{} {}", measure.name(), subsample + 1),
            Origin::Linear { .. } | Origin::Saved => origin.encoder().to_owned(),
        });
        let event = Event::Statistics { fits: names.collect(), first_step: new.first_step, steps: new.steps };
        post(self.run, event, vec![column(0), column(1), entropies, new.eps]);
    }

    fn curious(&mut self) -> bool {
        self.asked = now();
        self.asked > self.due
    }

    fn view(&mut self, view: View<'_>) {
        // A large plan is not worth the time: it is for the chart, which networks have.
        let small = |plan: &&Dense| plan.rows() * plan.cols() <= 1 << 18;
        let entropies = view.plans.iter().filter(small).map(|plan| relative_entropy(plan) as f32);
        self.entropies = entropies.collect();
        let mut flat = together(&[&view.embedded[0], &view.embedded[1]]);
        steady(&mut flat, &self.before);
        let codes = [0, 1].map(|side| self.coded.shown(side, view.rows[side].iter().copied()));
        let [x, y] = [0, 1].map(|side| flat[side].data().to_vec());
        let [codes_x, codes_y] = codes;
        let plan = view.plans.first().map(|plan| heat(plan, [&flat[0], &flat[1]], HEAT)).unwrap_or_default();
        post(self.run, Event::Moving, vec![x, y, codes_x, codes_y, plan]);
        self.before = flat;
        self.due = now() + (LOOKING * (now() - self.asked)).max(VIEW_MS);
    }

    fn recall(&mut self, what: &str) -> Option<Vec<f32>> {
        // Nobody asks twice.
        self.reached.remove(what)
    }

    fn keeps(&mut self, finished: bool) -> bool {
        self.telling = now();
        finished || self.telling > self.tell
    }

    fn remember(&mut self, what: &str, values: Vec<f32>) {
        let bytes = (values.len() * size_of::<f32>()) as f64;
        post(self.run, Event::Reached { what: what.to_owned() }, vec![values]);
        self.tell = now() + KEEP_MS.max(TELLING * (now() - self.telling)).max(bytes / WRITTEN);
    }

    fn finish(&self) -> bool {
        self.runs.is_finishing(self.run)
    }
}

/// A task of one kind of work: how far it is, and whether it is still wanted.
pub(super) struct Watched<'a> {
    runs: &'a Runs,
    run: RunId,
    posted: f64,
    looked: f64,
    chunk: u32,
    /// How much of everything it is.
    part: f64,
}

impl<'a> Watched<'a> {
    pub(super) fn new(runs: &'a Runs, run: RunId) -> Self {
        Self { runs, run, posted: 0.0, looked: now(), chunk: 1, part: 1.0 }
    }

    /// What comes before a longer run, and is nothing beside it.
    pub(super) fn before(runs: &'a Runs, run: RunId) -> Self {
        Self { part: 0.0, ..Self::new(runs, run) }
    }
}

impl Control for Watched<'_> {
    async fn checkpoint(&mut self, Progress { phase, done, of }: Progress) -> Result<(), Failure> {
        self.chunk = paced(self.chunk, now() - self.looked);
        if now() - self.posted > PROGRESS_MS {
            self.posted = now();
            let share = self.part * f64::from(done) / f64::from(of.max(1));
            let event = schema::Progress { phase: phase.to_owned(), done, of, share };
            post(self.run, Event::Progress(event), Vec::new());
        }
        breathe().await;
        if !self.runs.wanted(self.run).await {
            return Err(Failure::Cancelled);
        }
        self.looked = now();
        Ok(())
    }

    fn chunk(&self) -> u32 {
        self.chunk
    }
}

/// How many steps go into the next submit, after one that took so many milliseconds.
fn paced(chunk: u32, spent: f64) -> u32 {
    if spent < TARGET_MS { (chunk + 1).min(20) } else { (chunk / 2).max(1) }
}
