//! Canvases that keep their resolution and the theme's colours.

use leptos::prelude::*;
use plotters::style::RGBColor;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

use super::state::Picture;

/// Changes whenever everything has to be drawn again: another size, another theme.
#[derive(Clone, Copy)]
pub(crate) struct Redraw(RwSignal<u32>);

impl Redraw {
    pub(crate) fn new() -> Self {
        let signal = RwSignal::new(0);
        let bump = move || signal.update(|n| *n += 1);
        // Both live as long as the page.
        let _ = window_event_listener(leptos::ev::resize, move |_| bump());
        if let Ok(Some(query)) = window().match_media("(prefers-color-scheme: dark)") {
            let on_change = wasm_bindgen::closure::Closure::<dyn FnMut()>::new(bump);
            query.set_onchange(Some(on_change.as_ref().unchecked_ref()));
            on_change.forget();
        }
        // Paper is light, and there is no time to draw anew: the style sheet turns what was drawn for the dark.
        let mark = move |dark: bool| {
            if let Some(root) = document().document_element() {
                let _ = root.toggle_attribute_with_force("data-drawn-dark", dark);
            }
        };
        let _ = window_event_listener_untyped("beforeprint", move |_| mark(is_dark()));
        let _ = window_event_listener_untyped("afterprint", move |_| mark(false));
        Self(signal)
    }

    pub(crate) fn track(self) {
        self.0.track();
    }
}

/// Makes the canvas as fine as the screen; returns device pixels per CSS pixel, or `None` while the
/// canvas has no size.
pub(crate) fn fit_to_screen(canvas: &HtmlCanvasElement) -> Option<f64> {
    let ratio = window().device_pixel_ratio();
    let [width, height] =
        [canvas.client_width(), canvas.client_height()].map(|v| (f64::from(v) * ratio) as u32);
    if width == 0 || height == 0 {
        return None;
    }
    if canvas.width() != width || canvas.height() != height {
        canvas.set_width(width);
        canvas.set_height(height);
    }
    Some(ratio)
}

pub(crate) fn context(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    canvas.get_context("2d").ok().flatten()?.dyn_into().ok()
}

/// Waits until everything that was drawn is there: a canvas draws later than it is told to.
pub(crate) fn finish(canvas: &HtmlCanvasElement) {
    if let Some(context) = context(canvas) {
        // Only the waiting is wanted.
        let _ = context.get_image_data(0.0, 0.0, 1.0, 1.0);
    }
}

/// A colour of the style sheet, by the name of its custom property (`#rrggbb`).
pub(crate) fn theme_colour(name: &str) -> RGBColor {
    let value = document()
        .document_element()
        .and_then(|root| window().get_computed_style(&root).ok().flatten())
        .and_then(|style| style.get_property_value(name).ok())
        .unwrap_or_default();
    let number = u32::from_str_radix(value.trim().trim_start_matches('#'), 16).unwrap_or(0x80_80_80);
    RGBColor((number >> 16) as u8, (number >> 8) as u8, number as u8)
}

/// The same as red, green, blue.
pub(crate) fn theme_rgb(name: &str) -> [u8; 3] {
    let RGBColor(r, g, b) = theme_colour(name);
    [r, g, b]
}

/// The same colour as it stands in the style sheet, for a canvas.
pub(crate) fn theme_css(name: &str) -> String {
    let RGBColor(r, g, b) = theme_colour(name);
    format!("rgb({r} {g} {b})")
}

/// Whether the theme has a dark ground.
pub(crate) fn is_dark() -> bool {
    let RGBColor(r, g, b) = theme_colour("--card");
    u32::from(r) + u32::from(g) + u32::from(b) < 3 * 128
}

/// Draws whenever what `track` reads has changed, once a frame however often that is.
pub(crate) fn on_frame(track: impl Fn() + 'static, draw: impl Fn() + Clone + 'static) {
    let scheduled = StoredValue::new(false);
    Effect::new(move || {
        track();
        if scheduled.get_value() {
            return;
        }
        scheduled.set_value(true);
        let draw = draw.clone();
        request_animation_frame(move || {
            // Gone when the view was left before the frame came.
            if scheduled.try_get_value().is_some() {
                scheduled.set_value(false);
                draw();
            }
        });
    });
}

/// Draws a picture of values from 0 to 1, from the ground to the ink, one canvas pixel a value.
pub(crate) fn draw_shades(canvas: &HtmlCanvasElement, side: u32, values: &[f32]) {
    if side == 0 || values.len() != (side * side) as usize {
        return;
    }
    let [RGBColor(r0, g0, b0), RGBColor(r1, g1, b1)] = ["--ground", "--ink"].map(theme_colour);
    let largest = values.iter().copied().filter(|v| v.is_finite()).fold(f32::MIN_POSITIVE, f32::max);
    let pixels: Vec<u8> = values
        .iter()
        .flat_map(|value| {
            // The square root lets small entries be seen beside large ones.
            let share = (value / largest).clamp(0.0, 1.0).sqrt();
            let mix = |low: u8, high: u8| (f32::from(low) * (1.0 - share) + f32::from(high) * share) as u8;
            [mix(r0, r1), mix(g0, g1), mix(b0, b1), 255]
        })
        .collect();
    put(canvas, side, &pixels);
}

fn put(canvas: &HtmlCanvasElement, side: u32, pixels: &[u8]) {
    let image = ImageData::new_with_u8_clamped_array_and_sh(Clamped(pixels), side, side);
    if canvas.width() != side {
        canvas.set_width(side);
        canvas.set_height(side);
    }
    if let (Ok(image), Some(context)) = (image, context(canvas)) {
        // Fails only for a picture that lies outside the canvas.
        let _ = context.put_image_data(&image, 0.0, 0.0);
    }
}

/// Teal for low, pale for zero, amber for high: distinguishable with every kind of colour vision.
const SCALE: [[f32; 3]; 5] = [
    [9.0, 75.0, 92.0],
    [63.0, 155.0, 155.0],
    [244.0, 238.0, 222.0],
    [238.0, 163.0, 66.0],
    [166.0, 77.0, 14.0],
];

/// The colour of a value in [−1, 1].
fn colour(value: f32) -> [u8; 4] {
    let at = (value.clamp(-1.0, 1.0) + 1.0) / 2.0 * (SCALE.len() - 1) as f32;
    let low = (at as usize).min(SCALE.len() - 2);
    let mix = at - low as f32;
    let channel = |c: usize| (SCALE[low][c] * (1.0 - mix) + SCALE[low + 1][c] * mix) as u8;
    [channel(0), channel(1), channel(2), 255]
}

/// Draws a picture, one canvas pixel a value; the style sheet scales it up smoothly.
pub(crate) fn draw_picture(canvas: &HtmlCanvasElement, picture: &Picture) {
    let side = picture.side;
    if side == 0 || picture.values.len() != (side * side) as usize {
        return;
    }
    let pixels: Vec<u8> = picture.values.iter().flat_map(|v| colour(*v)).collect();
    put(canvas, side, &pixels);
}
