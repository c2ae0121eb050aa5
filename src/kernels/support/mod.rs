//! What several kernels share, the Rust side of `shaders/shared/`.

mod activation;
mod case;
mod clock;
mod potential;

pub use activation::Activation;
pub use case::Case;
pub(super) use case::CaseBuilder;
pub(super) use clock::scheduled_row;
pub use potential::Potential;
pub(super) use potential::{LseParams, potential_cases, record_potential};
