//! How many steps go into one submit: few enough that the page stays smooth and no watchdog fires, many
//! enough that the cost of submitting disappears.

/// The work of a submit is meant to take about this long.
const TARGET_MS: f64 = 10.0;

/// Finds the number of repeats by watching how long submits take.
///
/// What a submit takes is `latency + repeats · step`. Only the second part is work: some browsers tell
/// of a finished submit a tenth of a second late, however small it was, and taking that for work would
/// keep them at one step a submit for ever. So the two parts are told apart by comparing with the
/// fastest submit seen.
#[derive(Clone, Debug)]
pub struct Pace {
    repeats: f64,
    most: f64,
    /// The fastest submit so far: its repeats and its milliseconds.
    fastest: Option<(f64, f64)>,
    /// Milliseconds a step, as estimated; zero until two different submits could be compared.
    step_ms: f64,
}

impl Pace {
    /// Starts with one step a submit; never more than `most`.
    pub fn new(most: u32) -> Self {
        Self { repeats: 1.0, most: f64::from(most.max(1)), fastest: None, step_ms: 0.0 }
    }

    pub fn repeats(&self) -> u32 {
        self.repeats as u32
    }

    /// Learns from a submit of `repeats` steps that took `elapsed_ms` to its end. The number at most
    /// doubles, so that one lucky measurement cannot cause a long submit, and shrinks at once.
    pub fn learn(&mut self, repeats: u32, elapsed_ms: f64) {
        let repeats = f64::from(repeats.max(1));
        let fastest = match self.fastest {
            Some(fastest) if fastest.1 <= elapsed_ms => fastest,
            _ => (repeats, elapsed_ms),
        };
        self.fastest = Some(fastest);
        if repeats > fastest.0 {
            let step_ms = (elapsed_ms - fastest.1) / (repeats - fastest.0);
            self.step_ms = if self.step_ms == 0.0 { step_ms } else { 0.5 * (self.step_ms + step_ms) };
        } else {
            // Nothing to compare with; slowly forget, so that a larger submit is tried again some day.
            self.step_ms *= 0.98;
        }
        let wanted = if self.step_ms > 0.0 { TARGET_MS / self.step_ms } else { f64::INFINITY };
        self.repeats = wanted.min(2.0 * self.repeats).clamp(1.0, self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::Pace;

    /// The repeats of each of 60 submits on a device with this latency and time a step.
    fn play(latency: f64, step: f64) -> Vec<u32> {
        let mut pace = Pace::new(1000);
        (0..60)
            .map(|_| {
                let repeats = pace.repeats();
                pace.learn(repeats, latency + step * f64::from(repeats));
                repeats
            })
            .collect()
    }

    #[test]
    fn settles_near_ten_milliseconds_of_work() {
        for (latency, step) in [(0.0, 1.0), (0.2, 0.1), (100.0, 0.1), (100.0, 1.0)] {
            let last = *play(latency, step).last().expect("played");
            let work = f64::from(last) * step;
            assert!((8.0..=13.0).contains(&work), "{latency} + {step}·r: {last} repeats");
        }
        assert_eq!(play(100.0, 0.0).last(), Some(&1000), "all latency: as many as allowed");
    }

    #[test]
    fn a_slow_device_is_not_flooded() {
        let played = play(1.0, 50.0);
        assert!(played.iter().all(|r| *r <= 2));
        let twos = played.iter().filter(|r| **r == 2).count();
        assert!(twos <= 3, "tried larger submits {twos} times of 60");
    }

    #[test]
    fn grows_step_by_step_and_shrinks_at_once() {
        let mut pace = Pace::new(1000);
        pace.learn(1, 0.01);
        assert_eq!(pace.repeats(), 2);
        for _ in 0..9 {
            pace.learn(pace.repeats(), 0.01);
        }
        assert!(pace.repeats() > 100);
        pace.learn(pace.repeats(), 100_000.0);
        assert_eq!(pace.repeats(), 1);
    }
}
