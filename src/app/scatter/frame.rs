//! From the plane of the points to the pixels of a canvas and back. Plain arithmetic, tested natively.

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

    pub fn contains(&self, (x, y): (f64, f64)) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }

    /// The longer of its sides.
    pub fn extent(&self) -> f64 {
        (self.right - self.left).max(self.bottom - self.top)
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
    /// The frame that shows all of these points (rows of two) in a canvas of this size.
    pub fn around(sets: &[&[f32]], width: f64, height: f64, margin: f64) -> Self {
        let [(left, right), (low, high)] = [0, 1].map(|axis| span(sets, axis));
        let [wide, high_] = [right - left, high - low].map(|extent| extent.max(1e-9));
        let room = [width - 2.0 * margin, height - 2.0 * margin].map(|room| room.max(1.0));
        Self {
            scale: (room[0] / wide).min(room[1] / high_),
            centre: ((left + right) / 2.0, (low + high) / 2.0),
            middle: (width / 2.0, height / 2.0),
        }
    }

    /// Where a point is on the canvas; the second axis points upwards.
    pub fn place(&self, x: f32, y: f32) -> (f64, f64) {
        (
            self.middle.0 + (f64::from(x) - self.centre.0) * self.scale,
            self.middle.1 - (f64::from(y) - self.centre.1) * self.scale,
        )
    }

    /// The point nearest to a place on the canvas, and how far it is; none beyond the reach.
    pub fn nearest(&self, points: &[f32], at: (f64, f64), reach: f64) -> Option<(usize, f64)> {
        let mut best: Option<(usize, f64)> = None;
        for (row, point) in points.chunks_exact(2).enumerate() {
            let (x, y) = self.place(point[0], point[1]);
            let distance = (x - at.0).hypot(y - at.1);
            if distance <= best.map_or(reach, |(_, nearest)| nearest) {
                best = Some((row, distance));
            }
        }
        best
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

    #[test]
    fn all_points_are_visible_and_upright() {
        let frame = Frame::around(&[&SQUARE], 100.0, 60.0, 10.0);
        assert_eq!(frame.place(1.0, 1.0), (50.0, 30.0));
        assert_eq!(frame.place(0.0, 0.0), (30.0, 50.0));
        assert_eq!(frame.place(2.0, 2.0), (70.0, 10.0));
    }

    #[test]
    fn the_nearest_point_is_found_within_reach_only() {
        let frame = Frame::around(&[&SQUARE], 100.0, 60.0, 10.0);
        assert_eq!(frame.nearest(&SQUARE, (68.0, 12.0), 12.0).map(|(row, _)| row), Some(2));
        assert_eq!(frame.nearest(&SQUARE, (50.0, 30.0), 12.0), None);
        assert_eq!(frame.nearest(&[], (50.0, 30.0), 12.0), None);
    }

    #[test]
    fn a_rectangle_selects_what_it_covers() {
        let frame = Frame::around(&[&SQUARE], 100.0, 60.0, 10.0);
        let rect = Rect::between((80.0, 60.0), (60.0, 0.0));
        assert_eq!(frame.inside(&SQUARE, &rect), [false, true, true, false]);
    }

    #[test]
    fn nothing_and_a_single_point_have_a_frame_too() {
        for points in [&[][..], &[3.0, 4.0][..], &[f32::NAN, f32::NAN][..]] {
            let frame = Frame::around(&[points], 100.0, 60.0, 10.0);
            let (x, y) = frame.place(3.0, 4.0);
            assert!(x.is_finite() && y.is_finite());
        }
    }
}
