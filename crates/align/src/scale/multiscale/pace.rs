//! Long work in pieces, between which somebody may look or end it.

pub(super) use crate::scale::{Cancelled, Watch};

/// Work between two looks, in products of two numbers: ten to thirty milliseconds.
const PIECE: usize = 120_000_000;
/// What an exponential and its sums take besides the products of two points.
const EXPONENTIAL: usize = 24;

/// Pairs of points of this many dimensions in a piece.
pub(super) fn piece(dim: usize) -> usize {
    PIECE / (dim + EXPONENTIAL)
}

/// Counts work in pairs of points, since there is no clock on every platform, and calls the watch after each piece.
pub(super) struct Pace<'w, W> {
    watch: &'w mut W,
    /// Pairs of points in a piece.
    piece: usize,
    since: usize,
    done: f64,
}

impl<'w, W: Watch> Pace<'w, W> {
    /// For points of this many dimensions.
    pub(super) fn new(watch: &'w mut W, dim: usize) -> Self {
        Self { watch, piece: piece(dim), since: 0, done: 0.0 }
    }

    /// As much work as that many pairs of points was done.
    pub(super) async fn spend(&mut self, pairs: usize) -> Result<(), Cancelled> {
        self.since += pairs;
        if self.since < self.piece {
            return Ok(());
        }
        self.since = 0;
        self.watch.step(self.done).await
    }

    /// Tells what has been reached, if somebody wants to know.
    pub(super) fn tell(&mut self, reached: impl FnOnce() -> Vec<f32>) {
        if self.watch.keeps() {
            self.watch.keep(reached());
        }
    }

    /// The work has come this far.
    pub(super) fn reach(&mut self, done: f64) {
        self.done = self.done.max(done.min(1.0));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::watch::{NoWatch, unwatched};

    /// The result of work that nobody watches.
    pub(in super::super) fn at_once<T>(
        work: impl AsyncFnOnce(&mut Pace<'_, NoWatch>) -> Result<T, Cancelled>,
    ) -> T {
        unwatched(work(&mut Pace::new(&mut NoWatch, 16))).expect("nobody cancels")
    }
}
