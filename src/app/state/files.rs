//! The files that were given to the page, what each is used as, and how far its reading is.
//!
//! What is in use stays in use until its replacement has been read: a file that cannot be read changes nothing.

use formats::Step;
use leptos::prelude::*;
use web_sys::{File, Url};

use super::State;
use super::own::Own;
use crate::app::ledger::Activity;
use crate::app::misfit::misfit;
use crate::app::unusable::unusable;
use schema::{Command, Content, Failure, FileRef, Reading, Side, Slot};

/// All uses a file can have.
pub(crate) const SLOTS: [Slot; 17] = [
    Slot::Features(Side::X),
    Slot::Features(Side::Y),
    Slot::Labels(Side::X),
    Slot::Labels(Side::Y),
    Slot::Distances(Side::X),
    Slot::Distances(Side::Y),
    Slot::Shared(Side::X),
    Slot::Shared(Side::Y),
    Slot::Pairs,
    Slot::Truth,
    Slot::New(Side::X),
    Slot::New(Side::Y),
    Slot::NewLabels(Side::X),
    Slot::NewLabels(Side::Y),
    Slot::NewTruth,
    Slot::Model,
    Slot::Record,
];

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum SlotPhase {
    #[default]
    Empty,
    /// Bytes done and in all.
    Reading {
        done: f64,
        of: f64,
    },
    Ready,
    Failed(Failure),
}

/// A file and how it is to be read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Source {
    pub(crate) file: FileRef,
    pub(crate) reading: Reading,
    /// Whether it is one of our own samples.
    pub(crate) sample: bool,
}

/// What the page knows of one slot.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SlotState {
    /// What was asked for last.
    pub(crate) wanted: Option<Source>,
    pub(crate) phase: SlotPhase,
    /// What the worker holds, and what was found in it.
    pub(crate) used: Option<(Source, Content)>,
    /// The hash of the file in use, once it is known.
    pub(crate) sha256: Option<String>,
}

impl SlotState {
    pub(crate) fn in_use(&self) -> bool {
        self.used.is_some()
    }

    pub(crate) fn is_reading(&self) -> bool {
        matches!(self.phase, SlotPhase::Reading { .. })
    }

    /// How the file is being read, or was last.
    pub(crate) fn reading(&self) -> Reading {
        self.wanted.as_ref().map(|source| source.reading.clone()).unwrap_or_default()
    }

    pub(super) fn is_sample(&self) -> bool {
        self.wanted.as_ref().is_some_and(|source| source.sample)
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Files {
    slots: [RwSignal<SlotState>; SLOTS.len()],
    /// The sample that is loaded, by name.
    pub(crate) sample: RwSignal<Option<&'static str>>,
    /// Whether the sample is aligned by itself, with its own encoders, once everything has been read.
    pub(super) promised: RwSignal<bool>,
    /// The visitor's own files, while a sample is in their place.
    pub(crate) own: RwSignal<Option<Own>>,
}

impl Files {
    pub(super) fn new() -> Self {
        Self {
            slots: SLOTS.map(|_| RwSignal::default()),
            sample: RwSignal::new(None),
            promised: RwSignal::new(false),
            own: RwSignal::new(None),
        }
    }

    pub(crate) fn get(&self, slot: Slot) -> RwSignal<SlotState> {
        let at = SLOTS.iter().position(|known| *known == slot).unwrap_or(0);
        self.slots[at]
    }

    pub(super) fn progressed(&self, slot: Slot, done: f64, of: f64) {
        self.get(slot).update(|state| {
            if state.is_reading() {
                state.phase = SlotPhase::Reading { done, of };
            }
        });
    }

    pub(super) fn failed(&self, slot: Slot, failure: Failure) {
        self.get(slot).update(|state| state.phase = SlotPhase::Failed(failure));
    }

    /// The worker is gone, and an alignment that was promised with it: it might be what ended the worker.
    pub(super) fn lost(&self) {
        self.promised.set(false);
    }

    /// Whether an alignment will start by itself.
    pub(crate) fn promised(&self) -> bool {
        self.promised.get()
    }

    /// Whether there is anything to align on this side.
    fn has(&self, side: Side) -> bool {
        [Slot::Features(side), Slot::Distances(side)]
            .iter()
            .any(|slot| self.get(*slot).with(SlotState::in_use))
    }

    /// Whether there is nothing to align on either side.
    pub(crate) fn is_empty(&self) -> bool {
        !Side::BOTH.into_iter().any(|side| self.has(side))
    }

    /// What the files lack for an alignment.
    pub(super) fn blocker(&self) -> Option<String> {
        for side in Side::BOTH {
            if !self.has(side) {
                let letter = side.letter().to_uppercase();
                return Some(format!("Data set {letter} is still missing: drop a file, or take a sample."));
            }
        }
        if SLOTS.iter().any(|slot| self.get(*slot).with(SlotState::is_reading)) {
            return Some("A file is still being read.".into());
        }
        if let Some(slot) = SLOTS.iter().find(|slot| self.get(**slot).with(SlotState::is_gone)) {
            let name = self.get(*slot).with(|s| s.wanted.as_ref().map(|source| source.file.name.clone()));
            let name = name.unwrap_or_default();
            return Some(format!("{name} cannot be read any more: load it again, or remove it."));
        }
        let size = |slot| self.get(slot).with(|state| state.used.as_ref().and_then(|(_, held)| held.size()));
        if let Some(misfit) = misfit(&size) {
            return Some(misfit);
        }
        for side in Side::BOTH {
            let letter = side.letter().to_uppercase();
            for slot in [Slot::Features(side), Slot::Distances(side)] {
                if let Some(reason) = self.get(slot).with(useless) {
                    return Some(format!("Data set {letter}: {reason}"));
                }
            }
            if self.get(Slot::Features(side)).with(undecided) {
                return Some(format!(
                    "Data set {letter} has missing values, and distances between rows need every value: decide \
                     what becomes of them."
                ));
            }
        }
        None
    }
}

/// Whether there are missing values that nobody has decided about.
pub(crate) fn undecided(state: &SlotState) -> bool {
    match &state.used {
        Some((source, Content::Table(preview))) => {
            preview.missing_total > 0 && source.reading.choices.missing == formats::MissingChoice::Keep
        }
        _ => false,
    }
}

/// Why what a slot holds cannot be aligned, whatever the settings are.
fn useless(state: &SlotState) -> Option<String> {
    match &state.used {
        Some((_, Content::Table(preview))) => unusable(preview),
        _ => None,
    }
}

impl State {
    /// Reads files that were chosen or dropped: the first for this slot, a second one for the other side.
    pub(crate) fn take_files(&self, slot: Slot, files: &[File]) {
        let other = match slot {
            Slot::Features(Side::X) => Some(Slot::Features(Side::Y)),
            Slot::New(Side::X) => Some(Slot::New(Side::Y)),
            _ => None,
        };
        for (slot, file) in [Some(slot), other].into_iter().flatten().zip(files) {
            // Never revoked: the address of a file on disk holds no memory, and a new worker reads it again.
            let Ok(url) = Url::create_object_url_with_blob(file) else { continue };
            self.keeping.own_file(&url, file);
            self.break_promise();
            // Not by itself on other data than it was begun with.
            self.run.halt();
            self.load(
                slot,
                Source {
                    file: FileRef { name: file.name(), url },
                    reading: Reading::default(),
                    sample: false,
                },
            );
        }
    }

    /// Reads the file of a slot again, in another way.
    pub(crate) fn read_again(&self, slot: Slot, change: impl FnOnce(&mut Reading)) {
        let wanted = self.files.get(slot).with_untracked(|state| state.wanted.clone());
        if let Some(mut source) = wanted {
            change(&mut source.reading);
            self.load(slot, source);
        }
    }

    /// Reads the file of a side again and does this to its columns as well.
    pub(crate) fn add_step(&self, side: Side, step: Step) {
        self.read_again(Slot::Features(side), |reading| {
            if !reading.steps.contains(&step) {
                reading.steps.push(step);
            }
        });
    }

    pub(super) fn load(&self, slot: Slot, source: Source) {
        let command = Command::Load { slot, file: source.file.clone(), reading: source.reading.clone() };
        self.files.get(slot).update(|state| {
            state.wanted = Some(source);
            state.phase = SlotPhase::Reading { done: 0.0, of: 0.0 };
        });
        self.begin(Activity::Load(slot), command);
    }

    /// Empties a slot.
    pub(crate) fn unload(&self, slot: Slot) {
        if self.files.get(slot).with_untracked(|state| state.wanted.is_none() && state.used.is_none()) {
            return;
        }
        let before = self.files.get(slot).with_untracked(super::pairs::rows_of);
        self.files.get(slot).set(SlotState::default());
        self.pairs_follow(slot, before);
        self.begin(Activity::Load(slot), Command::Unload { slot });
        self.changed(slot);
    }

    /// What lies in a slot is not what lay there before.
    fn changed(&self, slot: Slot) {
        if concerns_results(slot) {
            self.results.data_changed();
        }
        if concerns_training(slot) {
            self.run.data_changed();
        }
    }

    /// Gives up reading; what was in use before still is.
    pub(crate) fn cancel_reading(&self, slot: Slot) {
        self.give_up(Activity::Load(slot));
        self.break_promise();
        self.files.get(slot).update(|state| {
            state.wanted = state.used.as_ref().map(|(source, _)| source.clone());
            state.phase = if state.in_use() { SlotPhase::Ready } else { SlotPhase::Empty };
        });
        self.recall_if_promised();
    }

    /// The distances of a side instead of its features: the same file, used otherwise. It stays what it was until
    /// it has been read as distances.
    pub(crate) fn use_as_distances(&self, side: Side) {
        let wanted = self.files.get(Slot::Features(side)).with_untracked(|state| state.wanted.clone());
        if let Some(mut source) = wanted {
            source.reading.steps.clear();
            self.load(Slot::Distances(side), source);
        }
    }

    /// Everything that is loaded goes, and what was made of it ends.
    pub(super) fn clear_all(&self) {
        self.give_up(Activity::Align);
        self.run.forget();
        self.run.moving.set(None);
        self.results.run_given_up();
        // Everything goes before anything comes: labels and pairs must not be read against a table of before.
        SLOTS.into_iter().for_each(|slot| self.unload(slot));
        self.results.fresh.set(None);
    }

    pub(super) fn loaded(&self, slot: Slot, content: Content) {
        let before = self.files.get(slot).with_untracked(super::pairs::rows_of);
        let mut changed = true;
        self.files.get(slot).update(|state| {
            changed = state.used.as_ref().map(|(source, _)| source) != state.wanted.as_ref();
            state.used = state.wanted.clone().map(|source| (source, content));
            state.phase = SlotPhase::Ready;
            state.sha256 = None;
        });
        self.pairs_follow(slot, before);
        if slot == Slot::Record {
            self.take_record();
        }
        let own = !self.files.get(slot).with_untracked(SlotState::is_sample);
        if own && matches!(slot, Slot::Features(_) | Slot::Distances(_)) {
            self.leave_sample(slot);
        }
        if let Slot::Distances(side) = slot {
            let file =
                |slot| self.files.get(slot).with_untracked(|s| s.wanted.as_ref().map(|w| w.file.url.clone()));
            if file(slot) == file(Slot::Features(side)) {
                self.unload(Slot::Features(side));
            }
        }
        if changed {
            self.changed(slot);
            self.read_dependents(slot);
        }
        self.recall_if_promised();
    }

    /// Files that name rows of a table are read again when it has changed, so that what does not fit is told at once.
    fn read_dependents(&self, table: Slot) {
        let dependents: &[Slot] = match table {
            Slot::Features(side) => &[Slot::Labels(side), Slot::Pairs, Slot::Truth],
            Slot::New(side) => &[Slot::NewLabels(side), Slot::NewTruth],
            _ => &[],
        };
        for slot in dependents {
            let used = self.files.get(*slot).with_untracked(|state| state.used.clone());
            if let Some((source, _)) = used {
                self.unload(*slot);
                self.load(*slot, source);
            }
        }
    }
}

/// Whether a result depends on what this slot holds.
fn concerns_results(slot: Slot) -> bool {
    !matches!(slot, Slot::New(_) | Slot::NewLabels(_) | Slot::NewTruth | Slot::Model | Slot::Record)
}

/// Whether a training depends on what this slot holds. Labels and the truth are for scores only.
fn concerns_training(slot: Slot) -> bool {
    matches!(slot, Slot::Features(_) | Slot::Distances(_) | Slot::Shared(_) | Slot::Pairs)
}
