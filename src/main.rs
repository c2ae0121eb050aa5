//! The one wasm module, entered twice: as the page, and as the worker the page starts.

fn main() {
    #[cfg(target_arch = "wasm32")]
    concord::enter();
}
