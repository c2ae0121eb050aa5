//! How much of a whole run is done, from the phases it goes through.

use align::procedure::{EncoderChoice, Progress, Settings};

/// The share of a run that is done; it never falls.
pub struct Share {
    /// Shares of the starts, of training, of judging, of fresh fits, and of what is done with all points.
    parts: [f64; 5],
    starts: f64,
    all_starts: f64,
    training: f64,
    /// Transports that were finished after training.
    judged: f64,
    fresh: f64,
    last: f64,
    phase: &'static str,
    most: f64,
}

/// How much of a run before its last part goes into fresh fits, about; and what these are called.
const FRESH: f64 = 0.15;
const MEASURING: &str = "measuring confidence";
/// Alignments without a group, which are compared last.
const LEAVING: &str = "leaving groups out";

/// What is done with all points in the end: its phases, and the share of this part that is done when each begins and ends.
const LAST: [(&str, [f64; 2]); 6] = [
    ("embedding", [0.0, 0.02]),
    ("matching all points", [0.02, MATCHED]),
    ("reading the plan", [MATCHED, 0.85]),
    ("taking figures", [0.85, 0.88]),
    ("checking the plan", [0.88, 0.9]),
    ("drawing the plan", [0.9, 1.0]),
];

/// The share of the last part at whose end all points are matched.
const MATCHED: f64 = 0.7;

impl Share {
    /// The part with all points is foretold to take the share `last`.
    pub fn new(settings: &Settings, last: f64) -> Self {
        let before = match settings.encoder {
            EncoderChoice::Both => [0.35, 0.5, 0.15],
            EncoderChoice::Networks => [0.0, 0.85, 0.15],
            EncoderChoice::Linear => [0.85, 0.0, 0.15],
        };
        let [starts, training, judging] = before.map(|part| part * (1.0 - FRESH) * (1.0 - last));
        let all_starts = settings.starts.len().max(1) as f64;
        Self {
            parts: [starts, training, judging, FRESH * (1.0 - last), last],
            starts: 0.0,
            all_starts,
            training: 0.0,
            judged: 0.0,
            fresh: 0.0,
            last: 0.0,
            phase: "",
            most: 0.0,
        }
    }

    pub fn learn(&mut self, progress: &Progress) {
        let part = f64::from(progress.done) / f64::from(progress.of.max(1));
        if let Some((_, [from, to])) = LAST.iter().find(|(phase, _)| *phase == progress.phase) {
            (self.starts, self.training, self.judged) = (self.all_starts, 1.0, JUDGED);
            self.last = from + (to - from) * part;
            if *from >= MATCHED {
                // A run that ends early makes none.
                self.fresh = 1.0;
            }
        }
        match progress.phase {
            "linear starts" => self.starts = self.starts.floor() + part.min(0.99),
            "training" => (self.starts, self.training) = (self.all_starts, part),
            MEASURING => {
                (self.starts, self.training, self.judged) = (self.all_starts, 1.0, JUDGED);
                self.fresh = self.fresh.max(part);
            }
            LEAVING => {
                (self.starts, self.training) = (self.all_starts, 1.0);
                self.judged = self.judged.max(JUDGED - 1.0 + part);
            }
            _ if self.phase == "linear starts" => self.starts = self.starts.floor() + 1.0,
            _ if self.training > 0.0 && self.phase != progress.phase => self.judged += 1.0,
            _ => {}
        }
        self.phase = progress.phase;
        let judged = (self.judged / JUDGED).min(1.0);
        let done = [self.starts / self.all_starts, self.training, judged, self.fresh, self.last];
        let share: f64 = self.parts.iter().zip(done).map(|(part, done)| part * done.min(1.0)).sum();
        self.most = self.most.max(share.min(0.99));
    }

    pub fn value(&self) -> f64 {
        self.most
    }
}

/// Transports between the judged rows after training, about.
const JUDGED: f64 = 6.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// The phases of a run between many points, each from its beginning to its end.
    #[test]
    fn a_share_never_falls_and_reaches_the_end() {
        let mut share = Share::new(&Settings::default(), 0.4);
        let mut before = 0.0;
        let mut play = |phase: &'static str, least: f64| {
            for done in 1..=10 {
                share.learn(&Progress { phase, done, of: 10 });
                assert!(share.value() >= before, "{phase}");
                before = share.value();
            }
            assert!(before >= least, "{phase}: {before}");
        };
        for _ in 0..8 {
            play("linear starts", 0.0);
            play("matching", 0.0);
        }
        play("training", 0.43);
        play("matching", 0.44);
        play(LEAVING, 0.48);
        play("matching all points", 0.78);
        play(MEASURING, 0.87);
        play("reading the plan", 0.92);
        play("drawing the plan", 0.98);
    }
}
