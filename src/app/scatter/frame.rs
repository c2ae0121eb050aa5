//! From the plane of the points to the pixels of a canvas and back. Plain arithmetic, tested natively.

use super::Zoom;

/// A rectangle: left, top, right, bottom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Rect {
    /// The rectangle between two corners.
    pub fn between(a: (f64, f64), b: (f64, f64)) -> Self {
        Self { left: a.0.min(b.0), top: a.1.min(b.1), right: a.0.max(b.0), bottom: a.1.max(b.1) }
    }

    /// The same in other units.
    #[must_use]
    pub fn scaled(&self, by: f64) -> Self {
        Self { left: self.left * by, top: self.top * by, right: self.right * by, bottom: self.bottom * by }
    }

    pub fn contains(&self, (x, y): (f64, f64)) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }

    /// The longer of its sides.
    pub fn extent(&self) -> f64 {
        (self.right - self.left).max(self.bottom - self.top)
    }
}

/// From where to where points reach: left, right, low, high.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span([(f64, f64); 2]);

impl Span {
    /// The span of all of these points (rows of two), but for a few outliers.
    pub fn of(sets: &[&[f32]]) -> Self {
        Self([0, 1].map(|axis| span(sets, axis)))
    }
}

/// What is visible: one scale for both axes, the middle of the points in the middle of the canvas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    scale: f64,
    centre: (f64, f64),
    middle: (f64, f64),
}

/// Points beyond this share at each end do not decide what is visible.
const OUTLIERS: f64 = 0.002;

impl Frame {
    /// The frame that shows a whole span in a canvas of this size.
    pub fn around(span: &Span, width: f64, height: f64, margin: f64) -> Self {
        let Span([(left, right), (low, high)]) = *span;
        let [wide, tall] = [right - left, high - low].map(|extent| extent.max(1e-9));
        let room = [width - 2.0 * margin, height - 2.0 * margin].map(|room| room.max(1.0));
        Self {
            scale: (room[0] / wide).min(room[1] / tall),
            centre: ((left + right) / 2.0, (low + high) / 2.0),
            middle: (width / 2.0, height / 2.0),
        }
    }

    /// The same canvas, closer to a part of it.
    pub fn zoomed(&self, zoom: &Zoom) -> Self {
        // The canvas is twice its middle wide.
        let (x, y) = (2.0 * self.middle.0 * zoom.centre.0, 2.0 * self.middle.1 * zoom.centre.1);
        Self { scale: self.scale * zoom.times, centre: self.point((x, y)), middle: self.middle }
    }

    /// Where a point is on the canvas; the second axis points upwards.
    pub fn place(&self, x: f32, y: f32) -> (f64, f64) {
        (
            self.middle.0 + (f64::from(x) - self.centre.0) * self.scale,
            self.middle.1 - (f64::from(y) - self.centre.1) * self.scale,
        )
    }

    /// The point that is at a place on the canvas.
    pub fn point(&self, at: (f64, f64)) -> (f64, f64) {
        (
            self.centre.0 + (at.0 - self.middle.0) / self.scale,
            self.centre.1 - (at.1 - self.middle.1) / self.scale,
        )
    }

    /// How far points are apart that are so many pixels apart.
    pub fn length(&self, pixels: f64) -> f64 {
        pixels / self.scale
    }

    /// Which points are inside a rectangle of the canvas.
    pub fn inside(&self, points: &[f32], rect: &Rect) -> Vec<bool> {
        points.chunks_exact(2).map(|point| rect.contains(self.place(point[0], point[1]))).collect()
    }
}

/// From where to where the points reach along an axis, but for a few outliers.
fn span(sets: &[&[f32]], axis: usize) -> (f64, f64) {
    let mut values: Vec<f32> = sets
        .iter()
        .flat_map(|set| set.chunks_exact(2).map(move |point| point[axis]))
        .filter(|value| value.is_finite())
        .collect();
    if values.is_empty() {
        return (-1.0, 1.0);
    }
    let cut = (values.len() as f64 * OUTLIERS) as usize;
    let last = values.len() - 1;
    let low = *values.select_nth_unstable_by(cut, f32::total_cmp).1;
    let high = *values.select_nth_unstable_by(last - cut, f32::total_cmp).1;
    (f64::from(low), f64::from(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: [f32; 8] = [0.0, 0.0, 2.0, 0.0, 2.0, 2.0, 0.0, 2.0];

    fn whole() -> Frame {
        Frame::around(&Span::of(&[&SQUARE]), 100.0, 60.0, 10.0)
    }

    #[test]
    fn all_points_are_visible_and_upright() {
        let frame = whole();
        assert_eq!(frame.place(1.0, 1.0), (50.0, 30.0));
        assert_eq!(frame.place(0.0, 0.0), (30.0, 50.0));
        assert_eq!(frame.place(2.0, 2.0), (70.0, 10.0));
        assert_eq!(frame.point((70.0, 10.0)), (2.0, 2.0));
    }

    #[test]
    fn a_zoom_keeps_what_is_under_the_pointer_and_the_proportions() {
        let at = (70.0, 10.0);
        let zoom = Zoom::default().about((at.0 / 100.0, at.1 / 60.0), 4.0);
        let frame = whole().zoomed(&zoom);
        let (x, y) = frame.place(2.0, 2.0);
        assert!((x - at.0).abs() < 1e-9 && (y - at.1).abs() < 1e-9, "{x} {y}");
        let (left, low) = frame.place(0.0, 0.0);
        assert!((x - left - 160.0).abs() < 1e-9 && (low - y - 160.0).abs() < 1e-9, "{left} {low}");
    }

    #[test]
    fn a_rectangle_selects_what_it_covers() {
        let rect = Rect::between((80.0, 60.0), (60.0, 0.0));
        assert_eq!(whole().inside(&SQUARE, &rect), [false, true, true, false]);
    }

    #[test]
    fn nothing_and_a_single_point_have_a_frame_too() {
        for points in [&[][..], &[3.0, 4.0][..], &[f32::NAN, f32::NAN][..]] {
            let frame = Frame::around(&Span::of(&[points]), 100.0, 60.0, 10.0);
            let (x, y) = frame.place(3.0, 4.0);
            assert!(x.is_finite() && y.is_finite());
        }
    }
}
