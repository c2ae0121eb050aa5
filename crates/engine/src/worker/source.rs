//! Files as the worker reads them: a `blob:` address of the page's, or one of our own samples, in pieces.

use formats::{Kind, Source, Trouble, Watch};
use js_sys::Uint8Array;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, Response};

use super::runs::Runs;
use super::scope::{breathe, now, post, scope};
use align::scale::{self, Cancelled};
use analysis::room::Room;
use schema::{Event, FileRef, RunId, Slot};

/// A file the browser holds; only what is asked for enters our memory.
pub(super) struct BlobSource {
    name: String,
    blob: Blob,
}

impl BlobSource {
    pub(super) async fn open(file: &FileRef) -> Result<Self, Trouble> {
        let gone = || {
            Trouble::new(
                Kind::Unreadable,
                "The file could not be opened.",
                "Choose it again: it may have been moved, changed or deleted since.",
            )
            .of(&file.name)
        };
        let answer = JsFuture::from(scope().fetch_with_str(&file.url)).await.map_err(|_| gone())?;
        let response: Response = answer.dyn_into().map_err(|_| gone())?;
        if !response.ok() {
            return Err(gone());
        }
        let blob = JsFuture::from(response.blob().map_err(|_| gone())?).await.map_err(|_| gone())?;
        Ok(Self { name: file.name.clone(), blob: blob.dyn_into().map_err(|_| gone())? })
    }
}

impl Source for BlobSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn len(&self) -> u64 {
        self.blob.size() as u64
    }

    async fn read(&self, at: u64, length: usize) -> Result<Vec<u8>, Trouble> {
        let gone = || {
            Trouble::new(
                Kind::Unreadable,
                "The file could not be read on.",
                "Choose it again: it may have been changed or removed in the meantime.",
            )
        };
        let end = (at + length as u64).min(self.len());
        let piece = self.blob.slice_with_f64_and_f64(at as f64, end as f64).map_err(|_| gone())?;
        let buffer = JsFuture::from(piece.array_buffer()).await.map_err(|_| gone())?;
        Ok(Uint8Array::new(&buffer).to_vec())
    }
}

/// Shows the page how far reading has come, and ends it when nobody waits for it any more.
pub(super) struct Reader<'a> {
    pub(super) runs: &'a Runs,
    pub(super) run: RunId,
    pub(super) slot: Slot,
    room: Room,
    shown: f64,
}

/// Reading is shown this often at most.
const SHOW_MS: f64 = 60.0;

impl<'a> Reader<'a> {
    pub(super) fn new(runs: &'a Runs, run: RunId, slot: Slot, room: Room) -> Self {
        Self { runs, run, slot, room, shown: 0.0 }
    }
}

impl Watch for Reader<'_> {
    async fn passed(&mut self, done: u64, of: u64) -> Result<(), Trouble> {
        if now() - self.shown > SHOW_MS {
            self.shown = now();
            post(self.run, Event::Reading { slot: self.slot, done: done as f64, of: of as f64 }, Vec::new());
        }
        if self.runs.wanted(self.run).await { Ok(()) } else { Err(Trouble::cancelled()) }
    }

    fn room(&self, bytes: u64) -> Result<(), Trouble> {
        self.room.table(bytes)
    }
}

/// What is done with a table once it is read shows nothing more; it can be given up as well.
impl scale::Watch for Reader<'_> {
    async fn step(&mut self, _done: f64) -> Result<(), Cancelled> {
        breathe().await;
        if self.runs.wanted(self.run).await { Ok(()) } else { Err(Cancelled) }
    }
}

/// A file in the making, as long as it is wanted.
pub(super) struct Writer<'a> {
    pub(super) runs: &'a Runs,
    pub(super) run: RunId,
}

impl Watch for Writer<'_> {
    async fn passed(&mut self, _done: u64, _of: u64) -> Result<(), Trouble> {
        breathe().await;
        if self.runs.wanted(self.run).await { Ok(()) } else { Err(Trouble::cancelled()) }
    }
}
