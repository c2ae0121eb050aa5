//! The JavaScript API: `align` and `apply` for pages of other people, documented in `docs/api.md`.
//!
//! A call starts a worker of its own, the same that the app computes with, hands it the arrays, and ends it when the
//! result is there, so that nothing of a call stays behind. What is asked for is read and checked here, before anything
//! is computed; [`options`] and [`table`] are ordinary Rust and are tested as such.

pub mod options;
pub mod table;

#[cfg(target_arch = "wasm32")]
mod asked;
#[cfg(target_arch = "wasm32")]
mod call;
#[cfg(target_arch = "wasm32")]
mod result;
#[cfg(target_arch = "wasm32")]
mod session;
#[cfg(target_arch = "wasm32")]
mod turn;
#[cfg(target_arch = "wasm32")]
mod values;

#[cfg(target_arch = "wasm32")]
pub use call::{align, apply};
