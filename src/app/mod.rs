//! The page: Leptos components that show what the worker says and pass on what the visitor wants.
//! It sees the protocol only, never the solver, and computes nothing.

pub mod address;
pub mod axis;
pub mod figure;
pub mod history;
pub mod kept;
pub mod ledger;
pub mod misfit;
pub mod natural;
pub mod options;
pub mod pairs;
pub mod palette;
pub mod repeat;
pub mod samples;
pub mod scatter;
pub mod standing;
pub mod summary;
pub mod tally;
pub mod thin;
pub mod ticks;
pub mod unusable;

#[cfg(target_arch = "wasm32")]
mod canvas;
#[cfg(target_arch = "wasm32")]
mod chart;
#[cfg(target_arch = "wasm32")]
mod demo;
#[cfg(target_arch = "wasm32")]
mod diagnostics;
#[cfg(target_arch = "wasm32")]
mod focus;
#[cfg(target_arch = "wasm32")]
mod home;
#[cfg(target_arch = "wasm32")]
mod location;
#[cfg(target_arch = "wasm32")]
mod meter;
#[cfg(target_arch = "wasm32")]
mod meter_card;
#[cfg(target_arch = "wasm32")]
mod offline;
#[cfg(target_arch = "wasm32")]
mod shell;
#[cfg(target_arch = "wasm32")]
mod state;
#[cfg(target_arch = "wasm32")]
mod tab;
#[cfg(target_arch = "wasm32")]
mod vault;

#[cfg(target_arch = "wasm32")]
pub use shell::start;
