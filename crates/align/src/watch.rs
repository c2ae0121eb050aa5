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

/// Counts the looks, and ends the work at one of them.
#[cfg(any(test, feature = "testing"))]
#[derive(Default)]
pub struct Count {
    pub seen: usize,
    end: Option<usize>,
}

#[cfg(any(test, feature = "testing"))]
impl Count {
    /// How many looks work takes, which ends at once at whichever of them it is given up.
    pub fn looks<T: std::fmt::Debug, E: std::fmt::Debug>(
        mut work: impl AsyncFnMut(&mut Self) -> Result<T, E>,
    ) -> usize {
        let mut whole = Self::default();
        unwatched(work(&mut whole)).expect("nobody gives it up");
        for end in (0..whole.seen).step_by(whole.seen / 4 + 1) {
            let mut ended = Self { seen: 0, end: Some(end) };
            unwatched(work(&mut ended)).expect_err("given up");
            assert_eq!(ended.seen, end + 1, "nothing runs on");
        }
        whole.seen
    }
}

#[cfg(any(test, feature = "testing"))]
impl Watch for Count {
    async fn step(&mut self, done: f64) -> Result<(), Cancelled> {
        assert!((0.0..=1.0).contains(&done), "a share of {done}");
        self.seen += 1;
        if self.end.is_some_and(|end| self.seen > end) { Err(Cancelled) } else { Ok(()) }
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
