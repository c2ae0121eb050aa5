//! The demonstration, a network that learns a picture, and the self-check of the kernels.

use leptos::prelude::*;

use super::{Phase, State};
use crate::app::ledger::Activity;
use schema::{CheckRow, Command, Event, ExecutorKind};

/// A square picture of scalar values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Picture {
    pub(crate) side: u32,
    pub(crate) values: Vec<f32>,
}

#[derive(Clone, Copy)]
pub(crate) struct Demo {
    pub(crate) phase: RwSignal<Phase>,
    /// What the demonstration runs on, as its run says.
    pub(crate) executor: RwSignal<Option<ExecutorKind>>,
    pub(crate) steps: RwSignal<u32>,
    pub(crate) losses: RwSignal<Vec<f32>>,
    pub(crate) target: RwSignal<Picture>,
    pub(crate) learned: RwSignal<Picture>,
    pub(crate) check: RwSignal<Phase>,
    pub(crate) check_rows: RwSignal<Vec<CheckRow>>,
    seed: RwSignal<u32>,
}

impl Demo {
    pub(super) fn new() -> Self {
        Self {
            phase: RwSignal::new(Phase::Idle),
            executor: RwSignal::new(None),
            steps: RwSignal::new(0),
            losses: RwSignal::default(),
            target: RwSignal::default(),
            learned: RwSignal::default(),
            check: RwSignal::new(Phase::Idle),
            check_rows: RwSignal::default(),
            seed: RwSignal::new(1),
        }
    }

    pub(super) fn lost(&self) {
        for signal in [self.phase, self.check] {
            if signal.get_untracked().busy() {
                signal.set(Phase::Failed);
            }
        }
    }
}

impl State {
    /// Trains the demonstration from the start.
    pub(crate) fn start_demo(&self) {
        self.demo.losses.set(Vec::new());
        self.demo.phase.set(Phase::Loading);
        self.begin(Activity::Demo, Command::Demo { seed: self.demo.seed.get_untracked() });
    }

    /// Trains it from other random weights.
    pub(crate) fn restart_demo(&self) {
        self.demo.seed.update(|seed| *seed += 1);
        self.start_demo();
    }

    pub(crate) fn pause_or_resume_demo(&self) {
        let (command, phase) = match self.demo.phase.get_untracked() {
            Phase::Training => (Command::Pause, Phase::Paused),
            Phase::Paused => (Command::Resume, Phase::Training),
            _ => return self.restart_demo(),
        };
        if self.tell(Activity::Demo, command) {
            self.demo.phase.set(phase);
        }
    }

    pub(crate) fn start_check(&self) {
        self.demo.check_rows.set(Vec::new());
        self.demo.check.set(Phase::Training);
        self.begin(Activity::SelfCheck, Command::SelfCheck);
    }

    pub(super) fn demo_event(&self, event: Event, bulk: Vec<Vec<f32>>) {
        let demo = &self.demo;
        let values = bulk.into_iter().next().unwrap_or_default();
        match event {
            Event::DemoStarted { side, executor } => {
                demo.executor.set(Some(executor));
                demo.target.set(Picture { side, values });
            }
            Event::DemoPicture { side } => demo.learned.set(Picture { side, values }),
            Event::DemoLosses { first_step, steps } => {
                demo.steps.set(steps);
                demo.losses.update(|losses| {
                    losses.truncate(first_step as usize);
                    losses.extend(values);
                });
                if demo.phase.get_untracked() == Phase::Loading {
                    demo.phase.set(Phase::Training);
                }
            }
            Event::Checked(row) => demo.check_rows.update(|rows| rows.push(row)),
            _ => {}
        }
    }
}
