//! Measuring time and memory.

use std::time::Instant;

/// Seconds of several repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    pub median: f64,
    pub least: f64,
}

impl Timing {
    /// Panics without any repeat.
    pub fn of(mut seconds: Vec<f64>) -> Self {
        seconds.sort_by(f64::total_cmp);
        let middle = seconds.len() / 2;
        let median = if seconds.len() % 2 == 1 {
            seconds[middle]
        } else {
            0.5 * (seconds[middle - 1] + seconds[middle])
        };
        Self { median, least: seconds[0] }
    }

    /// What one of `count` additional parts takes, from a longer and a shorter run.
    pub fn per_part(longer: Self, shorter: Self, count: u32) -> Self {
        let part = |longer: f64, shorter: f64| (longer - shorter) / f64::from(count);
        Self { median: part(longer.median, shorter.median), least: part(longer.least, shorter.least) }
    }
}

/// How long something takes, in seconds, and what it returns.
pub fn seconds<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64(), result)
}

/// The most memory this process has had resident so far; only Linux tells.
pub fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024.0 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_and_even_numbers_of_repeats() {
        assert_eq!(Timing::of(vec![3.0, 1.0, 9.0]), Timing { median: 3.0, least: 1.0 });
        assert_eq!(Timing::of(vec![4.0, 2.0]), Timing { median: 3.0, least: 2.0 });
        let (long, short) = (Timing::of(vec![5.0]), Timing::of(vec![3.0]));
        assert_eq!(Timing::per_part(long, short, 10), Timing { median: 0.2, least: 0.2 });
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_is_told_on_linux() {
        assert!(peak_memory_mb().is_some_and(|mb| mb > 0.1 && mb < 1e6));
    }
}
