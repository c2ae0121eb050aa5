//! Trainings that were cut off and go on: after a lost worker, a reload, or a file that had to be found again.

use leptos::prelude::*;

use super::lost::LONG_MS;
use super::run::Run;
use super::{Phase, State};
use crate::app::kept::KeptRun;

impl Run {
    /// Other data lie here than those of the last training: it cannot be asked again. One that waits for its data can; what
    /// it has reached bears a mark of them, so that it is never taken for that of others.
    pub(super) fn data_changed(&self) {
        if self.again.with_value(Option::is_none) && !self.halted.get_value() {
            self.forget();
        }
    }

    /// The training that waits for its data does not go on by itself any more. What it has reached is there when it is asked
    /// for again.
    pub(super) fn halt(&self) {
        if let Some(run) = self.again.try_update_value(Option::take).flatten() {
            self.hold.set_value(false);
            self.asked.set_value(Some(run));
            self.halted.set_value(true);
            self.enter(Phase::Idle);
        }
    }

    /// The training has failed. One that was taken up may do so here and now only, for want of memory for example.
    pub(super) fn has_failed(&self) {
        if self.taken_up.get_value() && self.before.with_value(Option::is_none) {
            self.halted.set_value(true);
        } else {
            self.has_brought_nothing();
        }
    }
}

impl State {
    /// The training that the last worker was doing, or whose result it held, goes on in the next; false if there was none.
    pub(super) fn go_on(&self, hold: bool) -> bool {
        let asked = self.run.asked.get_value().filter(|_| self.run.trains.get_untracked());
        let Some(run) = asked else { return false };
        let shown = self.results.trained.with_untracked(|t| t.as_ref().map_or(0, |t| t.outcome.shown));
        let shown = if run.done { shown } else { 0 };
        self.go_on_with(KeptRun { shown, ..run });
        if hold {
            self.run.hold.set_value(true);
            self.run.enter(Phase::Paused);
        }
        true
    }

    /// A run has reached something new: whatever ended workers before, it does not end all of them.
    pub(super) fn has_got_on(&self) {
        if js_sys::Date::now() - self.lost_at.get_value() > LONG_MS {
            self.losses_in_a_row.set_value(0);
        }
    }

    /// This training goes on as soon as everything has been read.
    pub(super) fn go_on_with(&self, run: KeptRun) {
        // Whoever cancels it still has what was taken up, if that was a result.
        if run.done {
            self.run.before.set_value(Some((run.clone(), self.run.reached.get_value())));
        }
        self.run.again.set_value(Some(run));
        self.run.enter(Phase::Loading);
        self.recall_if_promised();
    }

    /// Everything has been read.
    pub(super) fn go_on_if_promised(&self) {
        let Some(run) = self.run.again.get_value() else { return };
        if untrack(|| self.files.blocker()).is_some() {
            return self.run.halt();
        }
        self.run.again.set_value(None);
        self.run.taken_up.set_value(true);
        let KeptRun { options, pairs, shown, stopped, done, .. } = run;
        self.pairs.begin(pairs.clone());
        self.run.show.set_value(Some(shown).filter(|shown| *shown > 0));
        self.train(options, pairs);
        self.run.restored_early.set_value(stopped && done);
        if stopped && !done {
            self.finish_early();
        }
        if self.run.hold.try_update_value(std::mem::take) == Some(true) {
            self.pause_or_resume();
        }
    }

    /// The training is done; somebody may have looked at another of its candidates before it was taken up.
    pub(super) fn show_as_before(&self) {
        if let Some(shown) = self.run.show.get_value() {
            self.run.show.set_value(None);
            self.show_candidate(shown);
        }
    }
}
