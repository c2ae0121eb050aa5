//! Which runs are alive, and which of them are held.

use std::cell::RefCell;
use std::collections::HashMap;

use super::scope::rest;
use crate::protocol::RunId;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Paused,
}

/// Shared between the message handler, which changes it, and the tasks, which look between submits.
#[derive(Default)]
pub(super) struct Runs(RefCell<HashMap<RunId, State>>);

impl Runs {
    pub(super) fn start(&self, run: RunId) {
        self.0.borrow_mut().insert(run, State::Running);
    }

    pub(super) fn stop(&self, run: RunId) {
        self.0.borrow_mut().remove(&run);
    }

    pub(super) fn pause(&self, run: RunId) {
        self.set(run, State::Paused);
    }

    pub(super) fn resume(&self, run: RunId) {
        self.set(run, State::Running);
    }

    fn set(&self, run: RunId, state: State) {
        if let Some(current) = self.0.borrow_mut().get_mut(&run) {
            *current = state;
        }
    }

    fn state(&self, run: RunId) -> Option<State> {
        self.0.borrow().get(&run).copied()
    }

    /// Waits while the run is held; then tells whether it is still wanted.
    pub(super) async fn wanted(&self, run: RunId) -> bool {
        while self.state(run) == Some(State::Paused) {
            rest(20).await;
        }
        self.state(run).is_some()
    }
}
