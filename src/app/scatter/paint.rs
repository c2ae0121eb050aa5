//! Puts points on a canvas: as discs while there are few, straight into pixels when there are many.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use wasm_bindgen::Clamped;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

use super::Frame;
use crate::app::canvas::context;
use crate::app::palette::{Rgb, css};

/// Points of one side, ready to be drawn.
pub(super) struct Layer<'a> {
    /// Rows of two.
    pub(super) points: &'a [f32],
    /// One a point.
    pub(super) colours: Vec<Rgb>,
    /// Which points are selected; empty when nothing is.
    pub(super) selected: &'a [bool],
    /// Diamonds instead of discs: the sides can be told apart whatever the colours mean.
    pub(super) diamonds: bool,
}

impl Layer<'_> {
    fn is_bright(&self, row: usize) -> bool {
        self.selected.is_empty() || self.selected.get(row).copied().unwrap_or(false)
    }
}

/// Beyond this many points discs would take longer than a frame.
const DISCS: usize = 20_000;
const FAINT: f64 = 0.12;

/// Draws the layers, the first at the bottom.
pub(super) fn points(canvas: &HtmlCanvasElement, frame: &Frame, layers: &[Layer], ratio: f64) {
    let Some(context) = context(canvas) else { return };
    let (width, height) = (canvas.width(), canvas.height());
    context.clear_rect(0.0, 0.0, width.into(), height.into());
    let total: usize = layers.iter().map(|layer| layer.points.len() / 2).sum();
    if total > DISCS {
        pixels(&context, frame, layers, (width, height), ratio);
    } else {
        discs(&context, frame, layers, radius(total) * ratio);
    }
}

/// Fewer points are drawn larger, in CSS pixels.
pub(super) fn radius(total: usize) -> f64 {
    (90.0 / (total.max(1) as f64).sqrt()).clamp(1.3, 4.2)
}

fn discs(context: &CanvasRenderingContext2d, frame: &Frame, layers: &[Layer], radius: f64) {
    for layer in layers {
        let mut groups: BTreeMap<(bool, Rgb), Vec<(f64, f64)>> = BTreeMap::new();
        for (row, (point, colour)) in layer.points.chunks_exact(2).zip(&layer.colours).enumerate() {
            if point[0].is_finite() && point[1].is_finite() {
                let group = groups.entry((layer.is_bright(row), *colour)).or_default();
                group.push(frame.place(point[0], point[1]));
            }
        }
        // `false` comes first: what is selected lies on top.
        for ((bright, colour), places) in groups {
            context.set_global_alpha(if bright { 0.82 } else { FAINT });
            context.set_fill_style_str(&css(colour));
            context.begin_path();
            for (x, y) in places {
                if layer.diamonds {
                    diamond(context, x, y, 1.25 * radius);
                } else {
                    context.move_to(x + radius, y);
                    // Fails only for a negative radius.
                    let _ = context.arc(x, y, radius, 0.0, TAU);
                }
            }
            context.fill();
        }
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

/// Blends small squares into a buffer that becomes the canvas in one go.
fn pixels(
    context: &CanvasRenderingContext2d,
    frame: &Frame,
    layers: &[Layer],
    (width, height): (u32, u32),
    ratio: f64,
) {
    let (wide, high) = (width as i32, height as i32);
    let mut buffer = vec![0u8; width as usize * height as usize * 4];
    let size = (1.6 * ratio).round().max(1.0) as i32;
    for bright in [false, true] {
        let opacity = if bright { 0.7 } else { FAINT as f32 };
        for layer in layers {
            for (row, (point, colour)) in layer.points.chunks_exact(2).zip(&layer.colours).enumerate() {
                if layer.is_bright(row) != bright || !point[0].is_finite() || !point[1].is_finite() {
                    continue;
                }
                let (x, y) = frame.place(point[0], point[1]);
                let (left, top) = (x as i32 - size / 2, y as i32 - size / 2);
                for py in top.max(0)..(top + size).min(high) {
                    for px in left.max(0)..(left + size).min(wide) {
                        let at = (py as usize * width as usize + px as usize) * 4;
                        blend(&mut buffer[at..at + 4], *colour, opacity);
                    }
                }
            }
        }
    }
    if let Ok(image) = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&buffer), width, height) {
        // Fails only for a picture that lies outside the canvas.
        let _ = context.put_image_data(&image, 0.0, 0.0);
    }
}

/// Lays a colour over a pixel that may itself be transparent.
fn blend(pixel: &mut [u8], colour: Rgb, opacity: f32) {
    let below = f32::from(pixel[3]) / 255.0;
    let above = opacity + below * (1.0 - opacity);
    for (channel, value) in pixel.iter_mut().zip(colour) {
        let mixed = f32::from(value) * opacity + f32::from(*channel) * below * (1.0 - opacity);
        *channel = (mixed / above) as u8;
    }
    pixel[3] = (above * 255.0) as u8;
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
