//! A figure as an SVG file: texts are texts and points are shapes, so that they can be edited, searched and scaled.

use std::fmt::Write as _;

use super::pen::{Anchor, Dots, Pen, Shape, Stroke, Words};
use super::sheet::Figure;
use crate::app::palette::Rgb;
use crate::app::scatter::Rect;
use crate::app::scatter::raster::Raster;

/// The file.
pub fn svg(figure: &Figure) -> String {
    let (width, height) = figure.size();
    let mut pen = SvgPen::default();
    let out = &mut pen.out;
    // Writing into a text cannot fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-labelledby=\"title summary\" font-family=\"system-ui, 'Segoe UI', 'Liberation Sans', Arial, sans-serif\">"
    );
    let _ = writeln!(out, "<title id=\"title\">{}</title>", escaped(&figure.title));
    let _ = writeln!(out, "<desc id=\"summary\">{}</desc>", escaped(&figure.summary));
    figure.draw(&mut pen);
    pen.out.push_str("</svg>\n");
    pen.out
}

#[derive(Default)]
struct SvgPen {
    out: String,
    clips: usize,
}

/// What stands between tags or in quotes; characters that XML does not know are left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            letter if letter < ' ' || matches!(letter, '\u{fffe}' | '\u{ffff}') => {}
            letter => out.push(letter),
        }
    }
    out
}

fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// A length to a hundredth, without zeros that say nothing.
fn n(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

impl SvgPen {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }
}

impl Pen for SvgPen {
    fn begin(&mut self, part: &str, clip: Option<&Rect>) {
        let Some(area) = clip else { return self.line(&format!("<g data-part=\"{}\">", escaped(part))) };
        self.clips += 1;
        let id = format!("clip{}", self.clips);
        let (x, y) = (n(area.left), n(area.top));
        let (w, h) = (n(area.right - area.left), n(area.bottom - area.top));
        self.line(&format!(
            "<clipPath id=\"{id}\"><rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"/></clipPath>"
        ));
        self.line(&format!("<g data-part=\"{}\" clip-path=\"url(#{id})\">", escaped(part)));
    }

    fn end(&mut self) {
        self.line("</g>");
    }

    fn fill(&mut self, areas: &[Rect], colour: Rgb) {
        let mut path = String::new();
        for area in areas {
            let (w, h) = (area.right - area.left, area.bottom - area.top);
            let _ = write!(path, "M{} {}h{}v{}h{}z", n(area.left), n(area.top), n(w), n(h), n(-w));
        }
        self.line(&format!("<path fill=\"{}\" shape-rendering=\"crispEdges\" d=\"{path}\"/>", hex(colour)));
    }

    fn stroke(&mut self, stroke: &Stroke) {
        let places: Vec<String> = stroke.places.iter().map(|(x, y)| format!("{},{}", n(*x), n(*y))).collect();
        let dashes = if stroke.dashed { " stroke-dasharray=\"6 4\"" } else { "" };
        self.line(&format!(
            "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{dashes} points=\"{}\"/>",
            hex(stroke.colour),
            n(stroke.width),
            places.join(" ")
        ));
    }

    fn dots(&mut self, dots: &Dots) {
        let opacity =
            if dots.opacity < 1.0 { format!(" fill-opacity=\"{}\"", n(dots.opacity)) } else { String::new() };
        self.line(&format!("<g fill=\"{}\"{opacity}>", hex(dots.colour)));
        let r = n(dots.radius);
        for (x, y) in dots.places {
            let _ = match dots.shape {
                Shape::Diamond => {
                    let reach = dots.radius;
                    let (x, top) = (n(*x), n(y - reach));
                    writeln!(self.out, "<path d=\"M{x} {top}l{r} {r}l-{r} {r}l-{r} -{r}z\"/>")
                }
                _ => writeln!(self.out, "<circle cx=\"{}\" cy=\"{}\" r=\"{r}\"/>", n(*x), n(*y)),
            };
        }
        self.line("</g>");
    }

    fn words(&mut self, words: &Words) {
        let anchor = match words.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let bold = if words.bold { " font-weight=\"600\"" } else { "" };
        self.line(&format!(
            "<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\" text-anchor=\"{anchor}\"{bold}>{}</text>",
            n(words.at.0),
            n(words.at.1),
            n(words.size),
            hex(words.colour),
            escaped(words.text)
        ));
    }

    fn picture(&mut self, area: &Rect, picture: &Raster) {
        let (width, height) = picture.size();
        // A picture that cannot be packed leaves its place empty.
        let Ok(file) = formats::write::png::png(width as u32, height as u32, &picture.pixels) else { return };
        self.line(&format!(
            "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" href=\"data:image/png;base64,{}\"/>",
            n(area.left),
            n(area.top),
            n(area.right - area.left),
            n(area.bottom - area.top),
            base64(&file)
        ));
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for i in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= three.len() { letter as char } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests;
