//! What the next alignment would take: asked again whenever the data or the settings change.

use leptos::prelude::*;

use super::{SlotState, State};
use crate::app::ledger::Activity;
use schema::{Command, Side, Slot};

impl State {
    /// Keeps the estimate up to date as long as the page lives.
    pub(super) fn keep_estimate(&self) {
        let state = *self;
        let rows = move |slot: Slot| {
            state.files.get(slot).with(|s: &SlotState| s.used.as_ref().map(|(source, _)| source.clone()))
        };
        let held = Memo::new(move |_| {
            let slots = Side::BOTH.map(|side| [Slot::Features(side), Slot::Distances(side)]);
            slots.map(|slots| slots.map(rows))
        });
        let ready = Memo::new(move |_| state.diagnostics.with(Option::is_some));
        // A run that has ended has taught how long the next one takes.
        let busy = Memo::new(move |_| state.run.phase.get().busy());
        Effect::new(move || {
            let both = held.with(|sides| sides.iter().all(|side| side.iter().any(Option::is_some)));
            let options = state.settings.options.get();
            if !both || !ready.get() {
                state.estimate.set(None);
            } else if !busy.get() {
                state.begin(Activity::Estimate, Command::Estimate { options: Box::new(options) });
            }
        });
    }
}
