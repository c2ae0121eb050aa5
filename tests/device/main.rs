//! What needs a device: every body runs natively on Vulkan and, compiled to wasm, in a browser.
//!
//! One program for all of them, because a browser's test runner rewrites the whole module first, which takes longer than
//! most of what is tested.
mod aligns;
mod baseline;
mod common;
mod devices;
mod fit_time;
#[path = "../fixtures/mod.rs"]
mod fixtures;
mod kernels;
mod learns;
mod linear;
mod losses;
mod silent;
mod solver;
mod streamed;
#[cfg(target_arch = "wasm32")]
mod transport;
mod whole;
