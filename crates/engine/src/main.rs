//! The engine as a module of its own: what it becomes is told by the function that is called next, `serve`, `align` or `apply`.

// So that the linker keeps what is exported to JavaScript.
use engine as _;

fn main() {}
