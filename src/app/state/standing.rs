//! How a result stands to what is loaded and set now.

use leptos::prelude::*;

use super::{Phase, SlotState, State};
use crate::app::samples;
use crate::app::standing::{Beside, data, remark};
use schema::{Ending, Side, Slot};

impl State {
    /// What is loaded, in words.
    pub(super) fn data_in_words(&self) -> String {
        let sample = self.files.sample.get();
        let title = samples::ALL.iter().find(|known| Some(known.name) == sample).map(|known| known.title);
        let name =
            |slot| self.files.get(slot).with(|s: &SlotState| s.used.as_ref().map(|u| u.0.file.name.clone()));
        data(title, Side::BOTH.map(|side| name(Slot::Features(side)).or_else(|| name(Slot::Distances(side)))))
    }

    /// Why the result on show is not to be taken for that of what is loaded.
    pub(crate) fn remark(&self) -> Option<String> {
        let results = &self.results;
        let running = self.training();
        // A sample is aligned at once: there is nothing to be said in the moment before.
        if results.trained.with(Option::is_none) || (self.run.phase.get().busy() && !running) {
            return None;
        }
        // New points are of no file that is trained on.
        let changed = results.stale.get() && results.fresh.with(Option::is_none);
        let now = self.data_in_words();
        results.made.with(|made| remark(&made.of, Beside { running, changed, now: &now }))
    }

    /// Whether other settings are set than those of the result.
    pub(crate) fn settings_changed(&self) -> bool {
        let results = &self.results;
        !self.run.phase.get().busy()
            && results.trained.with(Option::is_some)
            && self.settings.options.with(|now| results.made.with(|made| made.options != *now))
    }

    /// How the training ended whose curves are on show; none while another is under way.
    pub(crate) fn ending(&self) -> Option<Ending> {
        let over = matches!(self.run.phase.get(), Phase::Done | Phase::Idle);
        self.results.ending.get().filter(|_| over)
    }
}
