//! The worker: owns the device and the runs, turns [`Command`](schema::Command)s into
//! [`Event`](schema::Event)s, and never draws.
//!
//! It lives in a Web Worker; [`pace`] and [`share`] are ordinary Rust and are tested as such.

pub mod pace;
pub mod share;

#[cfg(target_arch = "wasm32")]
mod aligning;
#[cfg(target_arch = "wasm32")]
mod applying;
#[cfg(target_arch = "wasm32")]
mod demo;
#[cfg(target_arch = "wasm32")]
mod desk;
#[cfg(target_arch = "wasm32")]
mod estimating;
#[cfg(target_arch = "wasm32")]
mod handing;
#[cfg(target_arch = "wasm32")]
mod live;
#[cfg(target_arch = "wasm32")]
mod recalling;
#[cfg(target_arch = "wasm32")]
mod runs;
#[cfg(target_arch = "wasm32")]
mod scope;
#[cfg(target_arch = "wasm32")]
mod serve;
#[cfg(target_arch = "wasm32")]
mod showing;
#[cfg(target_arch = "wasm32")]
mod source;
#[cfg(target_arch = "wasm32")]
mod used;

#[cfg(target_arch = "wasm32")]
pub use serve::serve;
