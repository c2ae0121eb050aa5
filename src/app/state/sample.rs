//! Our own samples: loaded in place of everything, aligned by themselves with encoders of their own, and left as soon as
//! somebody brings files.

use leptos::prelude::*;
use web_sys::Url;

use super::files::{SLOTS, Source};
use super::{Phase, SlotState, State};
use crate::app::samples::{self, Sample};
use schema::{FileRef, Reading, Slot};

impl State {
    /// No alignment starts by itself any more.
    pub(super) fn break_promise(&self) {
        if self.files.promised.get_untracked() {
            self.files.promised.set(false);
            self.run.enter(Phase::Idle);
        }
    }

    /// Loads one of our own samples in place of everything, and shows what its encoders make of it.
    pub(crate) fn load_sample(&self, name: &str) {
        let Some(sample) = samples::ALL.iter().find(|sample| sample.name == name) else { return };
        self.keep_own();
        self.clear_all();
        for (slot, file) in sample.files() {
            self.load(slot, sample_source(sample, file));
        }
        self.files.sample.set(Some(sample.name));
        self.promise();
    }

    /// The sample will be aligned by its own encoders.
    pub(super) fn promise(&self) {
        self.files.promised.set(true);
        self.run.enter(Phase::Loading);
    }

    /// The unseen points of the sample that is loaded.
    pub(crate) fn load_sample_new_points(&self) {
        let name = self.files.sample.get_untracked();
        let Some(sample) = samples::ALL.iter().find(|sample| Some(sample.name) == name) else { return };
        sample.new_files().iter().for_each(|(slot, _)| self.unload(*slot));
        for (slot, file) in sample.new_files() {
            self.load(slot, sample_source(sample, file));
        }
    }

    /// A sample's other files mean nothing beside a file of the visitor's own.
    pub(super) fn leave_sample(&self, own: Slot) {
        self.files.sample.set(None);
        for slot in SLOTS.into_iter().filter(|slot| *slot != own) {
            let signal = self.files.get(slot);
            if signal.with_untracked(SlotState::is_sample) {
                self.unload(slot);
            } else if signal.with_untracked(|s| s.used.as_ref().is_some_and(|(source, _)| source.sample)) {
                signal.update(|state| state.used = None);
            }
        }
    }

    /// Starts the alignment that a sample promises, or one that is to go on, as soon as it can start.
    pub(super) fn recall_if_promised(&self) {
        let reading = SLOTS.iter().any(|slot| self.files.get(*slot).with_untracked(SlotState::is_reading));
        if reading || self.diagnostics.with_untracked(Option::is_none) {
            return;
        }
        self.go_on_if_promised();
        if !self.files.promised.get_untracked() {
            return;
        }
        self.files.promised.set(false);
        let name = self.files.sample.get_untracked();
        match samples::ALL.iter().find(|sample| Some(sample.name) == name) {
            Some(sample) if untrack(|| self.files.blocker()).is_none() => {
                self.recall(sample_source(sample, Sample::MODEL).file);
            }
            _ => self.run.enter(Phase::Idle),
        }
    }
}

fn sample_source(sample: &Sample, file: &str) -> Source {
    let path = format!("samples/{}/{file}", sample.name);
    let base = document().base_uri().ok().flatten().unwrap_or_default();
    let url = Url::new_with_base(&path, &base).map_or_else(|_| path.clone(), |url| url.href());
    let name = format!("{}/{file}", sample.name);
    Source { file: FileRef { name, url }, reading: Reading::default(), sample: true }
}
