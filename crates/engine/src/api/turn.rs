//! Calls take turns: a page that asks for many alignments at once gets them one after the other, each with the whole
//! machine and none with memory for all.

use std::cell::RefCell;

use js_sys::{Array, Function, Promise};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

thread_local! {
    /// Settles when the last call that was made has ended.
    static LAST: RefCell<Option<Promise>> = const { RefCell::new(None) };
}

/// A place in the row of calls. The next one begins when it is dropped.
pub(super) struct Turn {
    before: Promise,
    /// An empty function in its place would be made by an `eval`, which strict pages forbid.
    release: Option<Function>,
}

impl Turn {
    pub(super) fn new() -> Self {
        let mut release = None;
        let over = Promise::new(&mut |resolve, _| release = Some(resolve));
        let before = LAST.replace(Some(over)).unwrap_or_else(|| Promise::resolve(&JsValue::UNDEFINED));
        Self { before, release }
    }

    /// Waits until it is this call's turn, or fails as soon as `unless` is rejected.
    pub(super) async fn comes(&self, unless: Option<Promise>) -> Result<(), JsValue> {
        let first = match unless {
            Some(unless) => Promise::race(&Array::of2(&unless, &self.before)),
            None => self.before.clone(),
        };
        JsFuture::from(first).await.map(drop)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // A call that is given up before its turn still has those before it; resolving a promise cannot fail.
        if let Some(release) = &self.release {
            let _ = release.call1(&JsValue::UNDEFINED, &self.before);
        }
    }
}
