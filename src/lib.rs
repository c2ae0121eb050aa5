//! Concord aligns two data sets that share no features and no known pairs, inside a browser tab.
//!
//! Read `ARCHITECTURE.md` for the way of the data through these modules.

pub mod api;
pub mod app;
pub mod baseline;
pub mod check;
pub mod exec;
pub mod geometry;
pub mod kernels;
#[cfg(target_arch = "wasm32")]
mod link;
pub mod metrics;
pub mod plan;
pub mod procedure;
pub mod protocol;
pub mod rng;
pub mod scale;
pub mod solver;
pub mod study;
#[cfg(target_arch = "wasm32")]
mod timeout;
pub mod watch;
pub mod worker;

/// Becomes the page: mounts the app. Loading the module alone does nothing, so that other pages can use its API.
#[cfg(target_arch = "wasm32")]
#[wasm_bindgen::prelude::wasm_bindgen(skip_typescript)]
pub fn run() {
    app::start();
}

/// Becomes the worker: listens for commands.
#[cfg(target_arch = "wasm32")]
#[wasm_bindgen::prelude::wasm_bindgen(skip_typescript)]
pub fn serve() {
    worker::serve();
}
