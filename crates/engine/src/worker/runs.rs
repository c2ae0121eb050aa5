//! Which runs are alive, and which of them are held.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::scope::rest;
use schema::RunId;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Paused,
    /// Paused again at the next look.
    Step,
}

/// Shared between the message handler, which changes it, and the tasks, which look between submits.
#[derive(Default)]
pub(super) struct Runs {
    states: RefCell<HashMap<RunId, State>>,
    /// Runs that are to end early, with what they have.
    finishing: RefCell<HashSet<RunId>>,
}

impl Runs {
    pub(super) fn start(&self, run: RunId) {
        self.states.borrow_mut().insert(run, State::Running);
    }

    pub(super) fn stop(&self, run: RunId) {
        self.finishing.borrow_mut().remove(&run);
        self.states.borrow_mut().remove(&run);
    }

    pub(super) fn pause(&self, run: RunId) {
        self.set(run, State::Paused);
    }

    /// Lets a held run go on until it looks again.
    pub(super) fn step(&self, run: RunId) {
        self.set(run, State::Step);
    }

    /// Asks a run to end early; a held one goes on to do so.
    pub(super) fn finish(&self, run: RunId) {
        self.finishing.borrow_mut().insert(run);
        self.resume(run);
    }

    pub(super) fn is_finishing(&self, run: RunId) -> bool {
        self.finishing.borrow().contains(&run)
    }

    pub(super) fn resume(&self, run: RunId) {
        self.set(run, State::Running);
    }

    fn set(&self, run: RunId, state: State) {
        if let Some(current) = self.states.borrow_mut().get_mut(&run) {
            *current = state;
        }
    }

    fn state(&self, run: RunId) -> Option<State> {
        self.states.borrow().get(&run).copied()
    }

    /// Waits while the run is held; then tells whether it is still wanted.
    pub(super) async fn wanted(&self, run: RunId) -> bool {
        while self.state(run) == Some(State::Paused) {
            rest(20).await;
        }
        if self.state(run) == Some(State::Step) {
            self.pause(run);
        }
        self.state(run).is_some()
    }
}
