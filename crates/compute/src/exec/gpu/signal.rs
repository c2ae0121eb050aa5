//! Waiting for the device without blocking a browser thread.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A value that a device callback will deliver. Callbacks may come from another thread natively, from
/// the event loop in a browser.
pub(super) struct Signal<T>(Arc<Mutex<State<T>>>);

struct State<T> {
    value: Option<T>,
    waker: Option<Waker>,
}

impl<T> Clone for Signal<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Signal<T> {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(State { value: None, waker: None })))
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Delivers the value and wakes whoever waits.
    pub(super) fn set(&self, value: T) {
        let mut state = self.state();
        state.value = Some(value);
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }

    /// Waits until the value has come, and leaves it there.
    pub(super) async fn arrived(&self) {
        std::future::poll_fn(|context| {
            let mut state = self.state();
            if state.value.is_some() {
                return Poll::Ready(());
            }
            state.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// The value, if it has come.
    pub(super) fn take(&self) -> Option<T> {
        self.state().value.take()
    }
}

impl<T> Future for Signal<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut state = self.state();
        match state.value.take() {
            Some(value) => Poll::Ready(value),
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
