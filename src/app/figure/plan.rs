//! The transport plan on a sheet: a square of shades, each a shape of its own.

use super::pen::{Anchor, Pen, Words};
use super::sheet::Scheme;
use crate::app::palette::Rgb;
use crate::app::scatter::Rect;

/// A square picture of values from 0 up, rows from the top.
#[derive(Clone, Debug)]
pub struct Plan {
    pub side: usize,
    pub values: Vec<f32>,
}

/// Shades that are told apart: more than eyes do.
const SHADES: usize = 48;
const ABOVE: f64 = 22.0;

impl Plan {
    /// The shade of every entry, 0 for the ground.
    fn shades(&self) -> Vec<usize> {
        let most = self.values.iter().copied().filter(|v| v.is_finite()).fold(f32::MIN_POSITIVE, f32::max);
        // The square root lets small entries be seen beside large ones.
        let shade = |v: &f32| ((v / most).clamp(0.0, 1.0).sqrt() * SHADES as f32).round() as usize;
        self.values.iter().map(shade).collect()
    }

    pub(super) fn draw(&self, pen: &mut dyn Pen, area: &Rect, scheme: &Scheme) {
        if self.side == 0 || self.values.len() != self.side * self.side {
            return;
        }
        let extent = (area.right - area.left).min(area.bottom - area.top - ABOVE);
        let left = (area.left + area.right - extent) / 2.0;
        let square =
            Rect { left, top: area.top + ABOVE, right: left + extent, bottom: area.top + ABOVE + extent };
        let cell = extent / self.side as f64;
        let shades = self.shades();
        let mut areas: Vec<Vec<Rect>> = vec![Vec::new(); SHADES + 1];
        for (row, line) in shades.chunks_exact(self.side).enumerate() {
            // Entries of one shade beside each other are one shape.
            let mut start = 0;
            for run in line.chunk_by(|a, b| a == b) {
                let top = square.top + row as f64 * cell;
                areas[run[0]].push(Rect {
                    left: square.left + start as f64 * cell,
                    top,
                    right: square.left + (start + run.len()) as f64 * cell,
                    bottom: top + cell,
                });
                start += run.len();
            }
        }
        pen.begin("plan", None);
        pen.fill(&[square], scheme.ground);
        for (shade, areas) in areas.iter().enumerate().skip(1).filter(|(_, areas)| !areas.is_empty()) {
            pen.fill(areas, mixed(scheme, shade as f64 / SHADES as f64));
        }
        pen.end();
        let words = [
            ("points of Y →", square.left, Anchor::Start),
            ("points of X ↓", square.left - 8.0, Anchor::End),
        ];
        for (at, (text, x, anchor)) in words.into_iter().enumerate() {
            let y = if at == 0 { square.top - 8.0 } else { square.top + 12.0 };
            pen.words(&Words { text, at: (x, y), size: 12.0, colour: scheme.soft, anchor, bold: false });
        }
    }
}

fn mixed(scheme: &Scheme, share: f64) -> Rgb {
    [0, 1, 2].map(|i| {
        (f64::from(scheme.ground[i]) * (1.0 - share) + f64::from(scheme.ink[i]) * share).round() as u8
    })
}
