//! Puts points on a canvas: as discs while there are few, straight into pixels when there are many.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use plotters::style::RGBColor;
use wasm_bindgen::Clamped;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

use super::raster::{Raster, Stamp};
use super::{Frame, Rect};
use crate::app::canvas::{context, theme_colour};
use crate::app::palette::{OPACITY, Rgb, css};

/// Points of one side, ready to be drawn.
pub(super) struct Layer<'a> {
    /// Rows of two.
    pub(super) points: &'a [f32],
    /// One a point.
    pub(super) colours: &'a [Rgb],
    /// Which points are selected; empty when nothing is.
    pub(super) selected: &'a [bool],
    /// Diamonds instead of discs: the sides can be told apart whatever the colours mean.
    pub(super) diamonds: bool,
}

impl Layer<'_> {
    fn is_bright(&self, row: usize) -> bool {
        self.selected.is_empty() || self.selected.get(row).copied().unwrap_or(false)
    }

    /// Those of its points that can be seen.
    fn dots(&self, frame: &Frame, sight: &Rect) -> Vec<Dot> {
        let points = self.points.chunks_exact(2).zip(self.colours).enumerate();
        points
            .map(|(row, (point, colour))| {
                let at = frame.place(point[0], point[1]);
                Dot { at, colour: *colour, bright: self.is_bright(row) }
            })
            // A place that is not a number is inside of nothing.
            .filter(|dot| sight.contains(dot.at))
            .collect()
    }
}

/// A point where it is drawn.
struct Dot {
    at: (f64, f64),
    colour: Rgb,
    bright: bool,
}

/// With more points than this in sight a canvas would take longer than a frame for their discs.
const DISCS: usize = 3000;
/// The radius of a dot, in CSS pixels.
const SMALLEST: f64 = 1.3;
const LARGEST: f64 = 4.2;
const BRIGHT: f64 = OPACITY;
const FAINT: f64 = 0.12;

/// Draws the layers, the first at the bottom. Returns the radius of the dots.
pub(super) fn points(canvas: &HtmlCanvasElement, frame: &Frame, layers: &[Layer], ratio: f64) -> f64 {
    let Some(context) = context(canvas) else { return LARGEST };
    let (width, height) = (canvas.width(), canvas.height());
    let reach = 1.25 * LARGEST * ratio;
    let sight = Rect::between((-reach, -reach), (f64::from(width) + reach, f64::from(height) + reach));
    let visible: Vec<Vec<Dot>> = layers.iter().map(|layer| layer.dots(frame, &sight)).collect();
    let count: usize = visible.iter().map(Vec::len).sum();
    // Fewer dots in sight are larger.
    let radius = (90.0 / (count.max(1) as f64).sqrt()).clamp(SMALLEST, LARGEST) * ratio;
    if count > DISCS {
        let dots = layers.iter().zip(&visible);
        pixels(&context, dots, (width, height), radius);
    } else {
        context.clear_rect(0.0, 0.0, width.into(), height.into());
        for (layer, dots) in layers.iter().zip(&visible) {
            discs(&context, layer.diamonds, dots, radius);
        }
    }
    radius
}

fn discs(context: &CanvasRenderingContext2d, diamonds: bool, dots: &[Dot], radius: f64) {
    let mut groups: BTreeMap<(bool, Rgb), Vec<(f64, f64)>> = BTreeMap::new();
    for dot in dots {
        groups.entry((dot.bright, dot.colour)).or_default().push(dot.at);
    }
    // `false` comes first: what is selected lies on top.
    for ((bright, colour), places) in groups {
        context.set_global_alpha(if bright { BRIGHT } else { FAINT });
        context.set_fill_style_str(&css(colour));
        context.begin_path();
        for (x, y) in places {
            if diamonds {
                diamond(context, x, y, 1.25 * radius);
            } else {
                context.move_to(x + radius, y);
                // Fails only for a negative radius.
                let _ = context.arc(x, y, radius, 0.0, TAU);
            }
        }
        context.fill();
    }
    context.set_global_alpha(1.0);
}

fn diamond(context: &CanvasRenderingContext2d, x: f64, y: f64, reach: f64) {
    context.move_to(x + reach, y);
    context.line_to(x, y + reach);
    context.line_to(x - reach, y);
    context.line_to(x, y - reach);
    context.close_path();
}

/// Stamps all dots into a picture that becomes the canvas.
fn pixels<'a>(
    context: &CanvasRenderingContext2d,
    layers: impl Iterator<Item = (&'a Layer<'a>, &'a Vec<Dot>)> + Clone,
    (width, height): (u32, u32),
    radius: f64,
) {
    let RGBColor(r, g, b) = theme_colour("--ground");
    let mut raster = Raster::new(width as usize, height as usize, [r, g, b]);
    for (bright, opacity) in [(false, FAINT), (true, BRIGHT)] {
        let stamps = [Stamp::disc(radius, opacity), Stamp::diamond(radius, opacity)];
        for (layer, dots) in layers.clone() {
            let stamp = &stamps[usize::from(layer.diamonds)];
            for dot in dots.iter().filter(|dot| dot.bright == bright) {
                raster.stamp(stamp, dot.at, dot.colour);
            }
        }
    }
    if let Ok(image) = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&raster.pixels), width, height) {
        // Fails only for a picture that lies outside the canvas.
        let _ = context.put_image_data(&image, 0.0, 0.0);
    }
}

/// A ring around a point.
pub(super) fn ring(
    context: &CanvasRenderingContext2d,
    at: (f64, f64),
    radius: f64,
    colour: &str,
    width: f64,
) {
    context.set_stroke_style_str(colour);
    context.set_line_width(width);
    context.begin_path();
    // Fails only for a negative radius.
    let _ = context.arc(at.0, at.1, radius, 0.0, TAU);
    context.stroke();
}

/// Straight lines, all in one colour.
pub(super) fn lines(
    context: &CanvasRenderingContext2d,
    ends: impl Iterator<Item = ((f64, f64), (f64, f64))>,
    colour: &str,
    width: f64,
) {
    context.set_stroke_style_str(colour);
    context.set_line_width(width);
    context.begin_path();
    for (from, to) in ends {
        context.move_to(from.0, from.1);
        context.line_to(to.0, to.1);
    }
    context.stroke();
}
