//! Waiting that ends, in the page and in the worker.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// What the future gives, or `None` if the timer is over first.
pub(crate) async fn before<T>(timer: impl Future<Output = ()>, future: impl Future<Output = T>) -> Option<T> {
    let (mut future, mut timer) = (pin!(future), pin!(timer));
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => timer.as_mut().poll(context).map(|()| None),
    })
    .await
}
