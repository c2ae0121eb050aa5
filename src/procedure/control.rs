//! How a run is watched, paused and stopped from outside, and how it fails.

use crate::exec::ExecError;

/// Where a run stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// What is being done, in words.
    pub phase: &'static str,
    /// Steps done and steps in all, of this phase.
    pub done: u32,
    pub of: u32,
}

/// Why a procedure ended without an alignment.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Failure {
    #[error("{0}")]
    Device(#[from] ExecError),
    #[error("The run was cancelled.")]
    Cancelled,
    #[error("Training broke down at step {step}: {cause}")]
    Diverged { step: u32, cause: String },
    #[error("{0}")]
    Input(String),
}

/// Called between submits. It may take its time (a paused run), and it may end the run.
#[allow(async_fn_in_trait)] // Used from one thread only: no `Send` bound is wanted.
pub trait Control {
    async fn checkpoint(&mut self, progress: Progress) -> Result<(), Failure>;

    /// How many steps to submit at a go.
    fn chunk(&self) -> u32 {
        10
    }
}

/// Lets a run go on to its end.
pub struct NoControl;

impl Control for NoControl {
    async fn checkpoint(&mut self, _progress: Progress) -> Result<(), Failure> {
        Ok(())
    }
}
