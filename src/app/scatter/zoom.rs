//! How near a view is and at what it looks, in shares of its canvas: the same on every screen.

/// A departure from the view that shows everything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zoom {
    /// How much larger everything is.
    pub times: f64,
    /// What of the whole view is in the middle: (½, ½) where nothing was moved.
    pub centre: (f64, f64),
}

impl Default for Zoom {
    fn default() -> Self {
        Self { times: 1.0, centre: (0.5, 0.5) }
    }
}

/// A step of a button or a key.
pub const STEP: f64 = 1.5;
/// Far enough away for outliers to be seen, near enough for any two points to part.
const RANGE: (f64, f64) = (0.2, 200.0);
/// How far beyond the edge of the whole view the middle may go.
const BEYOND: f64 = 0.5;

impl Zoom {
    pub fn is_whole(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it can come no nearer, and go no farther away.
    pub fn at_end(&self) -> (bool, bool) {
        (self.times >= RANGE.1, self.times <= RANGE.0)
    }

    /// So many times nearer; what is at this place of the canvas stays there.
    #[must_use]
    pub fn about(self, at: (f64, f64), by: f64) -> Self {
        let times = (self.times * by).clamp(RANGE.0, RANGE.1);
        let shift = |centre: f64, at: f64| centre + (at - 0.5) * (1.0 / self.times - 1.0 / times);
        Self { times, centre: (shift(self.centre.0, at.0), shift(self.centre.1, at.1)) }.held()
    }

    /// Everything moves by this share of the canvas.
    #[must_use]
    pub fn moved(self, by: (f64, f64)) -> Self {
        let centre = (self.centre.0 - by.0 / self.times, self.centre.1 - by.1 / self.times);
        Self { centre, ..self }.held()
    }

    /// Nobody gets lost beyond the edge.
    fn held(self) -> Self {
        let hold = |v: f64| v.clamp(-BEYOND, 1.0 + BEYOND);
        Self { centre: (hold(self.centre.0), hold(self.centre.1)), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where on the canvas a place of the whole view is.
    fn shown(zoom: Zoom, place: f64) -> f64 {
        0.5 + (place - zoom.centre.0) * zoom.times
    }

    #[test]
    fn nearer_and_back_is_where_it_began() {
        let near = Zoom::default().about((0.2, 0.9), 3.0);
        assert!((shown(near, 0.2) - 0.2).abs() < 1e-12);
        assert!(!near.is_whole());
        let back = near.about((0.2, 0.9), 1.0 / 3.0);
        assert!((back.times - 1.0).abs() < 1e-12 && (back.centre.0 - 0.5).abs() < 1e-12);
    }

    #[test]
    fn moving_follows_the_hand_at_any_zoom() {
        let near = Zoom::default().about((0.5, 0.5), 8.0);
        assert!((shown(near.moved((0.25, 0.0)), 0.5) - 0.75).abs() < 1e-12);
    }

    #[test]
    fn there_is_a_nearest_a_farthest_and_an_edge() {
        assert_eq!(Zoom::default().about((0.5, 0.5), 1e9).times, RANGE.1);
        assert_eq!(Zoom::default().about((0.5, 0.5), 1e-9).times, RANGE.0);
        assert_eq!(Zoom::default().at_end(), (false, false));
        let pressed = (0..40).fold(Zoom::default(), |zoom, _| zoom.about((0.5, 0.5), STEP));
        assert_eq!((pressed.at_end(), pressed.times), ((true, false), 200.0));
        assert_eq!(Zoom::default().moved((-99.0, 99.0)).centre, (1.5, -0.5));
    }
}
