//! The alignment that is under way.

use std::collections::HashMap;
use std::sync::Arc;

use leptos::prelude::*;

use super::{History, Phase, State};
use crate::app::kept::KeptRun;
use crate::app::ledger::Activity;
use crate::app::standing::Made;
use schema::{AlignOptions, Command, Event, FileRef, LabelColumn, Progress};

/// Where the maps or networks put their points at the moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Moving {
    /// Rows of two.
    pub(crate) x: Vec<f32>,
    pub(crate) y: Vec<f32>,
    pub(crate) x_labels: Vec<f32>,
    pub(crate) y_labels: Vec<f32>,
    /// The plan as a square picture; may be empty.
    pub(crate) plan: Vec<f32>,
    /// The names of the labels of both sides.
    pub(crate) names: Arc<[LabelColumn; 2]>,
}

/// What a training has reached, by name.
pub(super) type Reached = HashMap<String, Arc<Vec<f32>>>;

/// Time that a run has worked, without its pauses.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    worked: f64,
    since: Option<f64>,
}

impl Clock {
    fn seconds(&self, now: f64) -> f64 {
        self.worked + self.since.map_or(0.0, |since| (now - since) / 1000.0)
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Run {
    /// How many this page has begun: who asks for one can tell it from the one before.
    pub(crate) begun: RwSignal<u32>,
    pub(crate) phase: RwSignal<Phase>,
    pub(crate) progress: RwSignal<Option<Progress>>,
    pub(crate) history: RwSignal<History>,
    /// That of the result that is on show.
    kept: StoredValue<History>,
    /// Whether the run trains, rather than applies what was trained before.
    pub(crate) trains: RwSignal<bool>,
    names: StoredValue<Arc<[LabelColumn; 2]>>,
    pub(crate) moving: RwSignal<Option<Arc<Moving>>>,
    /// Seconds that are left, as far as one can tell.
    pub(crate) left: RwSignal<Option<f64>>,
    /// Whether the training was asked to end early.
    pub(crate) finishing: RwSignal<bool>,
    clock: StoredValue<Clock>,
    last_moved: StoredValue<f64>,
    /// The last training, as it was asked for.
    pub(super) asked: StoredValue<Option<KeptRun>>,
    /// What it has reached.
    pub(super) reached: StoredValue<Reached>,
    /// The training before it with what that had reached, if its result is still on show.
    pub(super) before: StoredValue<Option<(KeptRun, Reached)>>,
    /// A training that is taken up as soon as everything has been read.
    pub(super) again: StoredValue<Option<KeptRun>>,
    /// Whether it is to be paused then.
    pub(super) hold: StoredValue<bool>,
    /// Whether the last training was taken up, rather than begun.
    pub(super) taken_up: StoredValue<bool>,
    /// Whether it was done, and ended early, when it was taken up.
    pub(super) restored_early: StoredValue<bool>,
    /// Whether the last training could not go on, through no fault of its own. What it has reached waits for the next.
    pub(super) halted: StoredValue<bool>,
    /// Which of its candidates is shown when it is done.
    pub(super) show: StoredValue<Option<u32>>,
}

/// With less of the run done than this, the time left is a guess.
const KNOWN_SHARE: f64 = 0.03;
/// Milliseconds between pictures for those who want little motion.
const CALM: f64 = 1500.0;

fn now() -> f64 {
    window().performance().map_or(0.0, |clock| clock.now())
}

fn wants_calm() -> bool {
    matches!(window().match_media("(prefers-reduced-motion: reduce)"), Ok(Some(query)) if query.matches())
}

impl Run {
    pub(super) fn new() -> Self {
        Self {
            phase: RwSignal::new(Phase::Idle),
            begun: RwSignal::new(0),
            progress: RwSignal::new(None),
            history: RwSignal::default(),
            kept: StoredValue::default(),
            trains: RwSignal::new(false),
            names: StoredValue::default(),
            moving: RwSignal::new(None),
            left: RwSignal::new(None),
            finishing: RwSignal::new(false),
            clock: StoredValue::default(),
            last_moved: StoredValue::new(f64::MIN),
            asked: StoredValue::default(),
            reached: StoredValue::default(),
            before: StoredValue::default(),
            again: StoredValue::default(),
            hold: StoredValue::new(false),
            taken_up: StoredValue::new(false),
            restored_early: StoredValue::new(false),
            halted: StoredValue::new(false),
            show: StoredValue::default(),
        }
    }

    /// Goes on to another phase; the clock stands while nothing works.
    pub(super) fn enter(&self, phase: Phase) {
        self.clock.update_value(|clock| {
            let now = now();
            clock.worked = clock.seconds(now);
            clock.since = matches!(phase, Phase::Loading | Phase::Training).then_some(now);
        });
        if matches!(phase, Phase::Done | Phase::Failed | Phase::Idle) {
            self.finishing.set(false);
            self.left.set(None);
        }
        self.phase.set(phase);
    }

    /// No training is to be taken up.
    pub(super) fn forget(&self) {
        self.again.set_value(None);
        self.hold.set_value(false);
        self.halted.set_value(false);
        self.asked.set_value(None);
        self.before.set_value(None);
        self.reached.update_value(HashMap::clear);
    }

    /// The training was given up or has failed: what can be asked again is the one before it, whose result is on show.
    pub(super) fn has_brought_nothing(&self) {
        let before = self.before.get_value();
        self.forget();
        if let Some((run, reached)) = before {
            self.asked.set_value(Some(run));
            self.reached.set_value(reached);
        }
    }

    /// Whether the training was asked to end early, by this visit or an earlier one.
    pub(super) fn is_stopped(&self, stopped: bool) {
        self.asked.update_value(|asked| {
            if let Some(run) = asked {
                run.stopped = stopped;
            }
        });
    }

    /// The training has brought its result.
    pub(super) fn has_ended_well(&self) {
        self.before.set_value(None);
        self.asked.update_value(|asked| {
            if let Some(run) = asked {
                run.done = true;
            }
        });
    }

    fn reset(&self) {
        self.clock.set_value(Clock::default());
        self.last_moved.set_value(f64::MIN);
        self.progress.set(None);
        self.history.set(History::default());
        self.names.set_value(Arc::default());
        self.moving.set(None);
        self.left.set(None);
        self.finishing.set(false);
    }

    /// The run has brought a result, and these are its curves.
    pub(super) fn keep_history(&self) {
        self.kept.set_value(self.history.get_untracked());
    }

    pub(super) fn lost(&self) {
        if self.phase.get_untracked().busy() {
            self.enter(Phase::Failed);
        }
    }

    /// Seconds of work so far.
    pub(crate) fn worked(&self) -> f64 {
        self.clock.with_value(|clock| clock.seconds(now()))
    }
}

impl State {
    /// Aligns what is loaded, with the settings as they are.
    pub(crate) fn align(&self) {
        if untrack(|| self.blocker()).is_some() {
            return;
        }
        let options = self.settings.options.get_untracked();
        let pairs = self.pairs.send();
        self.run.show.set_value(None);
        self.run.taken_up.set_value(false);
        self.run.restored_early.set_value(false);
        self.restored.set_value(0);
        let reached = self.run.reached.get_value();
        let before = self.run.asked.get_value().filter(|run| run.done).map(|run| (run, reached));
        // One that is replaced before it has brought anything changes nothing about what is on show.
        self.run.before.update_value(|had| *had = before.or(had.take()));
        // A run that is asked for again because it was cut off goes on; one that has brought its result is done again.
        let cut_off = self.run.halted.get_value()
            || self.run.phase.get_untracked() == Phase::Failed
            || !self.results.held.get_untracked();
        let same = |run: &KeptRun| run.options == options && run.pairs == pairs;
        if !(cut_off && self.run.asked.with_value(|asked| asked.as_ref().is_some_and(same))) {
            self.run.reached.update_value(HashMap::clear);
        }
        self.train(options, pairs);
    }

    /// Begins a training, or goes on with what it has reached.
    pub(super) fn train(&self, options: AlignOptions, pairs: Vec<(u32, u32)>) {
        let asked = KeptRun { options: options.clone(), pairs: pairs.clone(), ..KeptRun::default() };
        self.run.asked.set_value(Some(asked));
        self.run.halted.set_value(false);
        let reached = self.run.reached.get_value().into_iter();
        let (reached, bulk) = reached.map(|(what, values)| (what, Arc::unwrap_or_clone(values))).unzip();
        let command = Command::Align { options: Box::new(options.clone()), pairs, reached };
        self.begin_run(command, bulk, options);
    }

    /// Aligns what is loaded by encoders that were trained before.
    pub(super) fn recall(&self, model: FileRef) {
        self.pairs.begin(Vec::new());
        self.run.forget();
        self.begin_run(Command::Recall { model }, Vec::new(), self.settings.options.get_untracked());
    }

    /// Whether a run is under way that somebody would have to wait for again.
    pub(crate) fn training(&self) -> bool {
        self.run.phase.get().busy() && self.run.trains.get() && !self.files.promised()
    }

    fn begin_run(&self, command: Command, bulk: Vec<Vec<f32>>, options: AlignOptions) {
        self.run.reset();
        self.run.begun.update(|count| *count += 1);
        self.run.trains.set(matches!(command, Command::Align { .. }));
        self.results.begun.set_value(Made { of: untrack(|| self.data_in_words()), options });
        self.run.enter(Phase::Loading);
        self.results.run_begins();
        self.give_up(Activity::Show);
        self.give_up(Activity::Apply);
        self.give_up(Activity::Compare);
        self.begin_with(Activity::Align, command, bulk);
    }

    pub(crate) fn pause_or_resume(&self) {
        if self.run.again.with_value(Option::is_some) {
            // Nothing runs yet: it will be paused, or not, when it does.
            let Some(hold) = self.run.hold.try_update_value(|hold| {
                *hold = !*hold;
                *hold
            }) else {
                return;
            };
            return self.run.enter(if hold { Phase::Paused } else { Phase::Loading });
        }
        let (command, phase) = match self.run.phase.get_untracked() {
            Phase::Loading | Phase::Training => (Command::Pause, Phase::Paused),
            Phase::Paused => (Command::Resume, Phase::Training),
            _ => return,
        };
        if self.tell(Activity::Align, command) {
            self.run.enter(phase);
        }
    }

    /// A few steps of a run that is held.
    pub(crate) fn step(&self) {
        self.tell(Activity::Align, Command::Step);
    }

    /// Ends the training early and goes on with what was learned.
    pub(crate) fn finish_early(&self) {
        if self.tell(Activity::Align, Command::Finish) {
            self.run.finishing.set(true);
            self.run.is_stopped(true);
            if self.run.phase.get_untracked() == Phase::Paused {
                self.run.enter(Phase::Training);
            }
        }
    }

    /// Gives the run up. What an earlier run has found stays on show.
    pub(crate) fn cancel_run(&self) {
        self.give_up(Activity::Align);
        self.run.has_brought_nothing();
        self.run.moving.set(None);
        self.run.history.set(self.run.kept.get_value());
        self.run.enter(Phase::Idle);
        self.results.run_given_up();
    }

    pub(super) fn run_event(&self, activity: Activity, event: Event, bulk: Vec<Vec<f32>>) {
        if activity != Activity::Align {
            if let Event::Progress(progress) = event {
                self.results.progressed(activity, progress);
            }
            return;
        }
        let run = &self.run;
        if run.phase.get_untracked() == Phase::Loading {
            run.enter(Phase::Training);
        }
        match event {
            Event::Progress(progress) => {
                let share = progress.share;
                let left = (KNOWN_SHARE..1.0).contains(&share).then(|| run.worked() * (1.0 - share) / share);
                run.left.set(left);
                run.progress.set(Some(progress));
            }
            Event::Statistics { fits, first_step, steps } => {
                run.history.update(|history| history.add(fits, first_step, steps, bulk));
            }
            Event::Labels(names) => run.names.set_value(Arc::new(names)),
            Event::Moving => {
                if wants_calm() && now() - run.last_moved.get_value() < CALM {
                    return;
                }
                run.last_moved.set_value(now());
                let mut parts = bulk.into_iter();
                let mut next = || parts.next().unwrap_or_default();
                let [x, y, x_labels, y_labels, plan] = std::array::from_fn(|_| next());
                let names = run.names.get_value();
                run.moving.set(Some(Arc::new(Moving { x, y, x_labels, y_labels, plan, names })));
            }
            _ => {}
        }
    }
}
