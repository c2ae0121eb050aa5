//! The settings of the next run, with what was refused and a way back.

use std::collections::BTreeMap;

use leptos::prelude::*;

use crate::app::{address, options};
use schema::AlignOptions;

/// A value that was refused: what was typed, and why it cannot be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refused {
    pub(crate) text: String,
    pub(crate) reason: String,
}

#[derive(Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) options: RwSignal<AlignOptions>,
    /// As the worker gave them; empty until then.
    pub(crate) defaults: RwSignal<AlignOptions>,
    refused: RwSignal<BTreeMap<&'static str, Refused>>,
    past: RwSignal<Vec<AlignOptions>>,
    /// What was undone, the last of it at the end.
    future: RwSignal<Vec<AlignOptions>>,
    /// Words of the address, until there are defaults to change.
    asked: StoredValue<Vec<(String, String)>>,
    /// What of them could not be taken.
    pub(crate) link_refused: RwSignal<Vec<String>>,
}

impl Settings {
    pub(super) fn new(asked: Vec<(String, String)>) -> Self {
        Self {
            options: RwSignal::default(),
            defaults: RwSignal::default(),
            refused: RwSignal::default(),
            past: RwSignal::default(),
            future: RwSignal::default(),
            asked: StoredValue::new(asked),
            link_refused: RwSignal::default(),
        }
    }

    /// Takes the worker's defaults, unless there are settings already.
    pub(super) fn offer_defaults(&self, defaults: &AlignOptions) {
        self.defaults.set(defaults.clone());
        if self.options.with_untracked(|options| options.encoder.is_empty()) {
            let (options, refused) = self.asked.with_value(|words| address::read(words, defaults));
            self.options.set(options);
            self.link_refused.set(refused);
        }
    }

    /// Whether everything is as it is unless told otherwise, with nothing refused.
    pub(crate) fn is_default(&self) -> bool {
        self.refused.with(BTreeMap::is_empty)
            && self.options.with(|now| self.defaults.with(|defaults| now == defaults))
    }

    /// Takes other settings as a whole; they can be undone.
    pub(crate) fn replace(&self, options: AlignOptions) {
        self.refused.update(BTreeMap::clear);
        self.change(options);
    }

    /// Takes other settings, which ends what could be redone.
    fn change(&self, options: AlignOptions) {
        let before = self.options.get_untracked();
        if before != options {
            self.past.update(|past| past.push(before));
            self.future.update(Vec::clear);
            self.options.set(options);
        }
    }

    /// Puts what was typed into a field, or keeps it with the reason why it cannot be.
    pub(crate) fn set(&self, name: &'static str, text: String) {
        let mut changed = self.options.get_untracked();
        match options::set(&mut changed, name, &text) {
            Ok(()) => {
                self.refused.update(|refused| {
                    refused.remove(name);
                });
                self.change(changed);
            }
            Err(reason) => self.refused.update(|refused| {
                refused.insert(name, Refused { text, reason });
            }),
        }
    }

    /// Chooses the distance of one side. The panel is for both sides or for none.
    pub(crate) fn set_distance(&self, side: schema::Side, name: String) {
        let mut changed = self.options.get_untracked();
        let (mine, other) = match side {
            schema::Side::X => (&mut changed.distance_x, &mut changed.distance_y),
            schema::Side::Y => (&mut changed.distance_y, &mut changed.distance_x),
        };
        if name.is_empty() {
            other.clear();
        } else if other.is_empty() {
            *other = if name == "given" { "euclidean".into() } else { name.clone() };
        }
        *mine = name;
        self.replace(changed);
    }

    /// What a field shows: what was typed last, right or wrong.
    pub(crate) fn text(&self, name: &'static str) -> String {
        self.refused
            .with(|refused| refused.get(name).map(|refused| refused.text.clone()))
            .unwrap_or_else(|| self.options.with(|options| options::get(options, name)))
    }

    /// Why a field's value cannot be.
    pub(crate) fn reason(&self, name: &'static str) -> Option<String> {
        self.refused.with(|refused| refused.get(name).map(|refused| refused.reason.clone())).or_else(|| {
            self.options.with(options::conflict).and_then(|(field, reason)| (field == name).then_some(reason))
        })
    }

    pub(super) fn blocker(&self) -> Option<String> {
        let label = |name: &str| {
            options::FIELDS.iter().find(|field| field.name == name).map_or("Distance", |field| field.label)
        };
        let refused = self
            .refused
            .with(|refused| refused.iter().next().map(|(name, refused)| (*name, refused.reason.clone())));
        refused
            .or_else(|| self.options.with(options::conflict))
            .map(|(name, reason)| format!("A setting is not possible. {}: {reason}", label(name)))
    }

    pub(crate) fn can_undo(&self) -> bool {
        self.past.with(|past| !past.is_empty()) || self.refused.with(|refused| !refused.is_empty())
    }

    /// Takes back the last change.
    pub(crate) fn undo(&self) {
        if self.refused.with_untracked(|refused| !refused.is_empty()) {
            return self.refused.update(BTreeMap::clear);
        }
        self.step(self.past, self.future);
    }

    pub(crate) fn can_redo(&self) -> bool {
        self.future.with(|future| !future.is_empty())
    }

    /// Makes the change again that was taken back last.
    pub(crate) fn redo(&self) {
        self.step(self.future, self.past);
    }

    /// Takes the last settings from one pile and puts the present ones on the other.
    fn step(&self, from: RwSignal<Vec<AlignOptions>>, to: RwSignal<Vec<AlignOptions>>) {
        let mut last = None;
        from.update(|pile| last = pile.pop());
        if let Some(options) = last {
            to.update(|pile| pile.push(self.options.get_untracked()));
            self.options.set(options);
        }
    }
}
