//! What earlier visits have left, offered and taken up again; and the copy of a file that cannot be read any more.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{Blob, Url};

use super::writing::{ASIDE, from_stored};
use super::{Keeping, named};
use crate::app::kept::{Kept, KeptFile, Sorted, sorted};
use crate::app::samples;
use crate::app::state::files::Source;
use crate::app::state::own::Own;
use crate::app::state::run::Reached;
use crate::app::state::{Phase, State};
use crate::app::tab;
use crate::app::vault::{Shelf, Vault, reason};
use schema::{Failure, FileRef, Slot};

/// A tab that was just reloaded holds its work for another moment; so one looks again after these milliseconds.
const LOOKS: [u64; 4] = [0, 400, 1200, 3000];

const ELSEWHERE: &str = "Another tab has taken this work up in the meantime.";
/// Between two looks whether a write has ended.
const WRITTEN_MS: i32 = 20;

/// What is left of earlier visits.
pub(super) struct Left {
    /// The newest first.
    offers: Vec<(String, Kept)>,
    /// Whether other tabs have work open.
    others: bool,
    /// What was forgotten because there were too many.
    forgotten: Vec<Kept>,
}

/// Looks at what is left of earlier visits. What is too old, or too much, is forgotten.
pub(super) async fn left(vault: &Vault, own: &str) -> Result<Left, JsValue> {
    let open = tab::open_ones().await;
    let read = |(id, value): (String, JsValue)| Some((id, Kept::read(&value.as_string()?)?));
    let all: Vec<(String, Kept)> = vault.all(Shelf::Works, "").await?.into_iter().filter_map(read).collect();
    let others = all.iter().any(|(id, _)| open.contains(id) && id != own);
    let held = |id: &str| id == own || open.contains(id);
    let Sorted { offered: offers, gone, too_many } = sorted(all, held, js_sys::Date::now());
    let too_many_ids = too_many.iter().map(|(id, _)| id);
    for id in gone.iter().chain(too_many_ids) {
        vault.forget(id).await?;
    }
    Ok(Left { offers, others, forgotten: too_many.into_iter().map(|(_, kept)| kept).collect() })
}

/// A work as it was last written, by whichever tab.
async fn written(vault: &Vault, id: &str) -> Result<Option<Kept>, JsValue> {
    let text = vault.get(Shelf::Works, id).await?.as_string();
    Ok(text.and_then(|text| Kept::read(&text)).filter(Kept::is_worth))
}

/// The title of the sample that a work is about.
fn title(kept: &Kept) -> Option<&'static str> {
    samples::ALL.iter().find(|sample| Some(sample.name) == kept.sample.as_deref()).map(|sample| sample.title)
}

/// What a work is and how far it had come, in a sentence.
pub(crate) fn in_words(kept: &Kept) -> String {
    kept.headline(title(kept), js_sys::Date::now())
}

/// A work as it lies in the browser.
struct Contents {
    files: HashMap<String, Blob>,
    reached: Reached,
}

impl Contents {
    /// What is not as it was written is left out: files are then told to be missing, and what was reached is computed
    /// again. Whether that also goes for what the browser does not manage to read, which it may the next time, is to be
    /// said: what is left out is not kept any longer.
    async fn read(vault: &Vault, id: &str, leave_out: bool) -> Result<Self, JsValue> {
        let get = async |shelf, key: &str| match vault.get(shelf, key).await {
            Err(_) if leave_out => Ok(JsValue::UNDEFINED),
            outcome => outcome,
        };
        let start = format!("{id}/");
        let rest = |key: &str| key[start.len()..].to_owned();
        let (mut files, mut reached) = (HashMap::new(), Reached::new());
        for key in vault.keys(Shelf::Files, &start).await? {
            // Some browsers give a file back without its name, which is kept elsewhere.
            if let Ok(file) = get(Shelf::Files, &key).await?.dyn_into() {
                files.insert(rest(&key), file);
            }
        }
        for key in vault.keys(Shelf::Reached, &start).await? {
            match from_stored(get(Shelf::Reached, &key).await?).await {
                Ok(Some(values)) => drop(reached.insert(rest(&key), Arc::new(values))),
                Ok(None) => {}
                Err(_) if leave_out => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self { files, reached })
    }
}

impl Keeping {
    /// Takes an offer away; one who looks for offers at this moment does not bring it back.
    fn drop_offer(&self, id: &str) {
        self.offers.update(|offers| offers.retain(|(other, _)| other != id));
        self.put_off.update_value(|all| all.extend([id.to_owned()]));
    }

    /// Offers a work (again), in front of the others.
    pub(super) fn offer(&self, id: &str, kept: Kept) {
        self.put_off.update_value(|all| all.retain(|other| other != id));
        self.offers.update(|offers| {
            offers.retain(|(other, _)| other != id);
            offers.insert(0, (id.to_owned(), kept));
        });
    }

    /// The offer of this name, as it is shown.
    fn offered(&self, id: &str) -> Option<Kept> {
        self.offers
            .with_untracked(|offers| offers.iter().find(|(other, _)| other == id).cloned())
            .map(|o| o.1)
    }

    /// Does what was asked about an offer. The browser is asked anew where it has refused before: what people forget may be
    /// what it had no room for.
    async fn answer(
        self,
        (id, kept): (&str, Kept),
        work: impl AsyncFnOnce(Vault, String) -> Result<(), JsValue>,
    ) {
        let vault = match self.open() {
            Some((vault, _)) => Ok(vault),
            None => Vault::open().await,
        };
        let outcome = match vault {
            Ok(vault) => work(vault, self.id.get_value()).await,
            Err(error) => Err(error),
        };
        if let Err(error) = outcome {
            tab::give_back(id);
            self.offer(id, kept);
            self.remark.set(Some(format!(
                "That could not be done, because the browser refused: {}. The work is still kept; reload the page to try \
                 again.",
                reason(&error)
            )));
        }
    }

    /// Leaves an offer for another visit.
    pub(crate) fn not_now(&self, id: &str) {
        self.drop_offer(id);
    }

    /// Contents that are kept under this key can be had at an address again.
    fn address_of(&self, key: &str, contents: &Blob, name: &str) -> Option<String> {
        let file = named(contents, name).ok()?;
        let url = Url::create_object_url_with_blob(&file).ok()?;
        self.own_file(key, &file);
        self.keys.update_value(|keys| drop(keys.insert(url.clone(), key.to_owned())));
        Some(url)
    }
}

impl State {
    pub(super) fn look_for_offers(self, attempt: usize) {
        let Some(wait) = LOOKS.get(attempt) else { return };
        let look = move || {
            self.keeping.with_vault(async move |vault, own| {
                let Left { offers, others, forgotten } = left(&vault, &own).await?;
                // The page that was here a moment ago may still hold its work.
                if others {
                    self.look_for_offers(attempt + 1);
                }
                if !forgotten.is_empty() {
                    let which: Vec<String> = forgotten.iter().map(in_words).collect();
                    self.keeping.remark.set(Some(format!(
                        "So much has been left for later that the oldest was forgotten: {}.",
                        which.join("; ")
                    )));
                }
                let put_off = self.keeping.put_off.get_value();
                self.keeping.offers.set(offers.into_iter().filter(|(id, _)| !put_off.contains(id)).collect());
                Ok(())
            });
        };
        set_timeout(look, Duration::from_millis(*wait));
    }

    /// Forgets what an earlier visit has left, unless a tab has taken it up in the meantime.
    pub(crate) fn forget(&self, id: String) {
        let (state, keeping) = (*self, self.keeping);
        let Some(seen) = keeping.offered(&id) else { return };
        keeping.drop_offer(&id);
        let when = seen.when;
        spawn_local(async move {
            keeping.answer((&id, seen), async |vault, _| state.forgets(&vault, &id, when).await).await;
        });
    }

    async fn forgets(&self, vault: &Vault, id: &str, when: f64) -> Result<(), JsValue> {
        let keeping = self.keeping;
        if !tab::take(id).await {
            keeping.remark.set(Some(ELSEWHERE.into()));
            return Ok(());
        }
        match written(vault, id).await? {
            Some(now) if now.when != when => {
                keeping.offer(id, now);
                keeping.remark.set(Some(
                    "Another tab has gone on with this work. It was not forgotten: this is how it stands now.".into(),
                ));
            }
            _ => vault.forget(id).await?,
        }
        tab::give_back(id);
        // There may be room again.
        if keeping.refused.with_untracked(Option::is_some) {
            self.open_vault().await;
        }
        Ok(())
    }

    /// Goes on with what an earlier visit has left. What this tab has of its own is left to be offered in turn.
    pub(crate) fn take_up(&self, id: String) {
        let (state, keeping) = (*self, self.keeping);
        // One after the other: what is here is one work or the other.
        if keeping.changing.get_untracked() {
            return;
        }
        let Some(seen) = keeping.offered(&id) else { return };
        keeping.drop_offer(&id);
        keeping.changing.set(true);
        spawn_local(async move {
            keeping.answer((&id, seen), async |vault, own| state.takes_up(&vault, &id, &own).await).await;
            keeping.changing.set(false);
        });
    }

    async fn takes_up(&self, vault: &Vault, id: &str, own: &str) -> Result<(), JsValue> {
        let keeping = self.keeping;
        if !tab::take(id).await {
            keeping.remark.set(Some(ELSEWHERE.into()));
            return Ok(());
        }
        // Another tab may have gone on with it since it was offered here.
        let Some(kept) = written(vault, id).await? else {
            tab::give_back(id);
            keeping.remark.set(Some("This work is gone: another tab has forgotten it.".into()));
            return Ok(());
        };
        let outcome = self.changed_over(vault, id, own).await;
        keeping.pausing.set_value(false);
        self.keep_soon();
        match outcome {
            Ok(contents) => {
                tab::give_back(own);
                self.restore(kept, contents);
            }
            // Nothing has changed: neither what is here nor what was offered.
            Err(error) => {
                tab::give_back(id);
                keeping.halves.update_value(|all| all.extend([id.to_owned()]));
                keeping.offer(id, kept);
                keeping.remark.set(Some(format!(
                    "This work could not be taken up, because the browser refused: {}. It is still kept: reload the \
                     page to try again, or go on once more to do so with what can be read.",
                    reason(&error)
                )));
            }
        }
        Ok(())
    }

    /// Stores what this tab has, for it to be offered, and makes another work its own.
    async fn changed_over(&self, vault: &Vault, id: &str, own: &str) -> Result<Contents, JsValue> {
        let keeping = self.keeping;
        let leave_out = keeping.halves.with_value(|all| all.contains(id));
        let contents = Contents::read(vault, id, leave_out).await?;
        // Files may have been read for long. What is here is left as it is now, by one writer.
        keeping.pausing.set_value(true);
        while keeping.writing.get_value() {
            tab::rest(WRITTEN_MS).await;
        }
        let left = untrack(|| self.as_kept());
        if left.is_worth() {
            let had = self.all_reached(&left);
            keeping.store(vault, own, &left, (&had, &had.keys().cloned().collect())).await?;
            keeping.offers.update(|offers| offers.push((own.to_owned(), left)));
        } else {
            vault.forget(own).await?;
        }
        keeping.id.set_value(id.to_owned());
        keeping.holds.set_value(true);
        keeping.stored.set_value(true);
        keeping.gone.update_value(std::collections::HashSet::clear);
        Ok(contents)
    }

    /// Puts everything where it was, and the run where it had come to.
    fn restore(&self, kept: Kept, Contents { files, reached }: Contents) {
        self.break_promise();
        self.files.own.set(None);
        self.clear_all();
        let sample = samples::ALL.iter().find(|sample| Some(sample.name) == kept.sample.as_deref());
        self.files.sample.set(sample.map(|sample| sample.name));
        // A visit that ended before its worker was there had no settings yet.
        if !kept.options.encoder.is_empty() {
            self.settings.replace(kept.options);
        }
        self.pairs.list.update(|list| list.replace(kept.pairs));
        let mut missing = Vec::new();
        let mut found = |KeptFile { slot, name, url, reading, sample }| {
            let url = match files.get(&url) {
                _ if sample => Some(url),
                Some(contents) => self.keeping.address_of(&url, contents, &name),
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
        let (aside, reached): (Reached, Reached) =
            reached.into_iter().partition(|(what, _)| what.starts_with(ASIDE));
        if !beside.is_empty() {
            let aside = aside.into_iter().map(|(what, values)| (what[ASIDE.len()..].to_owned(), values));
            let own = Own { files: beside, pairs, run: kept.aside_run, reached: aside.collect() };
            self.files.own.set(Some(own));
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

    /// A file that was in use could not be read again, for a new worker: it was changed or moved on disk. Its kept copy is
    /// read instead, if there is one.
    pub(in crate::app::state) fn read_kept_copy(&self, slot: Slot, failure: Failure) {
        let (state, keeping) = (*self, self.keeping);
        let used = self.files.get(slot).with_untracked(|s| s.used.as_ref().map(|(source, _)| source.clone()));
        // One that is a kept copy already cannot be had otherwise.
        let is_own = |source: &Source| {
            !source.sample && self.keeping.keys.with_value(|keys| !keys.contains_key(&source.file.url))
        };
        let opened = keeping.open().filter(|_| used.as_ref().is_some_and(is_own));
        let Some(((vault, id), source)) = opened.zip(used) else {
            return self.cannot_be_read_again(slot, failure);
        };
        spawn_local(async move {
            let key = keeping.key_of(&source.file.url);
            let kept = vault.get(Shelf::Files, &format!("{id}/{key}")).await.ok();
            let copy = kept.and_then(|value| value.dyn_into::<Blob>().ok());
            let url = copy.and_then(|copy| keeping.address_of(&key, &copy, &source.file.name));
            // In the meantime somebody may have loaded another.
            let waits = state.files.get(slot).with_untracked(|s| s.wanted.as_ref() == Some(&source));
            match url {
                _ if !waits => {}
                Some(url) => {
                    let file = FileRef { url, ..source.file.clone() };
                    state.reads_copy(slot, Source { file, ..source });
                }
                None => state.cannot_be_read_again(slot, failure),
            }
        });
    }
}
