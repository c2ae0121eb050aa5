//! The one writer of this tab's work: it writes the state of a moment, and again if there was a change meanwhile.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use js_sys::{ArrayBuffer, Float32Array};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, File};

use super::Keeping;
use crate::app::kept::{FORMAT, Kept, KeptFile, KeptRun};
use crate::app::state::State;
use crate::app::state::files::{SLOTS, Source};
use crate::app::state::own::Own;
use crate::app::state::run::Reached;
use crate::app::tab;
use crate::app::vault::{Shelf, Vault, is_full, reason};
use schema::{FileRef, Slot};

/// What stands before the names of what the training on files has reached that a sample has taken the place of.
pub(super) const ASIDE: &str = "aside/";
/// Changes are gathered for so long before they are written.
const GATHER: Duration = Duration::from_millis(300);
/// Values of more bytes than this are stored as contents of a file: browsers take other values up to some 120 MB only.
const LARGE: usize = 16 << 20;

fn no_room(error: &JsValue) -> String {
    format!(
        "Files and settings are kept, but not how far the training has come, because the browser refused that: {}. After a \
         reload it would begin again, or further back.",
        reason(error)
    )
}

/// Numbers as they are stored.
fn as_stored(values: &[f32]) -> Result<JsValue, JsValue> {
    let values = Float32Array::from(values);
    if values.byte_length() as usize <= LARGE {
        return Ok(values.into());
    }
    Ok(Blob::new_with_buffer_source_sequence(&js_sys::Array::of1(&values))?.into())
}

/// Numbers as they were stored; none for what is something else.
pub(super) async fn from_stored(value: JsValue) -> Result<Option<Vec<f32>>, JsValue> {
    if let Some(values) = value.dyn_ref::<Float32Array>() {
        return Ok(Some(values.to_vec()));
    }
    let Ok(contents) = value.dyn_into::<Blob>() else { return Ok(None) };
    let bytes = JsFuture::from(contents.array_buffer()).await?;
    Ok((bytes.unchecked_ref::<ArrayBuffer>().byte_length() % 4 == 0)
        .then(|| Float32Array::new(&bytes).to_vec()))
}

impl Keeping {
    /// Writes a work and what lies beside it, and removes what does not any more.
    pub(super) async fn store(
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
        let mut short = None;
        for (what, now) in reached.iter().filter(|(what, _)| news.contains(*what) || !values.contains(what)) {
            let (key, now) = (format!("{start}{what}"), as_stored(now)?);
            if vault.put(Shelf::Reached, &key, &now).await.is_err() {
                // What runs of before have reached can be computed again, and what this one has as well: where there is no
                // room for it, all else is kept.
                for what in values.iter().filter(|what| !reached.contains_key(*what)) {
                    vault.remove(Shelf::Reached, &format!("{start}{what}")).await?;
                }
                if let Err(error) = vault.put(Shelf::Reached, &key, &now).await {
                    // It is tried again with the next change.
                    self.news.update_value(|news| news.extend([what.clone()]));
                    short = Some(error);
                }
            }
        }
        if let Some(error) = short.as_ref().filter(|_| !self.short.get_value()) {
            self.remark.set(Some(no_room(error)));
        }
        self.short.set_value(short.is_some());
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
    /// Writes what has changed, after a moment in which more may change.
    pub(super) fn keep_soon(&self) {
        self.keeping.changes.update(|count| *count += 1);
        let keeping = &self.keeping;
        if keeping.writing.get_value() || keeping.pausing.get_value() || keeping.open().is_none() {
            return;
        }
        self.keeping.writing.set_value(true);
        let state = *self;
        set_timeout(move || state.keep_now(), GATHER);
    }

    fn keep_now(self) {
        let keeping = self.keeping;
        let Some((vault, id)) = keeping.open().filter(|_| !keeping.pausing.get_value()) else {
            return keeping.writing.set_value(false);
        };
        let (kept, now) = (untrack(|| self.as_kept()), keeping.changes.get_untracked());
        let reached = self.all_reached(&kept);
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
            keeping.stored.set_value(kept.is_worth());
            keeping.written.set(now);
            if !keeping.wanted.get_untracked() {
                // Somebody decided otherwise in the meantime.
                keeping.writing.set_value(false);
                let _ = vault.forget(&id).await;
            } else if keeping.changes.get_untracked() == now || keeping.pausing.get_value() {
                keeping.writing.set_value(false);
            } else {
                set_timeout(move || self.keep_now(), GATHER);
            }
        });
    }

    /// Makes a work of its own, which is offered, of what has waited behind a sample and makes room for others.
    pub(in crate::app::state) fn leave(&self, Own { files, pairs, run, reached }: Own) {
        let kept = Kept {
            format: FORMAT,
            when: js_sys::Date::now(),
            files: files.into_iter().map(|file| self.as_kept_file(file)).collect(),
            options: run
                .as_ref()
                .map_or_else(|| self.settings.options.get_untracked(), |run| run.options.clone()),
            pairs,
            run,
            ..Kept::default()
        };
        let keeping = self.keeping;
        keeping.with_vault(async move |vault, _| {
            let (id, all) = (tab::new_id(), reached.keys().cloned().collect());
            keeping.store(&vault, &id, &kept, (&reached, &all)).await?;
            keeping.offer(&id, kept);
            Ok(())
        });
    }

    fn as_kept_file(&self, (slot, source): (Slot, Source)) -> KeptFile {
        let Source { file: FileRef { name, url }, reading, sample } = source;
        KeptFile { slot, name, url: self.keeping.key_of(&url), reading, sample }
    }

    /// This tab's work as it is now.
    pub(super) fn as_kept(&self) -> Kept {
        let file = |file| self.as_kept_file(file);
        // One that is still being read is there as well: it may be what was just taken up.
        let source = |slot| {
            let held = self
                .files
                .get(slot)
                .with(|s| s.used.as_ref().map(|(source, _)| source.clone()).or(s.wanted.clone()))?;
            Some(file((slot, held)))
        };
        let Own { files: beside, pairs: between, run: aside_run, .. } =
            self.files.own.get().unwrap_or_default();
        Kept {
            format: FORMAT,
            when: js_sys::Date::now(),
            sample: self.files.sample.get().map(str::to_owned),
            // A record has done its work when it was read: its settings are those of the page, changed or not.
            files: SLOTS.into_iter().filter(|slot| *slot != Slot::Record).filter_map(source).collect(),
            aside: (beside.into_iter().map(file).collect(), between),
            aside_run,
            options: self.settings.options.get(),
            pairs: self.pairs.list.with(|list| list.all().to_vec()),
            run: self.run_as_it_stands(),
        }
    }

    /// The training that is under way or whose result is on show, or one that waits for its files.
    pub(in crate::app::state) fn run_as_it_stands(&self) -> Option<KeptRun> {
        let shown = self.results.trained.with(|t| t.as_ref().map_or(0, |t| t.outcome.shown));
        let share = self.run.progress.with(|p| p.as_ref().map_or(0.0, |p| p.share));
        let stands = |run: KeptRun| match run.done {
            true => KeptRun { share: 1.0, shown, ..run },
            false => KeptRun { share, shown: 0, ..run },
        };
        self.run.asked.get_value().map(stands).or_else(|| self.run.again.get_value())
    }

    /// What the trainings of a work have reached, by the names under which it is kept.
    pub(super) fn all_reached(&self, kept: &Kept) -> Reached {
        let now = kept.run.iter().flat_map(|_| self.run.reached.get_value());
        let aside = self.files.own.with_untracked(|own| own.as_ref().map(|own| own.reached.clone()));
        let aside = aside.unwrap_or_default().into_iter();
        now.chain(aside.map(|(what, values)| (format!("{ASIDE}{what}"), values))).collect()
    }

    /// A run has reached something.
    pub(in crate::app::state) fn reached(&self, what: String, values: Vec<f32>) {
        self.keeping.news.update_value(|all| all.extend([what.clone()]));
        self.run.reached.update_value(|reached| drop(reached.insert(what, Arc::new(values))));
        self.has_got_on();
        self.keep_soon();
    }
}
