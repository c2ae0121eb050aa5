//! The two executors that play a plan: [`cpu`] with the kernels' Rust twins, [`gpu`] with their WGSL.
//!
//! Nothing here knows what a plan computes. Only `exec/gpu*` names wgpu, and without the `gpu` feature
//! no GPU crate is compiled.

pub mod cpu;
mod error;
#[cfg(feature = "gpu")]
pub mod gpu;
mod open;

pub use cpu::CpuExecutor;
pub use error::ExecError;
#[cfg(feature = "gpu")]
pub use gpu::{GpuDevice, GpuExecutor};
pub use open::{AdapterFacts, AnyExecutor, Device, Opened, Preference, Reason};

use crate::plan::{BufId, PassId};

/// Statistics that became visible since the last look: `columns` values for each of the steps
/// `first_step .. first_step + rows`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// How many steps the device had finished.
    pub step: u32,
    pub first_step: u32,
    pub columns: u32,
    pub values: Vec<f32>,
}

impl Stats {
    /// Both together, where `later` goes on from here. After a gap (rows that the ring overwrote) only
    /// what follows it can be told.
    #[cfg(feature = "gpu")]
    fn followed_by(mut self, later: Stats) -> Stats {
        if self.step != later.first_step {
            return later;
        }
        self.values.extend(later.values);
        Stats { step: later.step, ..self }
    }
}

/// A prepared plan that can be played.
///
/// Submitting never waits. Reading waits, and is for the end of a run; during it [`Executor::stats`]
/// tells what has arrived so far.
#[allow(async_fn_in_trait)] // Used from one thread only: no `Send` bound is wanted.
pub trait Executor {
    /// Replaces the contents of a buffer, all of them.
    fn write(&mut self, buf: BufId, data: &[f32]) -> Result<(), ExecError>;

    /// Plays a pass `repeats` times.
    fn submit(&mut self, pass: PassId, repeats: u32) -> Result<(), ExecError>;

    /// Waits until at most `in_flight` submits are unfinished. After `settle(0)` the next
    /// [`Executor::stats`] tells everything up to the last submit.
    async fn settle(&mut self, in_flight: u32) -> Result<(), ExecError>;

    /// What the statistics ring has gained, if anything arrived since the last call.
    fn stats(&mut self) -> Result<Option<Stats>, ExecError>;

    /// Waits for everything submitted and returns the contents of a buffer.
    async fn read(&mut self, buf: BufId) -> Result<Vec<f32>, ExecError>;
}

/// Keeps track of which statistics the host has already seen.
#[derive(Debug, Default)]
struct StatsCursor {
    seen: u32,
}

impl StatsCursor {
    /// The rows of `ring` that are new when the device's counter stands at `step`. Rows that the ring
    /// has already overwritten are gone; the gap shows in `first_step`.
    fn advance(&mut self, ring: &[f32], columns: u32, rows: u32, step: u32) -> Option<Stats> {
        if step <= self.seen {
            return None;
        }
        let first_step = self.seen.max(step.saturating_sub(rows));
        let width = columns as usize;
        let values =
            (first_step..step).flat_map(|s| &ring[(s % rows) as usize * width..][..width]).copied().collect();
        self.seen = step;
        Some(Stats { step, first_step, columns, values })
    }
}

#[cfg(test)]
mod tests {
    use super::{Stats, StatsCursor};

    #[test]
    #[cfg(feature = "gpu")]
    fn statistics_are_joined_unless_there_is_a_gap() {
        let part = |first_step, step: u32, value: f32| Stats {
            step,
            first_step,
            columns: 1,
            values: vec![value; (step - first_step) as usize],
        };
        let joined = part(0, 2, 1.0).followed_by(part(2, 3, 2.0));
        assert_eq!((joined.first_step, joined.step, joined.values), (0, 3, vec![1.0, 1.0, 2.0]));
        assert_eq!(part(0, 2, 1.0).followed_by(part(5, 6, 2.0)), part(5, 6, 2.0));
    }

    #[test]
    fn cursor_reports_each_row_once_and_skips_overwritten_ones() {
        let mut cursor = StatsCursor::default();
        let ring = [10.0, 11.0, 12.0, 13.0];
        assert_eq!(cursor.advance(&ring, 1, 4, 0), None);
        assert_eq!(cursor.advance(&ring, 1, 4, 3).map(|s| s.values), Some(vec![10.0, 11.0, 12.0]));
        assert_eq!(cursor.advance(&ring, 1, 4, 3), None);
        // Steps 3 to 9 have passed; the ring still has 6 to 9, in rows 2, 3, 0, 1.
        let stats = cursor.advance(&ring, 1, 4, 10).expect("new rows");
        assert_eq!((stats.first_step, stats.values), (6, vec![12.0, 13.0, 10.0, 11.0]));
    }
}
