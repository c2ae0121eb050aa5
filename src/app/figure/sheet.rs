//! The sheet around a figure: its title, what it is about, a legend that wraps, and figures below.

use super::pen::{Anchor, DIAMOND, Dots, Pen, Place, Shape, Stroke, Words};
use super::{Curves, Plan, Points};
use crate::app::palette::Rgb;
use crate::app::scatter::Rect;

/// The colours of a sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scheme {
    pub ground: Rgb,
    pub ink: Rgb,
    pub soft: Rgb,
    pub line: Rgb,
    pub accent: Rgb,
    /// Of the two data sets.
    pub sides: [Rgb; 2],
    pub dark: bool,
}

impl Scheme {
    /// Black on white, fit for paper; the rest as on the page in its light colours.
    pub const PRINT: Self = Self {
        ground: [255; 3],
        ink: [0x16, 0x26, 0x2e],
        soft: [0x52, 0x63, 0x6b],
        line: [0xc9, 0xc6, 0xbd],
        accent: [0x0f, 0x6f, 0x73],
        sides: [[0x0f, 0x7c, 0x80], [0xb9, 0x6a, 0x06]],
        dark: false,
    };
}

/// An entry of a legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    pub shape: Shape,
    pub colour: Rgb,
    pub name: String,
}

#[derive(Clone, Debug)]
pub enum Content {
    Points(Points),
    Curves(Curves),
    Plan(Plan),
}

#[derive(Clone, Debug)]
pub struct Figure {
    pub title: String,
    /// Of what it is, in a line below the title.
    pub about: String,
    /// What is to be seen, in words.
    pub summary: String,
    pub legend: Vec<Mark>,
    /// Figures, below.
    pub notes: String,
    pub content: Content,
    pub scheme: Scheme,
}

pub const WIDTH: f64 = 720.0;
const MARGIN: f64 = 28.0;
const TITLE: f64 = 20.0;
const TEXT: f64 = 13.0;
/// From line to line of text.
const LEADING: f64 = 19.0;
/// Widths are not known before a text is drawn, and then differ with its font: a letter takes about this share of its size.
/// Wide fonts come to it with names in capitals; two entries of a legend must not meet even then.
const LETTER: f64 = 0.62;

fn width_of(text: &str, size: f64) -> f64 {
    LETTER * size * text.chars().count() as f64
}

/// A text in lines that fit.
fn wrapped(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width_of(line, size) + width_of(word, size) + LETTER * size <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

impl Figure {
    fn room() -> f64 {
        WIDTH - 2.0 * MARGIN
    }

    fn height_of_content(&self) -> f64 {
        match self.content {
            Content::Points(_) => 500.0,
            Content::Curves(_) => 320.0,
            Content::Plan(_) => 502.0,
        }
    }

    /// Where each entry of the legend stands, from the upper left of it, and how high all are.
    fn legend_places(&self) -> (Vec<Place>, f64) {
        let (mut places, mut at) = (Vec::new(), (0.0, 0.0));
        for mark in &self.legend {
            let wide = 34.0 + width_of(&mark.name, TEXT);
            if at.0 > 0.0 && at.0 + wide > Self::room() {
                at = (0.0, at.1 + LEADING);
            }
            places.push(at);
            at.0 += wide;
        }
        let high = if places.is_empty() { 0.0 } else { at.1 + LEADING };
        (places, high)
    }

    /// Where the content begins.
    fn top(&self) -> f64 {
        MARGIN + TITLE + LEADING * wrapped(&self.about, TEXT, Self::room()).len() as f64 + 14.0
    }

    /// Width and height of the sheet.
    pub fn size(&self) -> Place {
        let notes = wrapped(&self.notes, TEXT, Self::room()).len() as f64;
        let below = 14.0 + self.legend_places().1 + LEADING * notes + LEADING;
        (WIDTH, (self.top() + self.height_of_content() + below + MARGIN / 2.0).ceil())
    }

    pub fn draw(&self, pen: &mut dyn Pen) {
        let (width, height) = self.size();
        let Scheme { ground, ink, soft, .. } = self.scheme;
        pen.fill(&[Rect { left: 0.0, top: 0.0, right: width, bottom: height }], ground);
        let line = |text: &str, at: Place, size: f64, colour: Rgb, bold: bool, pen: &mut dyn Pen| {
            pen.words(&Words { text, at, size, colour, anchor: Anchor::Start, bold });
        };
        line(&self.title, (MARGIN, MARGIN + 0.75 * TITLE), TITLE, ink, true, pen);
        for (at, text) in wrapped(&self.about, TEXT, Self::room()).iter().enumerate() {
            line(text, (MARGIN, MARGIN + TITLE + 16.0 + LEADING * at as f64), TEXT, soft, false, pen);
        }
        let top = self.top();
        let area = Rect { left: MARGIN, top, right: width - MARGIN, bottom: top + self.height_of_content() };
        match &self.content {
            Content::Points(points) => {
                points.draw(pen, &area, &self.scheme);
                let frame = [
                    (area.left, area.top),
                    (area.right, area.top),
                    (area.right, area.bottom),
                    (area.left, area.bottom),
                    (area.left, area.top),
                ];
                pen.stroke(&Stroke { places: &frame, colour: self.scheme.line, width: 1.0, dashed: false });
            }
            Content::Curves(curves) => curves.draw(pen, &area, &self.scheme),
            Content::Plan(plan) => plan.draw(pen, &area, &self.scheme),
        }
        let below = area.bottom + 14.0;
        let high = self.draw_legend(pen, below);
        for (at, text) in wrapped(&self.notes, TEXT, Self::room()).iter().enumerate() {
            line(text, (MARGIN, below + high + 14.0 + LEADING * at as f64), TEXT, ink, false, pen);
        }
        let made = Words {
            text: "Concord",
            at: (width - MARGIN, height - 10.0),
            size: 11.0,
            colour: soft,
            anchor: Anchor::End,
            bold: false,
        };
        pen.words(&made);
    }

    /// Returns how high it is.
    fn draw_legend(&self, pen: &mut dyn Pen, top: f64) -> f64 {
        let (places, high) = self.legend_places();
        pen.begin("legend", None);
        for (mark, (x, y)) in self.legend.iter().zip(places) {
            let (x, y) = (MARGIN + x, top + y + 9.0);
            let colour = mark.colour;
            match mark.shape {
                Shape::Disc | Shape::Diamond => {
                    let radius = if mark.shape == Shape::Diamond { DIAMOND * 4.5 } else { 4.5 };
                    pen.dots(&Dots {
                        places: &[(x + 7.0, y)],
                        shape: mark.shape,
                        radius,
                        colour,
                        opacity: 1.0,
                    });
                }
                Shape::Line | Shape::Dashes => {
                    let places = [(x, y), (x + 15.0, y)];
                    pen.stroke(&Stroke {
                        places: &places,
                        colour,
                        width: 2.0,
                        dashed: mark.shape == Shape::Dashes,
                    });
                }
            }
            let at = (x + 20.0, y + 4.5);
            let colour = self.scheme.ink;
            pen.words(&Words {
                text: &mark.name,
                at,
                size: TEXT,
                colour,
                anchor: Anchor::Start,
                bold: false,
            });
        }
        pen.end();
        high
    }
}

/// A name for a file from what it is of and what it shows: letters and digits of the first, joined by dashes.
pub fn file_name(of: &str, what: &str, ending: &str) -> String {
    let mut name = String::new();
    for letter in of.chars().take(60) {
        match letter {
            letter if letter.is_alphanumeric() => name.extend(letter.to_lowercase()),
            _ if name.ends_with('-') || name.is_empty() => {}
            _ => name.push('-'),
        }
    }
    let name = name.trim_end_matches('-');
    if name.is_empty() { format!("{what}.{ending}") } else { format!("{name}_{what}.{ending}") }
}
