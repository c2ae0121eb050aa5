//! Curves with their axes on a sheet.

use super::pen::{Anchor, Pen, Place, Stroke, Words};
use super::sheet::Scheme;
use crate::app::axis::Axis;
use crate::app::palette::Rgb;
use crate::app::scatter::Rect;
use crate::app::thin::thinned;
use crate::app::ticks::tick;

/// One curve: a value for every step, from step 0 on.
#[derive(Clone, Debug)]
pub struct Curve {
    pub values: Vec<f32>,
    pub colour: Rgb,
    /// For what the others are compared with.
    pub dashed: bool,
}

#[derive(Clone, Debug)]
pub struct Curves {
    pub lines: Vec<Curve>,
    /// How many steps the lower axis has.
    pub steps: u32,
    /// What it counts.
    pub across: &'static str,
    pub axis: Axis,
}

/// More points than these are not told apart.
const POINTS: usize = 2000;
const LEFT: f64 = 58.0;
const BELOW: f64 = 44.0;
const SIZE: f64 = 12.0;

impl Curves {
    pub(super) fn draw(&self, pen: &mut dyn Pen, area: &Rect, scheme: &Scheme) {
        let plot = Rect { left: area.left + LEFT, bottom: area.bottom - BELOW, ..*area };
        let range = self.axis.range(self.lines.iter().map(|line| line.values.as_slice()));
        let down = |value: f32| plot.bottom - (plot.bottom - plot.top) * self.axis.share(value, range);
        let most = (0.0, self.steps.max(1) as f32);
        let right = |step: f32| plot.left + (plot.right - plot.left) * Axis::Linear.share(step, most);
        let level = |y: f64| -> [Place; 2] { [(plot.left, y), (plot.right, y)] };
        let label = |text: &str, at: Place, anchor: Anchor, pen: &mut dyn Pen| {
            pen.words(&Words { text, at, size: SIZE, colour: scheme.soft, anchor, bold: false });
        };
        pen.begin("axes", None);
        let span = if self.axis == Axis::Linear { range.1 - range.0 } else { 0.0 };
        for value in self.axis.marks(range, 5) {
            let places = level(down(value));
            pen.stroke(&Stroke { places: &places, colour: scheme.line, width: 0.7, dashed: false });
            label(&tick(value, span), (plot.left - 8.0, down(value) + 4.0), Anchor::End, pen);
        }
        let ground = [(plot.left, plot.top), (plot.left, plot.bottom), (plot.right, plot.bottom)];
        pen.stroke(&Stroke { places: &ground, colour: scheme.soft, width: 1.0, dashed: false });
        for step in Axis::Linear.marks(most, 6) {
            let x = right(step);
            let places = [(x, plot.bottom), (x, plot.bottom + 4.0)];
            pen.stroke(&Stroke { places: &places, colour: scheme.soft, width: 1.0, dashed: false });
            label(&tick(step, most.1), (x, plot.bottom + 18.0), Anchor::Middle, pen);
        }
        label(self.across, ((plot.left + plot.right) / 2.0, plot.bottom + 36.0), Anchor::Middle, pen);
        pen.end();
        pen.begin("curves", Some(&Rect { top: plot.top - 2.0, bottom: plot.bottom + 2.0, ..plot }));
        let width = if self.lines.len() > 3 { 1.3 } else { 1.8 };
        for line in &self.lines {
            let points = thinned(&line.values, POINTS);
            let places: Vec<Place> =
                points.iter().map(|(step, value)| (right(*step as f32), down(*value))).collect();
            pen.stroke(&Stroke { places: &places, colour: line.colour, width, dashed: line.dashed });
        }
        pen.end();
    }
}
