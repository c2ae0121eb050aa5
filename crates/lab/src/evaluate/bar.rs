//! A progress bar on one line of the terminal, and where the time went.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use align::procedure::{Control, Failure, Progress};

pub struct Bar {
    label: String,
    drawn: Instant,
    checked: Instant,
    /// Seconds between checkpoints, by what was being done.
    spent: Vec<(&'static str, f64)>,
    terminal: bool,
}

impl Bar {
    pub fn new(label: String) -> Self {
        let now = Instant::now();
        Self { label, drawn: now, checked: now, spent: Vec::new(), terminal: std::io::stderr().is_terminal() }
    }

    pub fn clear(&self) {
        if self.terminal {
            eprint!("\r{:78}\r", "");
        }
    }

    /// Where the time went, in words.
    pub fn phases(&self) -> String {
        let phases: Vec<String> = self.spent.iter().map(|(phase, s)| format!("{phase} {s:.2} s")).collect();
        phases.join(", ")
    }
}

impl Control for Bar {
    async fn checkpoint(&mut self, progress: Progress) -> Result<(), Failure> {
        let seconds = self.checked.elapsed().as_secs_f64();
        self.checked = Instant::now();
        match self.spent.iter_mut().find(|(phase, _)| *phase == progress.phase) {
            Some((_, total)) => *total += seconds,
            None => self.spent.push((progress.phase, seconds)),
        }
        if self.terminal && self.drawn.elapsed() > Duration::from_millis(100) {
            self.drawn = Instant::now();
            let filled = (20 * progress.done / progress.of.max(1)).min(20) as usize;
            let bar = format!("{}{}", "█".repeat(filled), "░".repeat(20 - filled));
            eprint!("\r{} {bar} {:<30}", self.label, progress.phase);
            let _ = std::io::stderr().flush();
        }
        Ok(())
    }
}
