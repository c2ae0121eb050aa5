//! Views of points that belong together: what is pointed at or selected in one is highlighted in all.

pub mod frame;

#[cfg(target_arch = "wasm32")]
mod paint;
#[cfg(target_arch = "wasm32")]
mod view;

pub use frame::{Frame, Rect};

#[cfg(target_arch = "wasm32")]
pub(crate) use view::{Cloud, Colouring, Linked, Scatter};
