//! Concord aligns two data sets that share no features and no known pairs, inside a browser tab.
//!
//! Read `ARCHITECTURE.md` for the way of the data through these modules.

pub mod app;
pub mod baseline;
pub mod check;
pub mod exec;
pub mod geometry;
pub mod kernels;
pub mod metrics;
pub mod plan;
pub mod procedure;
pub mod protocol;
pub mod rng;
pub mod scale;
pub mod solver;
pub mod study;
pub mod watch;
pub mod worker;

/// Becomes the page or the worker, depending on where the module was loaded.
#[cfg(target_arch = "wasm32")]
pub fn enter() {
    use wasm_bindgen::JsCast;
    if js_sys::global().is_instance_of::<web_sys::DedicatedWorkerGlobalScope>() {
        worker::serve();
    } else if js_sys::global().is_instance_of::<web_sys::Window>() {
        app::start();
    }
}
