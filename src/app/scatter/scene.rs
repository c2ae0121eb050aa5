//! The points of a view with all that is found out about them once: how far they reach, their colours, who is near.

use super::cloud::Cloud;
use super::grid::Grid;
use super::linked::Linked;
use super::{Colouring, Frame, Span, Zoom, paint};
use crate::app::canvas::{is_dark, theme_rgb};
use crate::app::palette::Rgb;
use schema::Side;

use leptos::prelude::*;
use web_sys::HtmlCanvasElement;

/// Around the points, in CSS pixels.
const MARGIN: f64 = 16.0;

/// The colour of every point.
struct Colours {
    /// What they mean, and whether the ground is dark.
    meaning: (Colouring, bool),
    sides: [Vec<Rgb>; 2],
}

pub(super) struct Scene {
    pub(super) cloud: Cloud,
    span: Span,
    /// Once somebody points at something.
    grids: Option<[Grid; 2]>,
    colours: Option<Colours>,
    /// As it was drawn last, and the radius of its dots.
    pub(super) frame: Option<Frame>,
    pub(super) radius: f64,
}

impl Scene {
    pub(super) fn new(cloud: Cloud) -> Self {
        let span = Span::of(&Side::BOTH.map(|side| cloud.points(side)));
        Self { cloud, span, grids: None, colours: None, frame: None, radius: 0.0 }
    }

    /// Draws the points, and keeps the frame in which they were drawn.
    pub(super) fn draw(&mut self, canvas: &HtmlCanvasElement, zoom: &Zoom, linked: Linked, ratio: f64) {
        let (width, height) = (f64::from(canvas.width()), f64::from(canvas.height()));
        let frame = Frame::around(&self.span, width, height, MARGIN * ratio).zoomed(zoom);
        let wanted = (linked.colouring.get_untracked(), is_dark());
        if self.colours.as_ref().is_none_or(|colours| colours.meaning != wanted) {
            let plain = ["--x", "--y"].map(theme_rgb);
            let sides =
                Side::BOTH.map(|side| self.cloud.colours(side, wanted.0, wanted.1, plain[side.index()]));
            self.colours = Some(Colours { meaning: wanted, sides });
        }
        let Some(colours) = &self.colours else { return };
        let selection = linked.selection.get_untracked().filter(|_| self.cloud.shown().is_some());
        let layers = Side::BOTH.map(|side| paint::Layer {
            points: self.cloud.points(side),
            colours: &colours.sides[side.index()],
            selected: selection.as_ref().map_or(&[], |selection| &selection[side.index()]),
            diamonds: side == Side::Y,
        });
        self.radius = paint::points(canvas, &frame, &layers, ratio);
        self.frame = Some(frame);
    }

    /// The point of a result that is nearest to a place of the canvas.
    pub(super) fn nearest(&mut self, at: (f64, f64), reach: f64) -> Option<(Side, usize)> {
        let frame = self.frame?;
        self.cloud.shown()?;
        let cloud = &self.cloud;
        let grids = self.grids.get_or_insert_with(|| Side::BOTH.map(|side| Grid::new(cloud.points(side))));
        Side::BOTH
            .into_iter()
            .filter_map(|side| {
                let (row, far) = grids[side.index()].nearest(&frame, cloud.points(side), at, reach)?;
                Some((far, (side, row)))
            })
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, found)| found)
    }
}
