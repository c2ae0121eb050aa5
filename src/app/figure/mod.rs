//! Figures to take away: a view, a chart or the plan on a sheet with title, legend and figures.
//!
//! A figure is drawn once, by a [`pen::Pen`]: as vectors into an SVG file, tested natively, or onto a canvas that
//! becomes a PNG file. So both show the same, and neither depends on what the page's own canvases hold.

#[cfg(target_arch = "wasm32")]
pub(crate) mod canvas;
pub mod curves;
pub mod pen;
pub mod plan;
pub mod points;
pub mod sheet;
pub mod svg;

pub use curves::{Curve, Curves};
pub use plan::Plan;
pub use points::Points;
pub use sheet::{Content, Figure, Mark, Scheme, file_name};
