//! The visitor's own files: kept while a sample takes their place, and not lost without a question when the page is left.

use leptos::prelude::*;

use super::files::{SLOTS, Source};
use super::run::Reached;
use super::{Phase, State};
use crate::app::kept::KeptRun;
use crate::app::pairs::Pair;
use schema::Slot;

/// Files, pairs and a training that a sample has taken the place of.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Own {
    pub(super) files: Vec<(Slot, Source)>,
    pub(super) pairs: Vec<Pair>,
    pub(super) run: Option<KeptRun>,
    /// What that has reached.
    pub(super) reached: Reached,
}

impl Own {
    /// The names of the data sets, for the button that brings them back.
    pub(crate) fn names(&self) -> String {
        let data =
            self.files.iter().filter(|(slot, _)| matches!(slot, Slot::Features(_) | Slot::Distances(_)));
        let names: Vec<&str> = data.map(|(_, source)| source.file.name.as_str()).collect();
        names.join(", ")
    }

    pub(crate) fn pairs(&self) -> usize {
        self.pairs.len()
    }
}

impl State {
    /// Whether any file of the visitor's own is loaded.
    pub(super) fn has_own(&self) -> bool {
        SLOTS.iter().any(|slot| {
            self.files.get(*slot).with_untracked(|s| {
                s.wanted.is_some() && !s.is_sample() || {
                    s.used.as_ref().is_some_and(|(source, _)| !source.sample)
                }
            })
        })
    }

    /// Remembers the visitor's own files before a sample takes their place. One sample after the other changes nothing.
    pub(super) fn keep_own(&self) {
        if !self.has_own() {
            return;
        }
        // One that is still being read may be what was just brought back.
        let source = |slot: Slot| {
            let own = |source: &Source| !source.sample;
            let held = self.files.get(slot).with_untracked(|s| {
                let used = s.used.as_ref().map(|(source, _)| source.clone()).filter(own);
                used.or_else(|| s.wanted.clone().filter(own))
            });
            held.map(|source| (slot, source))
        };
        let files: Vec<(Slot, Source)> = SLOTS.into_iter().filter_map(source).collect();
        let is_data = |(slot, _): &(Slot, Source)| matches!(slot, Slot::Features(_) | Slot::Distances(_));
        let before = self.files.own.get_untracked();
        // Labels beside a sample, for example, are no reason to give up what waits behind it.
        if !files.iter().any(is_data) && (before.is_some() || files.is_empty()) {
            return;
        }
        if let Some(before) = before {
            self.leave(before);
        }
        let pairs = self.pairs.list.with_untracked(|list| list.all().to_vec());
        let run = untrack(|| self.run_as_it_stands());
        let reached = run.as_ref().map(|_| self.run.reached.get_value()).unwrap_or_default();
        self.files.own.set(Some(Own { files, pairs, run, reached }));
    }

    /// Brings the visitor's own files back, with the pairs that were made between them and the training where it was. If
    /// there are other files of theirs by now, those wait in turn.
    pub(crate) fn back_to_own(&self) {
        let Some(Own { files, pairs, run, reached }) = self.files.own.get_untracked() else { return };
        self.files.own.set(None);
        self.keep_own();
        self.break_promise();
        self.clear_all();
        self.files.sample.set(None);
        // Rows are only those of the pairs again once the files are read; until then nothing else is loaded.
        self.pairs.list.update(|list| list.replace(pairs));
        self.pairs.remark.set(None);
        for (slot, source) in files {
            self.load(slot, source);
        }
        self.run.enter(Phase::Idle);
        if let Some(run) = run {
            self.run.reached.set_value(reached);
            self.go_on_with(run);
        }
    }

    /// Has the browser ask before a page is left that holds files of the visitor's own, or an alignment under way, unless
    /// they are kept.
    pub(crate) fn guard_leaving(&self) {
        let state = *self;
        let _ = window_event_listener(leptos::ev::beforeunload, move |event| {
            if untrack(|| state.is_safe()) {
                return;
            }
            let trained = state.run.progress.with_untracked(Option::is_some);
            let busy = state.run.phase.get_untracked().busy() && trained;
            if state.has_own() || state.files.own.with_untracked(Option::is_some) || busy {
                event.prevent_default();
                // Some browsers ask only when this is set.
                event.set_return_value("Files that were loaded here would have to be loaded again.");
            }
        });
    }
}
