//! The record of an earlier run: its settings, pairs and candidate come back, and its files are compared with those that
//! are loaded.

use leptos::prelude::*;

use super::files::SLOTS;
use super::{SlotState, State};
use crate::app::repeat::{Held, rows_are_there, same_candidate};
use schema::{Chosen, Content, Outcome, Recorded, Slot};

/// What a record asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Repeat {
    pub(crate) files: Vec<Recorded>,
    pub(crate) pairs: Vec<(u32, u32)>,
    pub(crate) chosen: Option<Chosen>,
    options: schema::AlignOptions,
}

#[derive(Clone, Copy)]
pub(crate) struct Record {
    /// Whether its pairs still wait for the rows they speak of.
    pub(crate) pairs_wait: RwSignal<bool>,
    /// What became of its candidate.
    pub(crate) remark: RwSignal<Option<String>>,
}

impl Record {
    pub(super) fn new() -> Self {
        Self { pairs_wait: RwSignal::new(false), remark: RwSignal::new(None) }
    }
}

impl State {
    /// The record that is loaded.
    pub(crate) fn repeat(&self) -> Option<Repeat> {
        self.files.get(Slot::Record).with(|slot| match &slot.used {
            Some((_, Content::Record { pairs, options, files, chosen, .. })) => Some(Repeat {
                files: files.clone(),
                pairs: pairs.clone(),
                chosen: chosen.clone(),
                options: (**options).clone(),
            }),
            _ => None,
        })
    }

    /// The files that are loaded, for a record to be compared with.
    pub(crate) fn held_files(&self) -> Vec<Held> {
        let held = |slot: Slot| {
            self.files.get(slot).with(|state: &SlotState| {
                let (source, _) = state.used.as_ref()?;
                let reading = source.reading.clone();
                Some(Held { slot, name: source.file.name.clone(), sha256: state.sha256.clone(), reading })
            })
        };
        SLOTS.into_iter().filter(|slot| *slot != Slot::Record).filter_map(held).collect()
    }

    /// The file in use is known by its hash.
    pub(super) fn hashed(&self, slot: Slot, url: &str, sha256: String) {
        let is_held =
            |state: &SlotState| state.used.as_ref().is_some_and(|(source, _)| source.file.url == url);
        if !self.files.get(slot).with_untracked(is_held) {
            return;
        }
        self.files.get(slot).update(|state| state.sha256 = Some(sha256));
        self.take_recorded_pairs();
    }

    /// A record was read: its settings are taken over at once, its pairs as soon as their rows are there.
    pub(super) fn take_record(&self) {
        let Some(repeat) = untrack(|| self.repeat()) else { return };
        self.settings.replace(repeat.options);
        self.record.remark.set(None);
        self.record.pairs_wait.set(!repeat.pairs.is_empty());
        self.take_recorded_pairs();
    }

    /// Takes over the pairs of a record once both data sets are those they were made between.
    pub(super) fn take_recorded_pairs(&self) {
        if !self.record.pairs_wait.get_untracked() {
            return;
        }
        let Some(repeat) = untrack(|| self.repeat()) else { return };
        if rows_are_there(&repeat.files, &untrack(|| self.held_files())) {
            self.record.pairs_wait.set(false);
            self.pairs.restore(&repeat.pairs);
        }
    }

    /// After a run with the settings of the record: shows the candidate that was on show then.
    pub(super) fn show_recorded(&self, outcome: &Outcome) {
        self.record.remark.set(None);
        let Some(repeat) = untrack(|| self.repeat()) else { return };
        let Some(chosen) = repeat.chosen else { return };
        if self.results.made.with_untracked(|made| made.options != repeat.options) {
            return;
        }
        match same_candidate(&chosen, &outcome.candidates) {
            Some(at) if at as u32 == outcome.shown => {}
            Some(at) => {
                self.record.remark.set(Some(format!(
                    "The record has candidate {} on show, which is {} here and was chosen: {}.",
                    chosen.candidate + 1,
                    at + 1,
                    chosen.origin
                )));
                self.show_candidate(at as u32);
            }
            None => self.record.remark.set(Some(format!(
                "The record has another candidate on show ({}), which this run has not found.",
                chosen.origin
            ))),
        }
    }
}
