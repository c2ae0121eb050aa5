//! Views of points that belong together: what is pointed at or selected in one is highlighted in all.

pub mod colouring;
pub mod frame;
pub mod grid;
pub mod raster;
pub mod tip;
pub mod walk;
pub mod zoom;

#[cfg(target_arch = "wasm32")]
mod cloud;
#[cfg(target_arch = "wasm32")]
mod hands;
#[cfg(target_arch = "wasm32")]
mod keys;
#[cfg(target_arch = "wasm32")]
mod linked;
#[cfg(target_arch = "wasm32")]
mod measure;
#[cfg(target_arch = "wasm32")]
mod overlay;
#[cfg(target_arch = "wasm32")]
mod paint;
#[cfg(target_arch = "wasm32")]
mod scene;
#[cfg(target_arch = "wasm32")]
mod view;
#[cfg(target_arch = "wasm32")]
mod words;

pub use colouring::{Colouring, Known};
pub use frame::{Frame, Rect, Span};
pub use zoom::Zoom;

/// A place on a canvas.
#[cfg(target_arch = "wasm32")]
type Place = (f64, f64);

#[cfg(target_arch = "wasm32")]
pub(crate) use cloud::Cloud;
#[cfg(target_arch = "wasm32")]
pub(crate) use linked::Linked;
#[cfg(target_arch = "wasm32")]
pub(crate) use measure::{Measured, measure};
#[cfg(target_arch = "wasm32")]
pub(crate) use view::Scatter;
