//! The one wasm module, loaded by the page, by the worker that the page starts, and by pages that use the API. What it
//! becomes is told by the function that is called next: `run`, `serve`, `align` or `apply`.

// So that the linker keeps what is exported to JavaScript.
use concord as _;
use engine as _;

fn main() {}
