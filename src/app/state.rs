//! What the page knows, as signals, and how events change it.

use leptos::prelude::*;

use super::ledger::{Activity, Ledger};
use super::link::Link;
use crate::protocol::{
    CheckRow, Command, Diagnostics, Event, ExecutorChoice, ExecutorKind, Failure, Fault, Message, Recovery,
    RunId,
};

/// The state of an activity; the names are part of the page's automation interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    Loading,
    Training,
    Paused,
    Done,
    Failed,
}

impl Phase {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Loading => "loading",
            Self::Training => "training",
            Self::Paused => "paused",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

/// A square picture of scalar values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Picture {
    pub(super) side: u32,
    pub(super) values: Vec<f32>,
}

/// Copy handles on everything the components show.
#[derive(Clone, Copy)]
pub(super) struct State {
    pub(super) diagnostics: RwSignal<Option<Diagnostics>>,
    pub(super) demo: RwSignal<Phase>,
    /// What the demonstration runs on, as its run says.
    pub(super) demo_executor: RwSignal<Option<ExecutorKind>>,
    pub(super) steps: RwSignal<u32>,
    pub(super) losses: RwSignal<Vec<f32>>,
    pub(super) target: RwSignal<Picture>,
    pub(super) learned: RwSignal<Picture>,
    pub(super) check: RwSignal<Phase>,
    pub(super) check_rows: RwSignal<Vec<CheckRow>>,
    /// The last failure, until it is dismissed.
    pub(super) notice: RwSignal<Option<Failure>>,
    ledger: StoredValue<Ledger>,
    link: StoredValue<Option<Link>, LocalStorage>,
    choice: StoredValue<ExecutorChoice>,
    /// Workers that were lost since a run last came to its end.
    losses_in_a_row: StoredValue<u32>,
    seed: RwSignal<u32>,
}

/// After so many lost workers the graphics device is under suspicion and left alone.
const TRUST: u32 = 2;

impl State {
    /// Starts the worker and asks it to open a device.
    pub(super) fn new(choice: ExecutorChoice) -> Self {
        let state = Self {
            diagnostics: RwSignal::new(None),
            demo: RwSignal::new(Phase::Loading),
            demo_executor: RwSignal::new(None),
            steps: RwSignal::new(0),
            losses: RwSignal::default(),
            target: RwSignal::default(),
            learned: RwSignal::default(),
            check: RwSignal::new(Phase::Idle),
            check_rows: RwSignal::default(),
            notice: RwSignal::new(None),
            ledger: StoredValue::default(),
            link: StoredValue::new_local(None),
            choice: StoredValue::new(choice),
            losses_in_a_row: StoredValue::new(0),
            seed: RwSignal::new(1),
        };
        let link = Link::new(move |message| state.receive(message));
        state.link.set_value(Some(link));
        state.start_demo();
        state
    }

    /// Trains the demonstration from the start.
    pub(super) fn start_demo(&self) {
        self.losses.set(Vec::new());
        self.demo.set(Phase::Loading);
        self.begin(Activity::Demo, Command::Demo { seed: self.seed.get_untracked() });
    }

    /// Trains it from other random weights.
    pub(super) fn restart_demo(&self) {
        self.seed.update(|seed| *seed += 1);
        self.start_demo();
    }

    pub(super) fn pause_or_resume_demo(&self) {
        let (command, phase) = match self.demo.get_untracked() {
            Phase::Training => (Command::Pause, Phase::Paused),
            Phase::Paused => (Command::Resume, Phase::Training),
            _ => return self.restart_demo(),
        };
        if let Some(run) = self.ledger.with_value(|ledger| ledger.current(Activity::Demo)) {
            self.send(run, command);
            self.demo.set(phase);
        }
    }

    pub(super) fn start_check(&self) {
        self.check_rows.set(Vec::new());
        self.check.set(Phase::Training);
        self.begin(Activity::SelfCheck, Command::SelfCheck);
    }

    /// Breaks something on purpose. A device is lost in the midst of work, so the demonstration runs.
    pub(super) fn drill(&self, fault: Fault) {
        self.start_demo();
        self.send(RunId::WORKER, Command::Drill { fault });
    }

    fn begin(&self, activity: Activity, command: Command) {
        let mut begun = None;
        self.ledger.update_value(|ledger| begun = Some(ledger.begin(activity)));
        let Some((run, replaced)) = begun else { return };
        if let Some(old) = replaced {
            self.send(old, Command::Stop);
        }
        self.send(run, command);
    }

    fn send(&self, run: RunId, command: Command) {
        self.link.with_value(|link| {
            if let Some(link) = link {
                link.send(run, command);
            }
        });
    }

    fn receive(&self, message: Message<Event>) {
        if message.run == RunId::WORKER {
            match message.body {
                // Every worker, the first and each that replaces one, opens a device before anything else.
                Event::Ready => self.begin(Activity::Open, Command::Open { choice: self.choice.get_value() }),
                Event::Failed(failure) => self.fail(None, failure),
                _ => {}
            }
            return;
        }
        let Some(activity) = self.ledger.with_value(|ledger| ledger.activity_of(message.run)) else {
            return; // Stale: the run was replaced.
        };
        let mut bulk = message.bulk.into_iter();
        let mut next = || bulk.next().unwrap_or_default();
        match message.body {
            Event::Ready => {} // comes for the worker, above
            Event::Opened(diagnostics) => self.diagnostics.set(Some(diagnostics)),
            Event::DemoStarted { side, executor } => {
                self.demo_executor.set(Some(executor));
                self.target.set(Picture { side, values: next() });
            }
            Event::DemoPicture { side } => self.learned.set(Picture { side, values: next() }),
            Event::DemoLosses { first_step, steps } => {
                self.steps.set(steps);
                self.losses.update(|losses| {
                    losses.truncate(first_step as usize);
                    losses.extend(next());
                });
                if self.demo.get_untracked() == Phase::Loading {
                    self.demo.set(Phase::Training);
                }
            }
            Event::Reading { .. }
            | Event::Loaded { .. }
            | Event::Progress(_)
            | Event::Statistics { .. }
            | Event::Moving
            | Event::Aligned(_)
            | Event::Compared(_)
            | Event::Matches { .. }
            | Event::Exported { .. } => {}
            Event::Checked(row) => self.check_rows.update(|rows| rows.push(row)),
            Event::Finished => {
                self.losses_in_a_row.set_value(0);
                self.phase(activity, Phase::Done);
            }
            Event::Failed(failure) => self.fail(Some(activity), failure),
        }
    }

    fn phase(&self, activity: Activity, phase: Phase) {
        match activity {
            Activity::Open => {}
            Activity::Demo => self.demo.set(phase),
            Activity::SelfCheck => self.check.set(phase),
        }
    }

    /// Shows the failure. When the worker is gone, everything it was doing has failed with it.
    fn fail(&self, activity: Option<Activity>, failure: Failure) {
        let restarts = failure.recovery == Recovery::RestartWorker;
        self.notice.set(Some(failure));
        if let Some(activity) = activity {
            self.phase(activity, Phase::Failed);
        }
        if restarts {
            for (signal, busy) in [(self.demo, Activity::Demo), (self.check, Activity::SelfCheck)] {
                if matches!(signal.get_untracked(), Phase::Loading | Phase::Training | Phase::Paused) {
                    self.phase(busy, Phase::Failed);
                }
            }
            self.ledger.update_value(Ledger::clear);
            self.losses_in_a_row.update_value(|n| *n += 1);
            if self.losses_in_a_row.get_value() >= TRUST {
                self.choice.set_value(ExecutorChoice::CpuAfterFailures);
            }
            self.diagnostics.set(None);
        }
    }
}
