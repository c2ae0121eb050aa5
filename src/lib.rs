//! Concord aligns two data sets that share no features and no known pairs, inside a browser tab. This crate is the page.
//!
//! Read `ARCHITECTURE.md` for the way of the data through the crates.

pub mod app;

/// Mounts the app. The engine's script has this address, and `module` promises its compiled module whenever it is called.
#[cfg(target_arch = "wasm32")]
#[wasm_bindgen::prelude::wasm_bindgen(skip_typescript)]
pub fn run(script: String, module: js_sys::Function) {
    let module = move || match module.call0(&wasm_bindgen::JsValue::NULL) {
        Ok(promised) => js_sys::Promise::resolve(&promised),
        Err(error) => js_sys::Promise::reject(&error),
    };
    app::start(worker_client::Engine { script, module: Box::new(module) });
}
