//! What lies above the points and follows the pointer: the rectangle that is drawn, lines, rings, known pairs.

use leptos::prelude::*;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::cloud::Cloud;
use super::linked::Linked;
use super::scene::Scene;
use super::{Frame, Place, Rect, paint};
use crate::app::canvas::{context, theme_css};
use crate::app::state::{Pairs, Shown};
use schema::Side;

/// At most so many lines between pairs.
const LINES: usize = 300;

/// What is to be drawn above the points.
pub(super) struct Over {
    pub(super) linked: Linked,
    /// Pairs made by hand, where these are the rows they speak of.
    pub(super) known: Option<Pairs>,
    /// In CSS pixels.
    pub(super) rect: Option<Rect>,
}

/// A drawing on its way.
struct Drawing<'a> {
    context: CanvasRenderingContext2d,
    cloud: &'a Cloud,
    shown: &'a Shown,
    frame: &'a Frame,
    ratio: f64,
    /// Of a ring around a point.
    radius: f64,
}

impl Over {
    pub(super) fn draw(&self, canvas: &HtmlCanvasElement, scene: &Scene, ratio: f64) {
        let (cloud, Some(frame)) = (&scene.cloud, &scene.frame) else { return };
        let Some(context) = context(canvas) else { return };
        context.clear_rect(0.0, 0.0, canvas.width().into(), canvas.height().into());
        if let Some(rect) = self.rect.map(|rect| rect.scaled(ratio)) {
            context.set_stroke_style_str(&theme_css("--ink"));
            context.set_line_width(ratio);
            context.stroke_rect(rect.left, rect.top, rect.right - rect.left, rect.bottom - rect.top);
        }
        let Some(shown) = cloud.shown() else { return };
        let radius = scene.radius + 3.0 * ratio;
        let drawing = Drawing { context, cloud, shown, frame, ratio, radius };
        if self.linked.lines.get_untracked() && matches!(cloud, Cloud::Aligned(_)) {
            drawing.matches(self.linked);
        }
        if let Some(known) = self.known {
            drawing.known(known);
        }
        if let Some((side, row)) = self.linked.hover.get_untracked() {
            drawing.pointed(side, row);
        }
    }
}

impl Drawing<'_> {
    fn place(&self, side: Side, row: usize) -> Option<Place> {
        let point = self.cloud.points(side).get(2 * row..2 * row + 2)?;
        Some(self.frame.place(point[0], point[1]))
    }

    /// Lines between matches, of the selected points or of all.
    fn matches(&self, linked: Linked) {
        let between = |row: usize| {
            let partner = self.shown.partner(Side::X, row)?;
            Some((self.place(Side::X, row)?, self.place(Side::Y, partner)?))
        };
        let rows: Vec<usize> = match linked.selection.get_untracked() {
            Some(chosen) => (0..chosen[0].len()).filter(|row| chosen[0][*row]).collect(),
            None => (0..self.shown.matches[0].len()).collect(),
        };
        let every = rows.len().div_ceil(LINES).max(1);
        self.context.set_global_alpha(0.45);
        let ends = rows.into_iter().step_by(every).filter_map(between);
        paint::lines(&self.context, ends, &theme_css("--ink-soft"), self.ratio);
        self.context.set_global_alpha(1.0);
    }

    /// Rings around the points of pairs made by hand, a line between them, and a ring around a first one.
    fn known(&self, pairs: Pairs) {
        let colour = theme_css("--pair");
        let mut rows = pairs.list.with_untracked(|list| list.rows());
        rows.truncate(LINES);
        let ends =
            rows.iter().map(|&(x, y)| [self.place(Side::X, x as usize), self.place(Side::Y, y as usize)]);
        let ends: Vec<[Option<Place>; 2]> = ends.collect();
        let joined = ends.iter().filter_map(|[x, y]| (*x).zip(*y));
        paint::lines(&self.context, joined, &colour, 1.5 * self.ratio);
        let half = pairs.half.get_untracked().and_then(|(side, row)| self.place(side, row));
        for at in ends.into_iter().flatten().chain([half]).flatten() {
            paint::ring(&self.context, at, self.radius - self.ratio, &colour, 2.5 * self.ratio);
        }
    }

    /// The point at the pointer and its match.
    fn pointed(&self, side: Side, row: usize) {
        let ink = theme_css("--ink");
        let other = Side::BOTH[1 - side.index()];
        let here = self.place(side, row);
        let there = self.shown.partner(side, row).and_then(|partner| self.place(other, partner));
        if let (Some(here), Some(there)) = (here, there) {
            paint::lines(&self.context, std::iter::once((here, there)), &ink, 1.5 * self.ratio);
        }
        for (at, side) in [(here, side), (there, other)] {
            if let Some(at) = at {
                let own = theme_css(["--x", "--y"][side.index()]);
                paint::ring(&self.context, at, self.radius, &ink, 3.5 * self.ratio);
                paint::ring(&self.context, at, self.radius, &own, 1.5 * self.ratio);
            }
        }
    }
}
