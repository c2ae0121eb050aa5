//! How values are spread along an axis, and where its marks are. Plain arithmetic, tested natively.

/// How the values are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    Linear,
    Logarithmic,
}

impl Axis {
    /// From where to where an axis goes that shows all of these values.
    pub fn range<'a>(self, lines: impl Iterator<Item = &'a [f32]>) -> (f32, f32) {
        let values = lines.flatten().copied().filter(|value| value.is_finite());
        match self {
            Self::Linear => extent(values),
            Self::Logarithmic => decades(values),
        }
    }

    /// Where a value lies between the ends, from 0 to 1.
    pub fn share(self, value: f32, (low, high): (f32, f32)) -> f64 {
        let [value, low, high] = [value, low, high].map(|v| match self {
            Self::Linear => f64::from(v),
            Self::Logarithmic => f64::from(v.max(f32::MIN_POSITIVE)).log10(),
        });
        ((value - low) / (high - low).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
    }

    /// Round values to be marked, about so many.
    pub fn marks(self, (low, high): (f32, f32), about: usize) -> Vec<f32> {
        match self {
            Self::Linear => {
                let step = round_step((high - low) / about.max(1) as f32);
                let first = (low / step).ceil();
                let last = (high / step * (1.0 + f32::EPSILON)).floor();
                (0..=(last - first).max(0.0) as usize).map(|i| (first + i as f32) * step).collect()
            }
            Self::Logarithmic => {
                let (first, last) = (low.log10().ceil() as i32, high.log10().floor() as i32);
                let every = ((last - first) as usize / about.max(1) + 1).max(1);
                (first..=last).step_by(every).map(|power| 10f32.powi(power)).collect()
            }
        }
    }
}

/// The next step of 1, 2 or 5 times a power of ten.
fn round_step(step: f32) -> f32 {
    let step = step.max(f32::MIN_POSITIVE);
    let power = 10f32.powf(step.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|times| step <= times * power * 1.000_1);
    times.unwrap_or(10.0) * power
}

/// A little more than all values take.
fn extent(values: impl Iterator<Item = f32>) -> (f32, f32) {
    let (low, high) = ends(values);
    if low > high {
        return (0.0, 1.0);
    }
    let room = 0.05 * (high - low).max(1e-3 * high.abs()).max(1e-6);
    (low - room, high + room)
}

/// Whole decades around all values.
fn decades(values: impl Iterator<Item = f32>) -> (f32, f32) {
    let (low, high) = ends(values.filter(|value| *value > 0.0).map(|value| value.max(1e-12)));
    let (low, high) = if low > high { (1e-2, 1.0) } else { (low, high) };
    let (low, high) = (10f32.powf(low.log10().floor()), 10f32.powf(high.log10().ceil()));
    // A little beyond, so that rounding does not push the outermost labels out of sight.
    (0.98 * low, 1.02 * if high > low { high } else { 10.0 * low })
}

fn ends(values: impl Iterator<Item = f32>) -> (f32, f32) {
    values.fold((f32::MAX, f32::MIN), |(low, high), v| (low.min(v), high.max(v)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_inside() {
        assert_eq!(Axis::Linear.marks((0.0, 1.0), 4), [0.0, 0.5, 1.0]);
        assert_eq!(Axis::Linear.marks((-0.03, 0.83), 5), [0.0, 0.2, 0.4, 0.6, 0.8]);
        assert_eq!(Axis::Linear.marks((0.0, 300.0), 5), [0.0, 100.0, 200.0, 300.0]);
        assert_eq!(Axis::Logarithmic.marks((0.000_98, 1.02), 4), [1e-3, 1e-2, 1e-1, 1.0]);
        assert_eq!(Axis::Logarithmic.marks((0.98e-8, 1.02), 4).len(), 3, "of many decades some");
    }

    #[test]
    fn every_value_has_its_place() {
        let lines: [&[f32]; 2] = [&[0.5, f32::NAN, 2.0], &[1.0]];
        let range = Axis::Linear.range(lines.into_iter());
        assert!(range.0 < 0.5 && range.1 > 2.0 && range.0 > 0.4 && range.1 < 2.1, "{range:?}");
        let share = Axis::Linear.share(1.25, range);
        assert!((share - 0.5).abs() < 1e-6, "{share}");
        let range = Axis::Logarithmic.range(lines.into_iter());
        assert_eq!(range, (0.98 * 0.1, 1.02 * 10.0));
        assert!((Axis::Logarithmic.share(1.0, range) - 0.5).abs() < 0.01);
        assert_eq!(Axis::Linear.range(std::iter::empty()), (0.0, 1.0));
        assert!(Axis::Linear.share(f32::INFINITY, (0.0, 1.0)) <= 1.0);
    }
}
