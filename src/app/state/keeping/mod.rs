//! Work that is not lost: files, settings, pairs and what a run has reached are kept in the browser as they change
//! (`writing.rs`), and offered again after a reload or a crash (`offers.rs`). Where the browser refuses, everything works
//! without, and that is said.

mod offers;
mod writing;

pub(crate) use offers::in_words;

use std::collections::{HashMap, HashSet};

use leptos::prelude::*;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Blob, File, Storage};

use super::State;
use super::files::SLOTS;
use crate::app::kept::Kept;
use crate::app::tab;
use crate::app::vault::{Vault, reason};

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
    /// Whether this tab is changing over to another work.
    pub(crate) changing: RwSignal<bool>,
    /// Offers that the visitor has decided about.
    put_off: StoredValue<HashSet<String>>,
    /// Changes so far, and how many of them are written.
    changes: RwSignal<u32>,
    written: RwSignal<u32>,
    /// Whether somebody writes. There is one writer, so that nothing old is written over something new.
    writing: StoredValue<bool>,
    /// Whether there was no room for what runs have reached.
    short: StoredValue<bool>,
    /// Whether the writer pauses, because this tab changes over to another work.
    pausing: StoredValue<bool>,
    /// Works that could not be read whole, the first time they were taken up. The second time what can be read is enough.
    halves: StoredValue<HashSet<String>>,
    vault: StoredValue<Option<Vault>, LocalStorage>,
    /// Under what this tab's work is kept, and whether anything is.
    id: StoredValue<String>,
    holds: StoredValue<bool>,
    /// Whether it was once written whole.
    stored: StoredValue<bool>,
    /// The visitor's own files, by the key under which they are kept.
    files: StoredValue<HashMap<String, File>, LocalStorage>,
    /// The keys of files that were kept before, by the address they have now. Others are kept under their address.
    keys: StoredValue<HashMap<String, String>>,
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
            changing: RwSignal::new(false),
            put_off: StoredValue::default(),
            changes: RwSignal::new(0),
            written: RwSignal::new(0),
            writing: StoredValue::new(false),
            short: StoredValue::new(false),
            pausing: StoredValue::new(false),
            halves: StoredValue::default(),
            vault: StoredValue::new_local(None),
            id: StoredValue::new(tab::new_id()),
            holds: StoredValue::new(false),
            stored: StoredValue::new(false),
            files: StoredValue::new_local(HashMap::new()),
            keys: StoredValue::default(),
            gone: StoredValue::default(),
            news: StoredValue::default(),
        }
    }

    /// A file of the visitor's own can be had at this address.
    pub(super) fn own_file(&self, url: &str, file: &File) {
        self.files.update_value(|files| drop(files.insert(url.to_owned(), file.clone())));
    }

    /// The key under which the file at this address is kept.
    fn key_of(&self, url: &str) -> String {
        self.keys.with_value(|keys| keys.get(url).cloned()).unwrap_or_else(|| url.to_owned())
    }

    /// Whether everything is written.
    fn is_up_to_date(&self) -> bool {
        self.wanted.get()
            && self.vault.with_value(Option::is_some)
            && self.refused.with(Option::is_none)
            && self.gone.with_value(HashSet::is_empty)
            && !self.short.get_value()
            && self.written.get() == self.changes.get()
    }

    /// Whether anything of this tab's was written.
    pub(crate) fn has_kept(&self) -> bool {
        self.stored.get_value()
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
        // What was said about parts is not true any more.
        if self.short.get_value() {
            self.short.set_value(false);
            self.remark.set(None);
        }
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
}

impl State {
    /// Opens what the browser keeps, offers what others have left, and keeps what changes from now on.
    pub(super) fn keep_work(&self) {
        let state = *self;
        if self.keeping.wanted.get_untracked() {
            spawn_local(async move { state.open_vault().await });
        } else {
            // What was kept before grows old all the same.
            spawn_local(async move {
                if let Ok(vault) = Vault::open().await {
                    // Nothing is asked of it but to forget; if it cannot, the next visit tries again.
                    let _ = offers::left(&vault, "").await;
                }
            });
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

    /// Whether the visitor wants work to be kept. If not, nothing of this tab's stays.
    pub(crate) fn want_keeping(&self, wanted: bool) {
        let keeping = self.keeping;
        if let Some(memory) = memory() {
            // Where this is refused, nothing else is kept either.
            let _ = if wanted { memory.remove_item(REFUSAL) } else { memory.set_item(REFUSAL, "1") };
        }
        keeping.wanted.set(wanted);
        let state = *self;
        if wanted {
            spawn_local(async move { state.open_vault().await });
            return;
        }
        let left = keeping.offers.try_update(std::mem::take).unwrap_or_default();
        if !left.is_empty() {
            keeping.remark.set(Some(format!(
                "What earlier visits have left is still kept: {}. To go on with it, or to have it forgotten, let work be \
                 kept again.",
                if left.len() == 1 { "one work".to_owned() } else { format!("{} works", left.len()) }
            )));
        }
        let (open, id) = (keeping.vault.get_value(), keeping.id.get_value());
        spawn_local(async move {
            // One that was refused to be written to may hold what was written before.
            let vault = match open {
                Some(vault) => Ok(vault),
                None => Vault::open().await,
            };
            // A browser that does not even open it keeps nothing.
            let Ok(vault) = vault else { return };
            if let Err(error) = vault.forget(&id).await {
                keeping.remark.set(Some(format!(
                    "The browser did not remove what it had kept: {}. Its settings can clear what this site has stored.",
                    reason(&error)
                )));
            }
        });
    }

    /// Whether a reload would lose nothing: everything is written, and a result on show is that of a run which can be asked
    /// again.
    pub(super) fn is_safe(&self) -> bool {
        let unkept = self.results.trained.with(Option::is_some)
            && self.run.trains.get()
            && self.run.asked.with_value(Option::is_none);
        self.keeping.is_up_to_date() && !unkept
    }
}

/// Contents as the file of this name.
fn named(contents: &Blob, name: &str) -> Result<File, JsValue> {
    use wasm_bindgen::JsCast;
    match contents.dyn_ref::<File>() {
        Some(file) => Ok(file.clone()),
        None => File::new_with_blob_sequence(&js_sys::Array::of1(contents), name),
    }
}
