//! Files that are read again because a worker that held them is gone. They may have changed on disk, and reading one of them
//! may be what ends workers.

use leptos::prelude::*;

use super::State;
use super::files::{Files, SLOTS, SlotPhase, SlotState, Source};
use crate::app::ledger::Activity;
use schema::{Failure, Recovery, Slot};

impl SlotState {
    /// Whether what is being read was in use already: by a worker that is gone.
    pub(super) fn is_read_again(&self) -> bool {
        self.wanted.is_some() && self.wanted.as_ref() == self.used.as_ref().map(|(source, _)| source)
    }

    /// Whether what is shown is not what the worker holds, because it could not be read again.
    pub(super) fn is_gone(&self) -> bool {
        matches!(self.phase, SlotPhase::Failed(_)) && self.is_read_again()
    }
}

impl Files {
    pub(super) fn is_reading(&self) -> bool {
        SLOTS.iter().any(|slot| self.get(*slot).with_untracked(SlotState::is_reading))
    }

    /// Reading may be what ends workers, so nothing is read again by itself.
    pub(super) fn give_up_reading(&self) {
        for slot in SLOTS {
            if self.get(slot).with_untracked(SlotState::is_reading) {
                self.failed(
                    slot,
                    Failure {
                        message: "Reading this file has ended the computing part of the page several times.".into(),
                        hint: "It may need more memory than a browser tab has: close other tabs, or load a part of it."
                            .into(),
                        details: String::new(),
                        recovery: Recovery::None,
                        ways: Vec::new(),
                    },
                );
            }
        }
    }
}

impl State {
    /// A new worker holds nothing: it reads every file that is not on its way already.
    pub(super) fn load_again(&self) {
        for slot in SLOTS {
            let source = self.files.get(slot).with_untracked(|state| match &state.phase {
                SlotPhase::Failed(_) if state.is_read_again() => None,
                SlotPhase::Failed(_) => state.used.as_ref().map(|(source, _)| source.clone()),
                _ => state.wanted.clone(),
            });
            if let Some(source) = source
                && !self.is_waiting_for(Activity::Load(slot))
            {
                self.load(slot, source);
            }
        }
    }

    /// Reads a copy of what is in use, in its place.
    pub(super) fn reads_copy(&self, slot: Slot, copy: Source) {
        self.files.get(slot).update(|state| {
            if let Some((source, _)) = &mut state.used {
                *source = copy.clone();
            }
        });
        self.load(slot, copy);
    }

    /// What was in use cannot be read again, and there is no copy of it.
    pub(super) fn cannot_be_read_again(&self, slot: Slot, failure: Failure) {
        self.files.failed(slot, failure);
        self.recall_if_promised();
    }
}
