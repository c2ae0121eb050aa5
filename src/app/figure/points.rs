//! The points of a view on a sheet.

use std::collections::BTreeMap;

use super::pen::{DIAMOND, Dots, Pen, Place, Shape, Stroke};
use super::sheet::Scheme;
use crate::app::palette::{OPACITY, Rgb};
use crate::app::scatter::raster::{Raster, Stamp};
use crate::app::scatter::{Frame, Rect, Span, Zoom};

/// Points of both sides; a side that is not to be seen is empty.
#[derive(Clone, Debug, Default)]
pub struct Points {
    /// Rows of two.
    pub sides: [Vec<f32>; 2],
    /// One a point.
    pub colours: [Vec<Rgb>; 2],
    /// Which are selected; empty when nothing is.
    pub selected: [Vec<bool>; 2],
    /// Rows of X and of Y that are joined by lines.
    pub joined: Vec<(usize, usize)>,
    pub zoom: Zoom,
}

/// With more points in sight than this they become a picture: a file of so many shapes is no longer handy.
pub const MANY: usize = 20_000;
/// The radius of a point, and the room around them.
const SMALLEST: f64 = 1.2;
const LARGEST: f64 = 4.0;
const MARGIN: f64 = 14.0;
/// Points that are not selected while others are.
const FAINT: f64 = 0.12;
/// Pixels of a picture for each unit of the sheet.
const FINE: f64 = 3.0;

const SHAPES: [Shape; 2] = [Shape::Disc, Shape::Diamond];

/// Points that look the same.
type Look = (bool, usize, Rgb);

impl Points {
    /// The frame of the whole sheet in which an area shows these points.
    fn frame(&self, area: &Rect) -> Frame {
        let span = Span::of(&[&self.sides[0], &self.sides[1]]);
        let (width, height) = (area.right - area.left, area.bottom - area.top);
        Frame::around(&span, width, height, MARGIN).zoomed(&self.zoom)
    }

    fn place(&self, frame: &Frame, area: &Rect, side: usize, row: usize) -> Option<Place> {
        let point = self.sides[side].get(2 * row..2 * row + 2)?;
        let (x, y) = frame.place(point[0], point[1]);
        let place = (area.left + x, area.top + y);
        area.contains(place).then_some(place)
    }

    /// Those in sight by how they look; what is selected comes last, and lies on top.
    fn looks(&self, frame: &Frame, area: &Rect) -> BTreeMap<Look, Vec<Place>> {
        let mut looks: BTreeMap<Look, Vec<Place>> = BTreeMap::new();
        for side in [0, 1] {
            for (row, colour) in self.colours[side].iter().enumerate() {
                let chosen = &self.selected[side];
                let bright = chosen.is_empty() || chosen.get(row).copied().unwrap_or(false);
                if let Some(place) = self.place(frame, area, side, row) {
                    looks.entry((bright, side, *colour)).or_default().push(place);
                }
            }
        }
        looks
    }

    pub(super) fn draw(&self, pen: &mut dyn Pen, area: &Rect, scheme: &Scheme) {
        let frame = self.frame(area);
        let looks = self.looks(&frame, area);
        let count: usize = looks.values().map(Vec::len).sum();
        let radius = (90.0 / (count.max(1) as f64).sqrt()).clamp(SMALLEST, LARGEST);
        let opacity = |bright: bool| if bright { OPACITY } else { FAINT };
        pen.begin("points", Some(area));
        for &(x, y) in &self.joined {
            let ends = [self.place(&frame, area, 0, x), self.place(&frame, area, 1, y)];
            if let [Some(from), Some(to)] = ends {
                pen.stroke(&Stroke { places: &[from, to], colour: scheme.line, width: 0.7, dashed: false });
            }
        }
        if count > MANY {
            let (wide, high) = (FINE * (area.right - area.left), FINE * (area.bottom - area.top));
            let mut raster = Raster::new(wide as usize, high as usize, scheme.ground);
            for ((bright, side, colour), places) in &looks {
                let make = [Stamp::disc, Stamp::diamond][*side];
                let stamp = make(FINE * radius, opacity(*bright));
                for (x, y) in places {
                    raster.stamp(&stamp, (FINE * (x - area.left), FINE * (y - area.top)), *colour);
                }
            }
            pen.picture(area, &raster);
        } else {
            for ((bright, side, colour), places) in &looks {
                let shape = SHAPES[*side];
                let radius = if shape == Shape::Diamond { DIAMOND * radius } else { radius };
                pen.dots(&Dots { places, shape, radius, colour: *colour, opacity: opacity(*bright) });
            }
        }
        pen.end();
    }
}
