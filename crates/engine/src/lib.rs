//! What computes in the browser: the worker, and the JavaScript API that starts one for every call. Never draws.

pub mod api;
pub mod worker;

/// Becomes the worker: listens for commands.
#[cfg(target_arch = "wasm32")]
#[wasm_bindgen::prelude::wasm_bindgen(skip_typescript)]
pub fn serve() {
    worker::serve();
}
