//! Pairs that were made by hand: in the views, or by confirming a match. They go to the worker with the next
//! alignment, beside those of a file.

use leptos::prelude::*;

use super::{SlotState, State};
use crate::app::pairs::{Pair, PairList};
use schema::{Content, Side, Slot};

/// Which rows a row number speaks of: counted whenever the rows of a side become others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Editions {
    now: u32,
    /// When the last run began.
    begun: u32,
    /// Of the result.
    shown: u32,
}

#[derive(Clone, Copy)]
pub(crate) struct Pairs {
    pub(crate) list: RwSignal<PairList>,
    /// Whether clicks in the views make pairs.
    pub(crate) making: RwSignal<bool>,
    /// The first point of a pair that is being made.
    pub(crate) half: RwSignal<Option<(Side, usize)>>,
    /// What happened to pairs without anybody asking for it.
    pub(crate) remark: RwSignal<Option<String>>,
    /// Those that the result knows.
    pub(crate) used: RwSignal<Vec<(u32, u32)>>,
    sent: StoredValue<Vec<(u32, u32)>>,
    editions: RwSignal<Editions>,
}

impl Pairs {
    pub(super) fn new() -> Self {
        Self {
            list: RwSignal::default(),
            making: RwSignal::new(false),
            half: RwSignal::new(None),
            remark: RwSignal::new(None),
            used: RwSignal::default(),
            sent: StoredValue::default(),
            editions: RwSignal::default(),
        }
    }

    /// The pairs for a run that begins.
    pub(super) fn send(&self) -> Vec<(u32, u32)> {
        let rows = self.list.with_untracked(PairList::rows);
        self.begin(rows.clone());
        self.remark.set(None);
        rows
    }

    /// A run begins that knows these pairs.
    pub(super) fn begin(&self, known: Vec<(u32, u32)>) {
        self.sent.set_value(known);
        self.editions.update(|editions| editions.begun = editions.now);
    }

    /// The run is done, and its result is what is shown.
    pub(super) fn arrived(&self) {
        self.used.set(self.sent.get_value());
        self.half.set(None);
        self.editions.update(|editions| editions.shown = editions.begun);
    }

    /// Takes over the pairs of a record.
    pub(super) fn restore(&self, rows: &[(u32, u32)]) {
        let pairs = rows.iter().map(|&(x, y)| Pair { x, y, names: Default::default() }).collect();
        self.list.update(|list| list.replace(pairs));
    }

    /// Whether the result still knows other pairs than there are.
    pub(crate) fn waiting(&self) -> bool {
        self.list.with(|list| self.used.with(|used| list.rows() != *used))
    }

    /// Whether the rows of the result are those that are loaded.
    fn current(&self) -> bool {
        self.editions.with(|editions| editions.now == editions.shown)
    }
}

/// What decides which rows a table has: its file, the part of it, whether it lies on its side, and how many there are.
pub(super) fn rows_of(slot: &SlotState) -> Option<(String, Option<String>, bool, usize)> {
    let (source, content) = slot.used.as_ref()?;
    let Content::Table(preview) = content else { return None };
    let choices = &source.reading.choices;
    Some((source.file.url.clone(), choices.part.clone(), choices.transpose, preview.rows))
}

impl State {
    /// Whether pairs can be made in the views: they show the rows that are loaded.
    pub(crate) fn can_pair(&self) -> bool {
        self.results.trained.with(Option::is_some)
            && self.results.fresh.with(Option::is_none)
            && self.pairs.current()
    }

    /// A point was clicked while pairs are made.
    pub(crate) fn choose_point(&self, side: Side, row: usize) {
        if !untrack(|| self.can_pair()) {
            return;
        }
        match self.pairs.half.get_untracked() {
            Some((first, other)) if first != side => {
                let (x, y) = if side == Side::X { (row, other) } else { (other, row) };
                self.pairs.half.set(None);
                self.make_pair(x as u32, y as u32, Default::default());
            }
            // A second click on the same point is a change of mind.
            half => self.pairs.half.set(Some((side, row)).filter(|chosen| Some(*chosen) != half)),
        }
    }

    pub(crate) fn make_pair(&self, x: u32, y: u32, mut names: [String; 2]) {
        self.results.ids.with_untracked(|ids| {
            for ((name, ids), row) in names.iter_mut().zip(ids.iter()).zip([x, y]) {
                if name.is_empty() {
                    *name = ids.get(&row).cloned().unwrap_or_default();
                }
            }
        });
        self.pairs.remark.set(None);
        self.pairs.list.update(|list| list.add(Pair { x, y, names }));
    }

    /// A slot holds something else than before: pairs of rows that are gone mean nothing.
    pub(super) fn pairs_follow(&self, slot: Slot, before: Option<(String, Option<String>, bool, usize)>) {
        let side = match slot {
            Slot::Features(side) => side,
            // Distances have the rows of the features, where there are some.
            Slot::Distances(side)
                if !self.files.get(Slot::Features(side)).with_untracked(SlotState::in_use) =>
            {
                side
            }
            _ => return,
        };
        if before.is_none() || self.files.get(slot).with_untracked(rows_of) == before {
            return;
        }
        self.pairs.editions.update(|editions| editions.now += 1);
        self.pairs.half.set(None);
        self.pairs.making.set(false);
        let mut dropped = 0;
        self.pairs.list.update(|list| dropped = list.forget());
        if dropped > 0 {
            let letter = side.letter().to_uppercase();
            let pairs =
                if dropped == 1 { "1 pair that was".into() } else { format!("{dropped} pairs that were") };
            self.pairs.remark.set(Some(format!(
                "The rows of {letter} are others now, so {pairs} made by hand no longer mean anything and went with the old ones."
            )));
        }
    }
}
