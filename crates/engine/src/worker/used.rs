//! Which files lie on the desk, and which of them a result was made of: by the time that somebody saves its record, other
//! files may lie there.

use std::collections::BTreeMap;

use formats::write::record::Input;

use schema::Slot;

/// A file that is in use.
#[derive(Clone)]
pub(super) struct Used {
    /// By which one filling of a slot is told from another.
    pub(super) number: u32,
    input: Input,
}

#[derive(Default)]
pub(super) struct Inputs {
    lying: BTreeMap<Slot, Used>,
    /// How many times a slot was filled.
    fillings: u32,
    /// The hashes of files that were read, by the number of the filling.
    hashes: BTreeMap<u32, String>,
    /// What lay here when the last run began.
    begun: Vec<Used>,
}

impl Inputs {
    /// A slot was filled from this; returns the number by which this filling is known.
    pub(super) fn put(&mut self, slot: Slot, input: Input) -> u32 {
        self.fillings += 1;
        self.lying.insert(slot, Used { number: self.fillings, input });
        self.fillings
    }

    pub(super) fn remove(&mut self, slot: Slot) {
        self.lying.remove(&slot);
    }

    /// A run begins on what lies here now.
    pub(super) fn begin(&mut self) -> Vec<Used> {
        let of_training = |slot: &Slot| !is_beside_training(*slot);
        self.begun =
            self.lying.iter().filter(|(slot, _)| of_training(slot)).map(|(_, used)| used.clone()).collect();
        self.begun.clone()
    }

    /// What lies here beside what a result was trained on: new rows, a model, and rows of other files than those that stand
    /// in for new ones.
    pub(super) fn beside(&self, trained: &[Used]) -> Vec<Used> {
        let known = |used: &Used| trained.iter().any(|known| known.number == used.number);
        let beside = |(slot, used): &(&Slot, &Used)| {
            is_beside_training(**slot) || matches!(slot, Slot::Features(_)) && !known(used)
        };
        self.lying.iter().filter(beside).map(|(_, used)| used.clone()).collect()
    }

    /// Whether the file of this filling lies here, or did when the last run began.
    pub(super) fn holds(&self, number: u32) -> bool {
        self.lying.values().chain(&self.begun).any(|used| used.number == number)
    }

    /// The hash of the file that a slot was filled from.
    pub(super) fn hashed(&mut self, number: u32, sha256: String) {
        self.hashes.insert(number, sha256);
    }

    /// These files as they stand in a record. One that could not be hashed, because it is gone, is left out.
    pub(super) fn recorded<'u>(&self, used: impl Iterator<Item = &'u Used>) -> Vec<Input> {
        let hashed = used.map(|Used { number, input }| {
            let known = self.hashes.get(number).cloned();
            Input { sha256: known.unwrap_or_else(|| input.sha256.clone()), ..input.clone() }
        });
        hashed.filter(|input| !input.sha256.is_empty()).collect()
    }
}

/// Whether what this slot holds is for encoders that are trained already, or for the page alone.
fn is_beside_training(slot: Slot) -> bool {
    matches!(slot, Slot::New(_) | Slot::NewLabels(_) | Slot::NewTruth | Slot::Model | Slot::Record)
}
