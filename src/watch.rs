//! How long work on many points is watched and given up, without knowing by whom.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// The work was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The work was cancelled.")]
pub struct Cancelled;

/// Asked every few tens of milliseconds. It may take its time, and it may end the work.
#[allow(async_fn_in_trait)] // Used from one thread only: no `Send` bound is wanted.
pub trait Watch {
    /// `done` is the share of the work, from 0 to 1.
    async fn step(&mut self, done: f64) -> Result<(), Cancelled>;

    /// Whether what has been reached is to be told, so that the work can be taken up from there. Asked often; telling costs
    /// a copy.
    fn keeps(&mut self) -> bool {
        false
    }

    /// What has been reached, after [`Watch::keeps`] said yes.
    fn keep(&mut self, _reached: Vec<f32>) {}
}

/// Lets the work go on to its end.
pub struct NoWatch;

impl Watch for NoWatch {
    async fn step(&mut self, _done: f64) -> Result<(), Cancelled> {
        Ok(())
    }
}

/// Does work that nobody watches, here and now: it never waits for anything.
pub fn unwatched<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return done;
        }
    }
}
