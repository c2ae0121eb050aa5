//! Work that is not lost: files, settings, pairs and what a run has reached are kept in the browser as they change, and
//! offered again after a reload or a crash. Where the browser refuses, everything works without, and that is said.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use js_sys::{Array, Float32Array};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, File, Storage, Url};

use super::files::{SLOTS, Source};
use super::own::Own;
use super::run::Reached;
use super::{Phase, State};
use crate::app::kept::{FORMAT, Kept, KeptFile, KeptRun, sorted};
use crate::app::samples;
use crate::app::tab;
use crate::app::vault::{Shelf, Vault, is_full, reason};
use crate::protocol::{FileRef, Slot};

/// Changes are gathered for so long before they are written.
const GATHER: Duration = Duration::from_millis(300);
/// A tab that was just reloaded holds its work for another moment; so one looks again after these milliseconds.
const LOOKS: [u64; 4] = [0, 400, 1200, 3000];
/// Where it is written that somebody wants nothing to be kept.
const REFUSAL: &str = "concord-keeps-nothing";

#[derive(Clone, Copy)]
pub(crate) struct Keeping {
    /// What earlier visits have left, with the names under which it is kept; the newest first.
    pub(crate) offers: RwSignal<Vec<(String, Kept)>>,
    /// Why the browser keeps nothing, in words.
    pub(crate) refused: RwSignal<Option<String>>,
    /// Whether the visitor wants it.
    pub(crate) wanted: RwSignal<bool>,
    /// What became of an offer, or of a file that could not be kept.
    pub(crate) remark: RwSignal<Option<String>>,
    /// Offers that the visitor has decided about.
    put_off: StoredValue<HashSet<String>>,
    /// Changes so far, and how many of them are written.
    changes: RwSignal<u32>,
    written: RwSignal<u32>,
    /// Whether somebody writes. There is one writer, so that nothing old is written over something new.
    writing: StoredValue<bool>,
    vault: StoredValue<Option<Vault>, LocalStorage>,
    /// Under what this tab's work is kept, and whether anything is.
    id: StoredValue<String>,
    holds: StoredValue<bool>,
    /// The visitor's own files, by address.
    files: StoredValue<HashMap<String, File>, LocalStorage>,
    /// Those that cannot be read any more.
    gone: StoredValue<HashSet<String>>,
    /// What a run has reached since it was last written.
    news: StoredValue<HashSet<String>>,
}

/// What other tabs and later visits share.
fn memory() -> Option<Storage> {
    window().local_storage().ok().flatten()
}

impl Keeping {
    pub(super) fn new() -> Self {
        let refusal = memory().and_then(|memory| memory.get_item(REFUSAL).ok().flatten());
        Self {
            offers: RwSignal::default(),
            refused: RwSignal::new(None),
            wanted: RwSignal::new(refusal.is_none()),
            remark: RwSignal::new(None),
            put_off: StoredValue::default(),
            changes: RwSignal::new(0),
            written: RwSignal::new(0),
            writing: StoredValue::new(false),
            vault: StoredValue::new_local(None),
            id: StoredValue::new(tab::new_id()),
            holds: StoredValue::new(false),
            files: StoredValue::new_local(HashMap::new()),
            gone: StoredValue::default(),
            news: StoredValue::default(),
        }
    }

    /// A file of the visitor's own can be had at this address.
    pub(super) fn own_file(&self, url: &str, file: &File) {
        self.files.update_value(|files| drop(files.insert(url.to_owned(), file.clone())));
    }

    /// Whether everything is written.
    fn is_up_to_date(&self) -> bool {
        self.wanted.get()
            && self.vault.with_value(Option::is_some)
            && self.refused.with(Option::is_none)
            && self.gone.with_value(HashSet::is_empty)
            && self.written.get() == self.changes.get()
    }

    /// What is kept, if anything is.
    fn open(&self) -> Option<(Vault, String)> {
        let vault = self.vault.get_value().filter(|_| self.wanted.get_untracked())?;
        Some((vault, self.id.get_value()))
    }

    /// A refusal is told, and ends the keeping.
    fn refuse(&self, error: &JsValue) {
        self.refused.set(Some(reason(error)));
        self.vault.set_value(None);
    }

    /// Does something with what is kept, if anything is.
    fn with_vault<F>(&self, work: F)
    where
        F: AsyncFnOnce(Vault, String) -> Result<(), JsValue> + 'static,
    {
        let Some((vault, id)) = self.open() else { return };
        let keeping = *self;
        spawn_local(async move {
            if let Err(error) = work(vault, id).await {
                keeping.refuse(&error);
            }
        });
    }

    /// Takes an offer away; one who looks for offers at this moment does not bring it back.
    fn drop_offer(&self, id: &str) {
        self.offers.update(|offers| offers.retain(|(other, _)| other != id));
        self.put_off.update_value(|all| all.extend([id.to_owned()]));
    }

    /// Forgets what an earlier visit has left, unless a tab has taken it up in the meantime.
    pub(crate) fn forget(&self, id: String) {
        self.drop_offer(&id);
        self.with_vault(async move |vault, _| {
            if !tab::take(&id).await {
                return Ok(());
            }
            let forgotten = vault.forget(&id).await;
            tab::give_back(&id);
            forgotten
        });
    }

    /// Leaves an offer for another visit.
    pub(crate) fn not_now(&self, id: &str) {
        self.drop_offer(id);
    }

    /// Writes a work and what lies beside it, and removes what does not any more.
    async fn store(
        &self,
        vault: &Vault,
        id: &str,
        kept: &Kept,
        (reached, news): (&Reached, &HashSet<String>),
    ) -> Result<(), JsValue> {
        let start = format!("{id}/");
        let known = async |shelf| {
            let keys = vault.keys(shelf, &start).await?;
            Ok::<_, JsValue>(keys.iter().map(|key| key[start.len()..].to_owned()).collect::<Vec<_>>())
        };
        let (files, values) = (known(Shelf::Files).await?, known(Shelf::Reached).await?);
        // One that was taken away, or that can be read again, is no trouble any more.
        let mut gone = HashSet::new();
        for file in kept.own_files().filter(|file| !files.contains(&file.url)) {
            let contents = self.files.with_value(|files| files.get(&file.url).cloned());
            let Some(contents) = contents else { continue };
            if let Err(error) = vault.put(Shelf::Files, &format!("{start}{}", file.url), &contents).await {
                if is_full(&error) || contents_can_be_read(&contents).await {
                    return Err(error);
                }
                gone.insert(file.url.clone());
                if !self.gone.with_value(|gone| gone.contains(&file.url)) {
                    self.cannot_be_read(file);
                }
            }
        }
        self.gone.set_value(gone);
        for (what, now) in reached.iter().filter(|(what, _)| news.contains(*what) || !values.contains(what)) {
            vault.put(Shelf::Reached, &format!("{start}{what}"), &Float32Array::from(now.as_slice())).await?;
        }
        let text = serde_json::to_string(kept).map_err(|error| error.to_string())?;
        vault.put(Shelf::Works, id, &text.into()).await?;
        // Only now: a crash in between must not lose the old ones.
        for url in files.iter().filter(|url| kept.own_files().all(|file| file.url != **url)) {
            vault.remove(Shelf::Files, &format!("{start}{url}")).await?;
        }
        for what in values.iter().filter(|what| !reached.contains_key(*what)) {
            vault.remove(Shelf::Reached, &format!("{start}{what}")).await?;
        }
        Ok(())
    }

    /// A file has changed or gone since it was loaded. Everything else is kept.
    fn cannot_be_read(&self, file: &KeptFile) {
        self.remark.set(Some(format!(
            "{} has been changed or moved since it was loaded, so it cannot be kept for another visit. Load it again to \
             have it kept.",
            file.name
        )));
    }
}

/// Whether a file on disk is still what it was when it was chosen.
async fn contents_can_be_read(file: &File) -> bool {
    match file.slice_with_i32_and_i32(0, 1) {
        Ok(first) => JsFuture::from(first.array_buffer()).await.is_ok(),
        Err(_) => false,
    }
}

impl State {
    /// Opens what the browser keeps, offers what others have left, and keeps what changes from now on.
    pub(super) fn keep_work(&self) {
        let state = *self;
        if self.keeping.wanted.get_untracked() {
            spawn_local(async move { state.open_vault().await });
        }
        Effect::new(move || {
            SLOTS.into_iter().for_each(|slot| state.files.get(slot).track());
            state.settings.options.track();
            state.pairs.list.track();
            state.run.phase.track();
            state.results.trained.track();
            state.files.own.track();
            state.keep_soon();
        });
    }

    async fn open_vault(self) {
        match Vault::open().await {
            Ok(vault) => {
                tab::take(&self.keeping.id.get_value()).await;
                self.keeping.vault.set_value(Some(vault));
                self.keeping.refused.set(None);
                // Whatever was written before may be gone.
                let all = self.run.reached.with_value(|reached| reached.keys().cloned().collect());
                self.keeping.news.set_value(all);
                self.keep_soon();
                self.look_for_offers(0);
            }
            Err(error) => self.keeping.refuse(&error),
        }
    }

    fn look_for_offers(self, attempt: usize) {
        let Some(wait) = LOOKS.get(attempt) else { return };
        let look = move || {
            self.keeping.with_vault(async move |vault, own| {
                let open = tab::open_ones().await;
                let read = |(id, value): (String, JsValue)| Some((id, Kept::read(&value.as_string()?)?));
                let all: Vec<(String, Kept)> =
                    vault.all(Shelf::Works, "").await?.into_iter().filter_map(read).collect();
                // The page that was here a moment ago may still hold its work.
                if all.iter().any(|(id, _)| open.contains(id) && *id != own) {
                    self.look_for_offers(attempt + 1);
                }
                let put_off = self.keeping.put_off.get_value();
                let held = |id: &str| id == own || open.contains(id);
                let (offers, gone) = sorted(all, held, js_sys::Date::now());
                let offers = offers.into_iter().filter(|(id, _)| !put_off.contains(id)).collect();
                self.keeping.offers.set(offers);
                for id in gone {
                    vault.forget(&id).await?;
                }
                Ok(())
            });
        };
        set_timeout(look, Duration::from_millis(*wait));
    }

    /// Whether the visitor wants work to be kept. If not, nothing of this tab's stays.
    pub(crate) fn want_keeping(&self, wanted: bool) {
        let keeping = self.keeping;
        if let Some(memory) = memory() {
            // Where this is refused, nothing else is kept either.
            let _ = if wanted { memory.remove_item(REFUSAL) } else { memory.set_item(REFUSAL, "1") };
        }
        if wanted {
            keeping.wanted.set(true);
            let state = *self;
            spawn_local(async move { state.open_vault().await });
        } else {
            keeping.with_vault(async move |vault, id| vault.forget(&id).await);
            keeping.wanted.set(false);
            keeping.offers.set(Vec::new());
        }
    }

    /// Whether a reload would lose nothing: everything is written, and a result on show is that of a run which can be asked
    /// again.
    pub(super) fn is_safe(&self) -> bool {
        let unkept = self.results.trained.with(Option::is_some)
            && self.run.trains.get()
            && self.run.asked.with_value(Option::is_none);
        self.keeping.is_up_to_date() && !unkept
    }

    /// Writes what has changed, after a moment in which more may change.
    pub(super) fn keep_soon(&self) {
        self.keeping.changes.update(|count| *count += 1);
        if self.keeping.writing.get_value() || self.keeping.open().is_none() {
            return;
        }
        self.keeping.writing.set_value(true);
        let state = *self;
        set_timeout(move || state.keep_now(), GATHER);
    }

    fn keep_now(self) {
        let keeping = self.keeping;
        let Some((vault, id)) = keeping.open() else { return keeping.writing.set_value(false) };
        let (kept, now) = (untrack(|| self.as_kept()), keeping.changes.get_untracked());
        let reached = if kept.run.is_some() { self.run.reached.get_value() } else { Reached::new() };
        let news = keeping.news.try_update_value(std::mem::take).unwrap_or_default();
        spawn_local(async move {
            let stored = if kept.is_worth() {
                keeping.holds.set_value(true);
                keeping.store(&vault, &id, &kept, (&reached, &news)).await
            } else if keeping.holds.get_value() {
                keeping.holds.set_value(false);
                vault.forget(&id).await
            } else {
                Ok(())
            };
            if let Err(error) = stored {
                keeping.writing.set_value(false);
                return keeping.refuse(&error);
            }
            keeping.written.set(now);
            if !keeping.wanted.get_untracked() {
                // Somebody decided otherwise in the meantime.
                keeping.writing.set_value(false);
                let _ = vault.forget(&id).await;
            } else if keeping.changes.get_untracked() == now {
                keeping.writing.set_value(false);
            } else {
                set_timeout(move || self.keep_now(), GATHER);
            }
        });
    }

    /// This tab's work as it is now.
    fn as_kept(&self) -> Kept {
        let file = |(slot, Source { file: FileRef { name, url }, reading, sample })| KeptFile {
            slot,
            name,
            url,
            reading,
            sample,
        };
        let used = |slot| {
            let used = self.files.get(slot).with(|s| s.used.as_ref().map(|(source, _)| source.clone()))?;
            Some(file((slot, used)))
        };
        let Own { files: beside, pairs: between } = self.files.own.get().unwrap_or_default();
        let shown = self.results.trained.with(|t| t.as_ref().map_or(0, |t| t.outcome.shown));
        let share = self.run.progress.with(|p| p.as_ref().map_or(0.0, |p| p.share));
        let stands = |run: KeptRun| match run.done {
            true => KeptRun { share: 1.0, shown, ..run },
            false => KeptRun { share, shown: 0, ..run },
        };
        let run = self.run.asked.get_value().map(stands);
        Kept {
            format: FORMAT,
            when: js_sys::Date::now(),
            sample: self.files.sample.get().map(str::to_owned),
            // A record has done its work when it was read: its settings are those of the page, changed or not.
            files: SLOTS.into_iter().filter(|slot| *slot != Slot::Record).filter_map(used).collect(),
            aside: (beside.into_iter().map(file).collect(), between),
            options: self.settings.options.get(),
            pairs: self.pairs.list.with(|list| list.all().to_vec()),
            run,
        }
    }

    /// A run has reached something.
    pub(super) fn reached(&self, what: String, values: Vec<f32>) {
        self.keeping.news.update_value(|all| all.extend([what.clone()]));
        self.run.reached.update_value(|reached| drop(reached.insert(what, values)));
        self.keep_soon();
    }

    /// Goes on with what an earlier visit has left. What this tab has of its own is left to be offered in turn.
    pub(crate) fn take_up(&self, id: String) {
        let (state, keeping) = (*self, self.keeping);
        let offers = keeping.offers.get_untracked();
        let Some((_, kept)) = offers.into_iter().find(|(other, _)| *other == id) else { return };
        keeping.drop_offer(&id);
        let (left, had) = (untrack(|| self.as_kept()), self.run.reached.get_value());
        keeping.with_vault(async move |vault, own| {
            if !tab::take(&id).await {
                keeping.remark.set(Some("Another tab has taken this work up in the meantime.".into()));
                return Ok(());
            }
            let start = format!("{id}/");
            let rest = |key: String| key[start.len()..].to_owned();
            let mut files = HashMap::new();
            for (key, value) in vault.all(Shelf::Files, &start).await? {
                // Some browsers give a file back without its name, which is kept elsewhere.
                files.insert(rest(key), value.dyn_into::<Blob>()?);
            }
            let mut reached = Reached::new();
            for (key, value) in vault.all(Shelf::Reached, &start).await? {
                reached.insert(rest(key), value.dyn_into::<Float32Array>()?.to_vec());
            }
            if left.is_worth() {
                keeping.store(&vault, &own, &left, (&had, &had.keys().cloned().collect())).await?;
                keeping.offers.update(|offers| offers.push((own.clone(), left)));
            } else {
                vault.forget(&own).await?;
            }
            keeping.id.set_value(id);
            keeping.holds.set_value(true);
            keeping.gone.update_value(HashSet::clear);
            tab::give_back(&own);
            state.restore(kept, &files, reached);
            Ok(())
        });
    }

    /// Puts everything where it was, and the run where it had come to.
    fn restore(&self, kept: Kept, files: &HashMap<String, Blob>, reached: Reached) {
        self.break_promise();
        self.files.own.set(None);
        self.clear_all();
        let sample = samples::ALL.iter().find(|sample| Some(sample.name) == kept.sample.as_deref());
        self.files.sample.set(sample.map(|sample| sample.name));
        self.settings.replace(kept.options);
        self.pairs.list.update(|list| list.replace(kept.pairs));
        let mut missing = Vec::new();
        let mut found = |KeptFile { slot, name, url, reading, sample }| {
            let url = match files.get(&url) {
                _ if sample => Some(url),
                Some(contents) => named(contents, &name).ok().and_then(|file| {
                    let url = Url::create_object_url_with_blob(&file).ok()?;
                    self.keeping.own_file(&url, &file);
                    Some(url)
                }),
                None => None,
            };
            let Some(url) = url else {
                missing.push(name);
                return None;
            };
            Some((slot, Source { file: FileRef { name, url }, reading, sample }))
        };
        let (beside, pairs) = kept.aside;
        let beside: Vec<(Slot, Source)> = beside.into_iter().filter_map(&mut found).collect();
        for (slot, source) in kept.files.into_iter().filter_map(&mut found) {
            self.load(slot, source);
        }
        if !beside.is_empty() {
            self.files.own.set(Some(Own { files: beside, pairs }));
        }
        if !missing.is_empty() {
            let what = missing.join(", ");
            self.keeping.remark.set(Some(format!("The browser has not kept {what}: load it again.")));
        }
        self.run.enter(Phase::Idle);
        match kept.run {
            Some(run) => {
                self.run.reached.set_value(reached);
                self.go_on_with(run);
            }
            None if sample.is_some() => self.promise(),
            None => {}
        }
    }
}

/// Contents as the file of this name.
fn named(contents: &Blob, name: &str) -> Result<File, JsValue> {
    match contents.dyn_ref::<File>() {
        Some(file) => Ok(file.clone()),
        None => File::new_with_blob_sequence(&Array::of1(contents), name),
    }
}
