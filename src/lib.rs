//! Concord aligns two data sets that share no features and no known pairs, inside a browser tab. This crate is the page.
//!
//! Read `ARCHITECTURE.md` for the way of the data through the crates.

pub mod app;

/// Becomes the page: mounts the app. Loading the module alone does nothing, so that other pages can use its API.
#[cfg(target_arch = "wasm32")]
#[wasm_bindgen::prelude::wasm_bindgen(skip_typescript)]
pub fn run() {
    app::start();
}
