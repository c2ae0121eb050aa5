//! A figure as a PNG file: drawn onto a canvas that nobody sees, finer than it is looked at.

use std::f64::consts::TAU;

use leptos::prelude::document;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{Blob, CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

use super::pen::{Anchor, Dots, Pen, Place, Shape, Stroke, Words};
use super::sheet::Figure;
use crate::app::canvas::context;
use crate::app::palette::{Rgb, css};
use crate::app::scatter::Rect;
use crate::app::scatter::raster::Raster;

/// Pixels for each unit of the sheet.
pub(crate) const FINE: f64 = 2.0;

const FONT: &str = "system-ui, 'Segoe UI', 'Liberation Sans', Arial, sans-serif";

/// Draws the figure and hands on the file, once the browser has packed it; nothing where it cannot.
pub(crate) fn png(figure: &Figure, then: impl FnOnce(Option<Blob>) + 'static) {
    let Some(canvas) = drawn(figure) else { return then(None) };
    let packed = Closure::once_into_js(move |blob: Option<Blob>| then(blob));
    // Fails only for pictures of foreign origin, of which there are none.
    let _ = canvas.to_blob(packed.unchecked_ref());
}

fn new_canvas((width, height): (u32, u32)) -> Option<HtmlCanvasElement> {
    let canvas: HtmlCanvasElement = document().create_element("canvas").ok()?.dyn_into().ok()?;
    canvas.set_width(width);
    canvas.set_height(height);
    Some(canvas)
}

fn drawn(figure: &Figure) -> Option<HtmlCanvasElement> {
    let (width, height) = figure.size();
    let canvas = new_canvas(((FINE * width) as u32, (FINE * height) as u32))?;
    let context = context(&canvas)?;
    context.scale(FINE, FINE).ok()?;
    figure.draw(&mut CanvasPen { context });
    Some(canvas)
}

struct CanvasPen {
    context: CanvasRenderingContext2d,
}

impl CanvasPen {
    fn path(&self, places: &[Place]) {
        self.context.begin_path();
        for (at, (x, y)) in places.iter().enumerate() {
            if at == 0 {
                self.context.move_to(*x, *y);
            } else {
                self.context.line_to(*x, *y);
            }
        }
    }
}

impl Pen for CanvasPen {
    fn begin(&mut self, _part: &str, clip: Option<&Rect>) {
        self.context.save();
        if let Some(area) = clip {
            self.context.begin_path();
            self.context.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
            self.context.clip();
        }
    }

    fn end(&mut self) {
        self.context.restore();
    }

    fn fill(&mut self, areas: &[Rect], colour: Rgb) {
        self.context.set_fill_style_str(&css(colour));
        for area in areas {
            // To whole pixels, so that no ground shines through between neighbours.
            let [left, top, right, bottom] =
                [area.left, area.top, area.right, area.bottom].map(|v| (v * FINE).round() / FINE);
            self.context.fill_rect(left, top, right - left, bottom - top);
        }
    }

    fn stroke(&mut self, stroke: &Stroke) {
        let dashes = if stroke.dashed { [6.0, 4.0].as_slice() } else { &[] };
        let dashes: js_sys::Array = dashes.iter().map(|v| wasm_bindgen::JsValue::from_f64(*v)).collect();
        // Fails only for lengths that are no numbers.
        let _ = self.context.set_line_dash(&dashes);
        self.context.set_stroke_style_str(&css(stroke.colour));
        self.context.set_line_width(stroke.width);
        self.context.set_line_join("round");
        self.path(stroke.places);
        self.context.stroke();
    }

    fn dots(&mut self, dots: &Dots) {
        self.context.set_global_alpha(dots.opacity);
        self.context.set_fill_style_str(&css(dots.colour));
        let r = dots.radius;
        for (x, y) in dots.places {
            if dots.shape == Shape::Diamond {
                self.path(&[(*x, y - r), (x + r, *y), (*x, y + r), (x - r, *y)]);
            } else {
                self.context.begin_path();
                // Fails only for a negative radius.
                let _ = self.context.arc(*x, *y, r, 0.0, TAU);
            }
            self.context.fill();
        }
        self.context.set_global_alpha(1.0);
    }

    fn words(&mut self, words: &Words) {
        let weight = if words.bold { 600 } else { 400 };
        self.context.set_font(&format!("{weight} {}px {FONT}", words.size));
        self.context.set_text_align(match words.anchor {
            Anchor::Start => "left",
            Anchor::Middle => "center",
            Anchor::End => "right",
        });
        self.context.set_fill_style_str(&css(words.colour));
        // Fails only for places that are no numbers.
        let _ = self.context.fill_text(words.text, words.at.0, words.at.1);
    }

    fn picture(&mut self, area: &Rect, picture: &Raster) {
        let (width, height) = picture.size();
        let size = (width as u32, height as u32);
        let image = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&picture.pixels), size.0, size.1);
        let beside = new_canvas(size).and_then(|canvas| Some((context(&canvas)?, canvas)));
        if let (Ok(image), Some((below, canvas))) = (image, beside) {
            // Both fail only for pictures of foreign origin.
            let _ = below.put_image_data(&image, 0.0, 0.0);
            let (wide, high) = (area.right - area.left, area.bottom - area.top);
            let _ = self
                .context
                .draw_image_with_html_canvas_element_and_dw_and_dh(&canvas, area.left, area.top, wide, high);
        }
    }
}
