//! What runs have found: figures, points, matches, the comparison, and the files made of them.

use std::collections::HashMap;
use std::sync::Arc;

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::{Phase, State};
use crate::app::ledger::Activity;
use crate::app::standing::Made;
use schema::{Command, Early, Ending, Export, Failure, MatchRow, Outcome, Progress, Side};

/// An outcome with its points.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shown {
    pub(crate) outcome: Outcome,
    /// X and Y in the aligned view, rows of two.
    pub(crate) aligned: [Vec<f32>; 2],
    /// X and Y each by itself.
    pub(crate) alone: [Vec<f32>; 2],
    /// The row on the other side that each row is matched with.
    pub(crate) matches: [Vec<f32>; 2],
    /// How sure the match of each row is; empty where that was not measured.
    pub(crate) confidence: [Vec<f32>; 2],
    /// Label codes, −1 for missing; empty without labels.
    pub(crate) labels: [Vec<f32>; 2],
    pub(crate) plan: Vec<f32>,
    /// Shares of closer points over all true pairs, sorted.
    pub(crate) curve: Vec<f32>,
    /// What each row keeps of its weight, and 1 where it has no partner; empty where that was not looked for.
    pub(crate) retained: [Vec<f32>; 2],
    pub(crate) lonely: [Vec<f32>; 2],
    /// The share of each row's mass that its match gets.
    pub(crate) share: [Vec<f32>; 2],
}

impl Shown {
    fn new(outcome: Outcome, bulk: Vec<Vec<f32>>) -> Self {
        let mut parts = bulk.into_iter();
        let mut next = || parts.next().unwrap_or_default();
        let mut both = || [next(), next()];
        let (aligned, alone, matches, confidence, labels) = (both(), both(), both(), both(), both());
        let [plan, curve] = both();
        let (retained, lonely, share) = (both(), both(), both());
        Self { outcome, aligned, alone, matches, confidence, labels, plan, curve, retained, lonely, share }
    }

    /// Whether the other side has no partner for a row.
    pub(crate) fn lacks_partner(&self, side: Side, row: usize) -> bool {
        self.lonely[side.index()].get(row).is_some_and(|lonely| *lonely > 0.0)
    }

    /// How many rows of a side have no partner, where that was looked for.
    pub(crate) fn without_partner(&self, side: Side) -> Option<usize> {
        let lonely = &self.lonely[side.index()];
        (!lonely.is_empty()).then(|| lonely.iter().filter(|lonely| **lonely > 0.0).count())
    }

    /// The row on the other side that this one is matched with.
    pub(crate) fn partner(&self, side: Side, row: usize) -> Option<usize> {
        let partner = *self.matches[side.index()].get(row)?;
        (partner >= 0.0).then_some(partner as usize)
    }

    /// The label of a row, in words.
    pub(crate) fn label(&self, side: Side, row: usize) -> Option<&str> {
        let code = *self.labels[side.index()].get(row)?;
        let names = &self.outcome.labels[side.index()].names;
        if code < 0.0 { None } else { names.get(code as usize).map(String::as_str) }
    }
}

/// A page of the table of matches.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    pub(crate) total: u32,
    pub(crate) from: u32,
    pub(crate) rows: Vec<MatchRow>,
}

/// The ids of rows that have some.
pub(crate) type Ids = [HashMap<u32, String>; 2];

#[derive(Clone, Copy)]
pub(crate) struct Results {
    /// Of the data that was trained on.
    pub(crate) trained: RwSignal<Option<Arc<Shown>>>,
    /// Of new points, while they are on show.
    pub(crate) fresh: RwSignal<Option<Arc<Shown>>>,
    pub(crate) compared: RwSignal<Option<Arc<Shown>>>,
    pub(crate) table: RwSignal<Table>,
    pub(crate) words: RwSignal<String>,
    pub(crate) ids: RwSignal<Arc<Ids>>,
    pub(crate) showing: RwSignal<Phase>,
    pub(crate) comparing: RwSignal<Phase>,
    pub(crate) applying: RwSignal<Phase>,
    pub(crate) exporting: RwSignal<Phase>,
    /// Why the encoders could not be applied.
    pub(crate) not_applied: RwSignal<Option<Failure>>,
    /// How far comparing, applying and the like are, while they say so.
    progress: RwSignal<HashMap<Activity, Progress>>,
    /// The file that was made last: name and address.
    pub(crate) exported: RwSignal<Option<(String, String)>>,
    /// Whether the worker has made it; its address ends with the worker.
    by_worker: StoredValue<bool>,
    /// Whether the worker still has what is on show.
    pub(crate) held: RwSignal<bool>,
    /// Whether it had when the run began.
    had: StoredValue<bool>,
    /// What it was made of, and what the result of the run under way will be.
    pub(crate) made: RwSignal<Made>,
    pub(super) begun: StoredValue<Made>,
    /// How the training of what is on show ended.
    pub(crate) ending: RwSignal<Option<Ending>>,
    /// Whether the data has changed since.
    pub(crate) stale: RwSignal<bool>,
    /// How often the data has changed, and how often it had when the run began.
    changes: StoredValue<(u32, u32)>,
}

/// Rows of a page of the table of matches.
pub(crate) const PAGE: u32 = 20;
/// The ids of so many matches are fetched for the tooltips.
const IDS: u32 = 3000;

impl Results {
    pub(super) fn new() -> Self {
        Self {
            trained: RwSignal::new(None),
            fresh: RwSignal::new(None),
            compared: RwSignal::new(None),
            table: RwSignal::default(),
            words: RwSignal::default(),
            ids: RwSignal::default(),
            showing: RwSignal::default(),
            comparing: RwSignal::default(),
            applying: RwSignal::default(),
            exporting: RwSignal::default(),
            not_applied: RwSignal::new(None),
            progress: RwSignal::default(),
            exported: RwSignal::new(None),
            by_worker: StoredValue::new(false),
            held: RwSignal::new(false),
            had: StoredValue::new(false),
            made: RwSignal::default(),
            begun: StoredValue::default(),
            ending: RwSignal::new(None),
            stale: RwSignal::new(false),
            changes: StoredValue::default(),
        }
    }

    /// What is on show: new points if there are some, else those of training.
    pub(crate) fn shown(&self) -> Option<Arc<Shown>> {
        self.fresh.get().or_else(|| self.trained.get())
    }

    /// How much of an activity is done, from 0 to 1, as far as it has said.
    pub(crate) fn share(&self, activity: Activity) -> Option<f64> {
        self.progress.with(|all| all.get(&activity).map(|progress| progress.share))
    }

    pub(super) fn progressed(&self, activity: Activity, progress: Progress) {
        self.progress.update(|all| drop(all.insert(activity, progress)));
    }

    fn begin(&self, activity: Activity, phase: RwSignal<Phase>) {
        self.progress.update(|all| drop(all.remove(&activity)));
        phase.set(Phase::Training);
    }

    pub(super) fn run_begins(&self) {
        if self.held.get_untracked() {
            self.had.set_value(true);
        }
        self.held.set(false);
        self.changes.update_value(|(now, begun)| *begun = *now);
        for phase in [self.showing, self.comparing, self.applying] {
            phase.set(Phase::Idle);
        }
    }

    /// The worker keeps the last result until a new one is there.
    pub(super) fn run_given_up(&self) {
        if self.had.get_value() {
            self.held.set(true);
        }
    }

    pub(super) fn data_changed(&self) {
        self.changes.update_value(|(now, _)| *now += 1);
        self.stale.set(self.trained.with_untracked(Option::is_some));
    }

    pub(super) fn lost(&self) {
        self.held.set(false);
        self.had.set_value(false);
        if self.by_worker.get_value() {
            self.exported.set(None);
        }
        for phase in [self.showing, self.comparing, self.applying, self.exporting] {
            if phase.get_untracked().busy() {
                phase.set(Phase::Failed);
            }
        }
    }
}

impl State {
    pub(super) fn aligned(&self, activity: Activity, outcome: Outcome, bulk: Vec<Vec<f32>>) {
        let results = &self.results;
        let (new_points, ending) = (outcome.new_points, outcome.ending);
        let shown = Some(Arc::new(Shown::new(outcome, bulk)));
        let fresh = shown.clone();
        if new_points {
            results.fresh.set(shown);
        } else {
            results.fresh.set(None);
            results.trained.set(shown);
        }
        results.held.set(true);
        if activity == Activity::Align {
            results.compared.set(None);
            self.pairs.arrived();
            results.stale.set(results.changes.with_value(|(now, begun)| now != begun));
            results.made.set(results.begun.get_value());
            // One that is only restored ends where it was stopped, without being asked again.
            let early = self.run.restored_early.get_value();
            let ending = ending.map(|e| if early { Ending::new(e.step, e.of, true) } else { e });
            self.run.is_stopped(ending.is_some_and(|ending| ending.early == Some(Early::Stopped)));
            results.ending.set(ending);
            self.run.keep_history();
            self.run.has_ended_well();
            self.run.moving.set(None);
        }
        self.phase(activity, Phase::Done);
        results.ids.set(Arc::default());
        self.ask_matches(0);
        self.begin(Activity::Ids, Command::Matches { words: String::new(), from: 0, count: IDS });
        if let (Activity::Align, Some(shown)) = (activity, fresh) {
            self.show_recorded(&shown.outcome);
            // After what was asked about the matches: the worker answers that at once.
            self.show_as_before();
        }
    }

    pub(super) fn compared(&self, outcome: Outcome, bulk: Vec<Vec<f32>>) {
        self.results.compared.set(Some(Arc::new(Shown::new(outcome, bulk))));
        self.results.comparing.set(Phase::Done);
    }

    /// Shows another of the alignments that were found.
    pub(crate) fn show_candidate(&self, candidate: u32) {
        if self.results.comparing.get_untracked().busy() {
            self.cancel_comparison();
        }
        self.results.begin(Activity::Show, self.results.showing);
        self.begin(Activity::Show, Command::Show { candidate });
    }

    /// Back from new points to those of training.
    pub(crate) fn back_to_training(&self) {
        let shown = self.results.trained.with_untracked(|t| t.as_ref().map(|t| t.outcome.shown));
        self.results.fresh.set(None);
        if let Some(candidate) = shown {
            self.show_candidate(candidate);
        }
    }

    pub(crate) fn compare(&self) {
        self.results.begin(Activity::Compare, self.results.comparing);
        self.begin(Activity::Compare, Command::Compare);
    }

    pub(crate) fn cancel_comparison(&self) {
        self.give_up(Activity::Compare);
        self.results.comparing.set(Phase::Idle);
    }

    pub(crate) fn cancel_applying(&self) {
        self.give_up(Activity::Apply);
        self.results.applying.set(Phase::Idle);
    }

    pub(crate) fn cancel_export(&self) {
        self.give_up(Activity::Export);
        self.results.exporting.set(Phase::Idle);
    }

    /// Applies the encoders to the new points.
    pub(crate) fn apply(&self) {
        self.results.not_applied.set(None);
        self.results.begin(Activity::Apply, self.results.applying);
        self.begin(Activity::Apply, Command::Apply);
    }

    /// Another page of the table of matches, for the words that are searched.
    pub(crate) fn ask_matches(&self, from: u32) {
        let words = self.results.words.get_untracked();
        self.begin(Activity::Matches, Command::Matches { words, from, count: PAGE });
    }

    pub(super) fn matches_arrived(&self, activity: Activity, total: u32, from: u32, rows: Vec<MatchRow>) {
        if activity != Activity::Ids {
            self.results.table.set(Table { total, from, rows });
            return;
        }
        let mut ids = Ids::default();
        for row in rows {
            for (side, at, id) in [(0, row.x, row.x_id), (1, row.y, row.y_id), (1, row.second, row.second_id)]
            {
                if !id.is_empty() {
                    ids[side].insert(at, id);
                }
            }
        }
        self.results.ids.set(Arc::new(ids));
    }

    /// Has a file made; the browser saves it as soon as it is there.
    pub(crate) fn export(&self, what: Export) {
        self.results.begin(Activity::Export, self.results.exporting);
        self.begin(Activity::Export, Command::Export { what });
    }

    pub(super) fn exported(&self, _what: Export, name: String, url: String) {
        self.results.exporting.set(Phase::Done);
        self.saved(name, url);
        self.results.by_worker.set_value(true);
    }

    /// Has the browser save a file that was made, in place of the one before.
    pub(crate) fn saved(&self, name: String, url: String) {
        if let Some((_, old)) = self.results.exported.get_untracked() {
            // It only frees memory.
            let _ = web_sys::Url::revoke_object_url(&old);
        }
        save(&name, &url);
        self.results.by_worker.set_value(false);
        self.results.exported.set(Some((name, url)));
    }
}

/// Has the browser save what is at an address.
fn save(name: &str, url: &str) {
    let anchor =
        document().create_element("a").ok().and_then(|a| a.dyn_into::<web_sys::HtmlAnchorElement>().ok());
    let (Some(anchor), Some(body)) = (anchor, document().body()) else { return };
    anchor.set_href(url);
    anchor.set_download(name);
    anchor.set_hidden(true);
    // If the browser does not let it happen, the visible link is still there.
    if body.append_child(&anchor).is_ok() {
        anchor.click();
        anchor.remove();
    }
}
