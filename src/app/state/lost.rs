//! What has failed, and what becomes of everything else when it takes the worker with it.

use leptos::prelude::*;

use super::{Phase, SlotState, State};
use crate::app::ledger::{Activity, Ledger};
use schema::{ExecutorChoice, ExecutorKind, Failure, Recovery};

/// After so many lost workers the graphics device is under suspicion and left alone.
const TRUST: u32 = 2;
/// And after more than so many a training is not taken up again by itself: it may be what ends them.
const ATTEMPTS: u32 = 3;
/// A device that is lost after so many milliseconds without any work has been switched off, by a sleep for example.
pub(super) const LONG_MS: f64 = 60_000.0;

impl State {
    /// Shows the failure. When the worker is gone, everything it was doing has failed with it.
    pub(super) fn fail(&self, activity: Option<Activity>, failure: Failure) {
        let recovery = failure.recovery;
        let restarts = recovery.restarts();
        if let Some(activity) = activity {
            self.phase(activity, Phase::Failed);
        }
        match activity {
            // A file's failure is told where the file is shown; everything else goes on.
            Some(Activity::Load(slot)) if !restarts => {
                if self.files.get(slot).with_untracked(SlotState::is_read_again) {
                    self.read_kept_copy(slot, failure);
                } else {
                    self.files.failed(slot, failure);
                    self.recall_if_promised();
                }
            }
            // Without ids the tooltips name rows, and an estimate is nothing that a run would need.
            Some(Activity::Ids | Activity::Estimate | Activity::NewRows) if !restarts => {}
            // Told beside the button that was pressed.
            Some(Activity::Apply) if !restarts => self.results.not_applied.set(Some(failure)),
            _ => self.notice.set(Some(failure)),
        }
        if activity == Some(Activity::Align) && !restarts {
            self.run.has_failed();
            self.run.moving.set(None);
            self.results.run_given_up();
        }
        if restarts && let Some(words) = self.forget_worker(recovery) {
            self.notice.update(|notice| {
                if let Some(failure) = notice {
                    failure.hint = words.into();
                }
            });
        }
    }

    /// Whatever the worker was doing has ended. A training goes on in the next one, and a result that it held is computed
    /// again from what was kept; which of them it is, is returned in words.
    fn forget_worker(&self, recovery: Recovery) -> Option<&'static str> {
        let phase = self.run.phase.get_untracked();
        let paused = phase == Phase::Paused;
        let held = !phase.busy() && self.results.held.get_untracked();
        let now = js_sys::Date::now();
        // A sample that is aligned by its own encoders, which takes a moment; not one whose training waits to be taken up.
        let recalled = self.run.again.with_value(Option::is_none)
            && (untrack(|| self.files.promised())
                || self.files.sample.get_untracked().is_some() && !self.run.trains.get_untracked());
        let idle = !untrack(|| self.busy()) && !self.files.is_reading();
        let chosen = self.choice.get_value() != ExecutorChoice::Cpu;
        let gpu = self
            .diagnostics
            .with_untracked(|d| d.as_ref().map_or(chosen, |d| d.executor == ExecutorKind::Gpu));
        self.demo.lost();
        self.run.lost();
        self.results.lost();
        self.files.lost();
        self.ledger.update_value(Ledger::clear);
        self.lost_at.set_value(now);
        if !(idle && now - self.opened_at.get_value() > LONG_MS) {
            self.losses_in_a_row.update_value(|n| *n += 1);
        }
        let losses = self.losses_in_a_row.get_value();
        if recovery == Recovery::RestartOnCpu || gpu && losses >= TRUST {
            self.choice.set_value(ExecutorChoice::CpuAfterFailures);
        }
        self.diagnostics.set(None);
        if losses > ATTEMPTS {
            self.files.give_up_reading();
            return None;
        }
        if recalled && (phase.busy() || held) {
            self.promise();
            return Some("The sample is aligned again by itself.");
        }
        if phase.busy() {
            let words = if paused {
                "The run stays paused, at the last point that was kept."
            } else {
                "The run goes on by itself, from the last point that was kept."
            };
            return self.go_on(paused).then_some(words);
        }
        let again = held && self.restored.get_value() < ATTEMPTS;
        self.restored.update_value(|n| *n += u32::from(again));
        (again && self.go_on(false))
            .then_some("The result is computed again from what was kept, without training.")
    }
}
