//! From point to point by keyboard: the next one in a direction, or the next row. Plain arithmetic, tested natively.

use super::Frame;
use schema::Side;

/// A point by its side and its row.
pub type Point = (Side, usize);

/// Where an arrow key points to on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Left,
    Right,
    Up,
    Down,
}

impl Way {
    /// The way of a key, by the name browsers give it.
    pub fn of_key(key: &str) -> Option<Self> {
        match key {
            "ArrowLeft" => Some(Self::Left),
            "ArrowRight" => Some(Self::Right),
            "ArrowUp" => Some(Self::Up),
            "ArrowDown" => Some(Self::Down),
            _ => None,
        }
    }

    /// How far along the way, and how far beside it, a place is that lies so far to the right and below.
    fn along(self, right: f64, below: f64) -> (f64, f64) {
        match self {
            Self::Left => (-right, below.abs()),
            Self::Right => (right, below.abs()),
            Self::Up => (-below, right.abs()),
            Self::Down => (below, right.abs()),
        }
    }
}

/// The points of both sides, rows of two; a side that is not to be seen is empty.
#[derive(Clone, Copy)]
pub struct Points<'a>(pub [&'a [f32]; 2]);

impl Points<'_> {
    /// Where a point is on the canvas.
    pub fn place(&self, frame: &Frame, (side, row): Point) -> Option<(f64, f64)> {
        let point = self.0[side.index()].get(2 * row..2 * row + 2)?;
        let (x, y) = frame.place(point[0], point[1]);
        (x.is_finite() && y.is_finite()).then_some((x, y))
    }

    fn places<'b>(&'b self, frame: &'b Frame) -> impl Iterator<Item = (Point, (f64, f64))> + 'b {
        Side::BOTH.into_iter().flat_map(move |side| {
            let rows = 0..self.0[side.index()].len() / 2;
            rows.filter_map(move |row| Some(((side, row), self.place(frame, (side, row))?)))
        })
    }

    /// The point that is nearest to a place of the canvas, however far.
    pub fn nearest(&self, frame: &Frame, at: (f64, f64)) -> Option<Point> {
        let far = |(x, y): (f64, f64)| (x - at.0).hypot(y - at.1);
        self.places(frame).min_by(|a, b| far(a.1).total_cmp(&far(b.1))).map(|(point, _)| point)
    }

    /// The next point in a direction: not more beside the way than along it, and of those the nearest, where a step
    /// aside counts twice. Points at the very same place are not in any direction; [`Self::row`] gets to them.
    pub fn next(&self, frame: &Frame, from: Point, way: Way) -> Option<Point> {
        let (x, y) = self.place(frame, from)?;
        let steps = self.places(frame).filter_map(|(point, place)| {
            let (along, beside) = way.along(place.0 - x, place.1 - y);
            (along > 1e-6 && beside <= along).then_some((along + 2.0 * beside, point))
        });
        steps.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, point)| point)
    }

    /// The next row of the same side, or the one before, around the end.
    pub fn row(&self, frame: &Frame, (side, row): Point, back: bool) -> Option<Point> {
        let count = self.0[side.index()].len() / 2;
        let step = if back { count.checked_sub(1)? } else { 1 };
        let rows = (1..=count).map(|times| (side, (row + times * step) % count));
        // Points that are not finite are nowhere to be seen.
        rows.into_iter().find(|point| self.place(frame, *point).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::scatter::Span;

    /// X on a cross, Y a little off it; the second axis points upwards.
    const X: [f32; 10] = [0.0, 0.0, 2.0, 0.0, -2.0, 0.0, 0.0, 2.0, 0.0, -2.0];
    const Y: [f32; 4] = [1.0, 0.2, f32::NAN, 0.0];

    fn frame() -> Frame {
        Frame::around(&Span::of(&[&X]), 100.0, 100.0, 10.0)
    }

    #[test]
    fn arrows_go_to_what_lies_that_way() {
        let (points, frame, middle) = (Points([&X, &Y]), frame(), (Side::X, 0));
        for (way, to) in [
            (Way::Right, (Side::Y, 0)),
            (Way::Left, (Side::X, 2)),
            (Way::Up, (Side::X, 3)),
            (Way::Down, (Side::X, 4)),
        ] {
            assert_eq!(points.next(&frame, middle, way), Some(to), "{way:?}");
        }
        assert_eq!(points.next(&frame, (Side::X, 1), Way::Right), None, "nothing lies farther");
        assert_eq!(Points([&X, &[]]).next(&frame, middle, Way::Right), Some((Side::X, 1)));
    }

    #[test]
    fn every_row_is_reached_in_either_direction() {
        // All at one place: no arrow leads away.
        let same = [1.0f32; 8];
        let (points, frame) = (Points([&same, &Y]), frame());
        assert_eq!(points.next(&frame, (Side::X, 0), Way::Up), None);
        for back in [false, true] {
            let mut at = (Side::X, 2);
            let mut seen = vec![at.1];
            for _ in 0..3 {
                at = points.row(&frame, at, back).expect("a row");
                seen.push(at.1);
            }
            seen.sort_unstable();
            assert_eq!(seen, [0, 1, 2, 3]);
        }
        assert_eq!(
            points.row(&frame, (Side::Y, 0), false),
            Some((Side::Y, 0)),
            "one that is nowhere is passed"
        );
        assert_eq!(Points([&[], &[]]).row(&frame, (Side::X, 0), false), None);
        assert_eq!(Points([&[], &[]]).row(&frame, (Side::X, 0), true), None);
    }

    #[test]
    fn the_middle_is_a_place_to_start_from() {
        let (points, frame) = (Points([&X, &Y]), frame());
        assert_eq!(points.nearest(&frame, (50.0, 50.0)), Some((Side::X, 0)));
        assert_eq!(points.nearest(&frame, (1e4, 50.0)), Some((Side::X, 1)), "however far");
        assert_eq!(Points([&[], &[]]).nearest(&frame, (0.0, 0.0)), None);
    }
}
