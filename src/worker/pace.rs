//! How many steps go into one submit: few enough that the page stays smooth and no watchdog fires, many
//! enough that the cost of submitting disappears.

/// A submit is meant to take about this long.
const TARGET_MS: f64 = 10.0;

/// Finds the number of repeats by watching how long they take.
#[derive(Clone, Debug)]
pub struct Pace {
    repeats: f64,
    most: f64,
}

impl Pace {
    /// Starts with one step a submit; never more than `most`.
    pub fn new(most: u32) -> Self {
        Self { repeats: 1.0, most: f64::from(most.max(1)) }
    }

    pub fn repeats(&self) -> u32 {
        self.repeats as u32
    }

    /// Learns from a submit of [`Pace::repeats`] steps that took `elapsed_ms`. It at most doubles, so
    /// that one lucky measurement cannot cause a long submit, and shrinks at once.
    pub fn learn(&mut self, elapsed_ms: f64) {
        let per_step = (elapsed_ms / self.repeats.floor()).max(1e-3);
        let wanted = TARGET_MS / per_step;
        self.repeats = wanted.min(2.0 * self.repeats).clamp(1.0, self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::Pace;

    /// Plays 30 submits on a device that needs `ms` a step.
    fn settled(ms: f64) -> u32 {
        let mut pace = Pace::new(1000);
        for _ in 0..30 {
            pace.learn(ms * f64::from(pace.repeats()));
        }
        pace.repeats()
    }

    #[test]
    fn settles_near_ten_milliseconds() {
        assert_eq!(settled(1.0), 10);
        assert_eq!(settled(0.1), 100);
        assert_eq!(settled(50.0), 1);
        assert_eq!(settled(0.0), 1000);
    }

    #[test]
    fn grows_step_by_step_and_shrinks_at_once() {
        let mut pace = Pace::new(1000);
        pace.learn(0.01);
        assert_eq!(pace.repeats(), 2);
        for _ in 0..9 {
            pace.learn(0.01);
        }
        assert!(pace.repeats() > 100);
        pace.learn(10_000.0);
        assert_eq!(pace.repeats(), 1);
    }
}
