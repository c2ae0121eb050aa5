//! How long drawing takes and how evenly frames come, as numbers. Tested natively.

/// Durations of one kind of work, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    pub count: u32,
    pub total: f64,
    pub worst: f64,
}

impl Tally {
    pub fn add(&mut self, ms: f64) {
        self.count += 1;
        self.total += ms;
        self.worst = self.worst.max(ms);
    }

    pub fn mean(&self) -> f64 {
        self.total / f64::from(self.count.max(1))
    }
}

/// Times between animation frames.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gaps {
    last: Option<f64>,
    gaps: Vec<f64>,
}

/// After so many gaps (a quarter of an hour) nothing more is learned.
const ENOUGH: usize = 54_000;

impl Gaps {
    /// A frame at this time, in milliseconds.
    pub fn frame(&mut self, now: f64) {
        if let Some(last) = self.last
            && self.gaps.len() < ENOUGH
        {
            self.gaps.push(now - last);
        }
        self.last = Some(now);
    }

    /// Nobody looks for a while; the time until the next frame is no gap.
    pub fn rest(&mut self) {
        self.last = None;
    }

    pub fn count(&self) -> usize {
        self.gaps.len()
    }

    pub fn median(&self) -> f64 {
        let mut sorted = self.gaps.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }

    pub fn longest(&self) -> f64 {
        self.gaps.iter().copied().fold(0.0, f64::max)
    }

    /// How many are longer than this.
    pub fn longer(&self, ms: f64) -> usize {
        self.gaps.iter().filter(|gap| **gap > ms).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_summed_up() {
        let mut tally = Tally::default();
        assert_eq!(tally.mean(), 0.0);
        for ms in [2.0, 9.0, 4.0] {
            tally.add(ms);
        }
        assert_eq!((tally.count, tally.mean(), tally.worst), (3, 5.0, 9.0));
    }

    #[test]
    fn gaps_are_between_frames_and_not_across_a_rest() {
        let mut gaps = Gaps::default();
        for now in [0.0, 16.0, 33.0, 133.0] {
            gaps.frame(now);
        }
        gaps.rest();
        for now in [9000.0, 9015.0] {
            gaps.frame(now);
        }
        assert_eq!((gaps.count(), gaps.median(), gaps.longest(), gaps.longer(50.0)), (4, 17.0, 100.0, 1));
        assert_eq!(Gaps::default().median(), 0.0);
    }
}
