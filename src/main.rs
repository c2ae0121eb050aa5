//! The page as a wasm module; `www/start.js` calls `run`.

// So that the linker keeps what is exported to JavaScript.
use concord as _;

fn main() {}
