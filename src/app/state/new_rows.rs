//! Whether new rows can follow those of training: asked as soon as there are some, and again whenever they or the encoders
//! change, so that what does not fit is told at the file and not after a click.

use leptos::prelude::*;

use super::{SlotState, State};
use crate::app::ledger::Activity;
use schema::{Command, NewRows, Side, Slot};

impl State {
    /// Keeps the answer up to date as long as the page lives.
    pub(super) fn keep_new_rows(&self) {
        let state = *self;
        let held = Memo::new(move |_| {
            let source = |slot| {
                state.files.get(slot).with(|s: &SlotState| s.used.as_ref().map(|(source, _)| source.clone()))
            };
            let sides = Side::BOTH.map(|side| [source(Slot::New(side)), source(Slot::Features(side))]);
            (sides, source(Slot::Model))
        });
        let encoders = Memo::new(move |_| {
            let model = held.with(|(_, model)| model.is_some());
            state.diagnostics.with(Option::is_some) && (state.results.held.get() || model)
        });
        Effect::new(move || {
            // A result that arrives may come with other encoders.
            state.results.trained.track();
            let any = held.with(|(sides, _)| sides.iter().any(|[new, _]| new.is_some()));
            state.results.not_applied.set(None);
            if any && encoders.get() {
                state.begin(Activity::NewRows, Command::LookAtNewRows);
            } else {
                state.new_rows.set(Default::default());
            }
        });
    }

    /// What stands against applying the encoders to the new rows of either side.
    pub(crate) fn new_rows_refused(&self) -> Option<String> {
        self.new_rows.with(|sides| {
            let refused = |side: Side| {
                let NewRows { refused, .. } = &sides[side.index()];
                refused.as_ref().map(|words| format!("Rows of {}: {words}", side.letter().to_uppercase()))
            };
            Side::BOTH.into_iter().find_map(refused)
        })
    }
}
