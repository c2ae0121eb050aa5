//! How a run is watched, paused and stopped from outside, and how it fails.

use super::selection::Origin;
use crate::geometry::Dense;
use crate::scale::{Cancelled, Watch};
use compute::exec::ExecError;

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

impl From<Cancelled> for Failure {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// Called between submits. It may take its time (a paused run), and it may end the run.
#[allow(async_fn_in_trait)] // Used from one thread only: no `Send` bound is wanted.
pub trait Control {
    async fn checkpoint(&mut self, progress: Progress) -> Result<(), Failure>;

    /// How many steps to submit at a go.
    fn chunk(&self) -> u32 {
        10
    }

    /// New statistics of network training.
    fn statistics(&mut self, _new: Statistics<'_>) {}

    /// Whether somebody wants to see where the map or the first fit puts its points. Asked often; looking costs a read.
    fn curious(&mut self) -> bool {
        false
    }

    /// Where the map or the first fit puts its points, after [`Control::curious`] said yes.
    fn view(&mut self, _view: View<'_>) {}

    /// What an earlier attempt at the same run has told under this name.
    fn recall(&mut self, _what: &str) -> Option<Vec<f32>> {
        None
    }

    /// Whether to tell what has been reached: something that is finished, or a training or a transport in the midst of it.
    /// Asked often; telling costs a read.
    fn keeps(&mut self, _finished: bool) -> bool {
        false
    }

    /// What has been reached, after [`Control::keeps`] said yes. It takes the place of what had this name.
    fn remember(&mut self, _what: &str, _values: Vec<f32>) {}

    /// Whether training is to end now, with what was learned so far.
    fn finish(&self) -> bool {
        false
    }
}

/// Statistics of some steps of a stack of fits.
pub struct Statistics<'a> {
    pub fits: &'a [Origin],
    pub first_step: u32,
    /// Of the whole training.
    pub steps: u32,
    /// Step by step, fit by fit: loss and marginal error.
    pub values: &'a [f32],
    /// ε of each of these steps.
    pub eps: Vec<f32>,
}

/// A linear map, or the first fit of a stack, in the midst of its training.
pub struct View<'a> {
    /// Which rows of both sides it is trained on.
    pub rows: [&'a [usize]; 2],
    /// Where its encoders put them.
    pub embedded: [Dense; 2],
    /// Its plan, and those of the other fits; none where it is too large to be read.
    pub plans: Vec<Dense>,
}

/// Lets a run go on to its end.
pub struct NoControl;

impl Control for NoControl {
    async fn checkpoint(&mut self, _progress: Progress) -> Result<(), Failure> {
        Ok(())
    }
}

/// A run as the watcher of one of its phases.
pub struct Watching<'a, C> {
    control: &'a mut C,
    phase: &'static str,
    /// The name under which the phase tells what it has reached, if it does.
    what: Option<&'static str>,
}

/// A run as the watcher of something that is done on the way and does not count as progress.
pub(super) struct Aside<'a, C> {
    pub(super) control: &'a mut C,
    /// Where the run stands meanwhile.
    pub(super) at: Progress,
}

impl<C: Control> Watch for Aside<'_, C> {
    async fn step(&mut self, _done: f64) -> Result<(), Cancelled> {
        self.control.checkpoint(self.at.clone()).await.map_err(|_| Cancelled)
    }
}

/// Shows nothing of what is only done for comparison, and calls it by one name.
pub(super) struct Quiet<'a, C> {
    control: &'a mut C,
    /// Whether what is reached is told.
    keeping: bool,
    phase: &'static str,
    /// Checkpoints, about, that it takes, and those that were.
    about: u32,
    passed: u32,
}

impl<'a, C: Control> Quiet<'a, C> {
    pub(super) fn new(control: &'a mut C, phase: &'static str, about: u32) -> Self {
        Self { control, keeping: false, phase, about, passed: 0 }
    }

    /// As [`Quiet::new`], of what can be taken up again.
    pub(super) fn keeping(control: &'a mut C, phase: &'static str, about: u32) -> Self {
        Self { keeping: true, ..Self::new(control, phase, about) }
    }
}

impl<C: Control> Control for Quiet<'_, C> {
    async fn checkpoint(&mut self, _progress: Progress) -> Result<(), Failure> {
        self.passed += 1;
        let done = self.about * self.passed / (self.passed + self.about);
        self.control.checkpoint(Progress { phase: self.phase, done, of: self.about }).await
    }

    fn chunk(&self) -> u32 {
        self.control.chunk()
    }

    fn recall(&mut self, what: &str) -> Option<Vec<f32>> {
        if self.keeping { self.control.recall(what) } else { None }
    }

    fn keeps(&mut self, finished: bool) -> bool {
        self.keeping && self.control.keeps(finished)
    }

    fn remember(&mut self, what: &str, values: Vec<f32>) {
        if self.keeping {
            self.control.remember(what, values);
        }
    }
}

/// A phase that only knows its share is told in so many steps.
const STEPS: f64 = 1000.0;

impl<'a, C: Control> Watching<'a, C> {
    pub fn new(control: &'a mut C, phase: &'static str) -> Self {
        Self { control, phase, what: None }
    }

    /// Of a phase that can be taken up from what it tells under a name.
    pub(super) fn telling(control: &'a mut C, phase: &'static str, what: &'static str) -> Self {
        Self { control, phase, what: Some(what) }
    }
}

impl<C: Control> Watch for Watching<'_, C> {
    async fn step(&mut self, done: f64) -> Result<(), Cancelled> {
        let progress = Progress { phase: self.phase, done: (STEPS * done) as u32, of: STEPS as u32 };
        // Nothing but a cancel ends a run from outside.
        self.control.checkpoint(progress).await.map_err(|_| Cancelled)
    }

    fn keeps(&mut self) -> bool {
        self.what.is_some() && self.control.keeps(false)
    }

    fn keep(&mut self, reached: Vec<f32>) {
        if let Some(what) = self.what {
            self.control.remember(what, reached);
        }
    }
}
