//! Timeouts: waits that end, in the page, in the worker and for a device.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// What the future gives, or `None` if the timer ends first.
pub async fn before<T>(timer: impl Future<Output = ()>, future: impl Future<Output = T>) -> Option<T> {
    let (mut future, mut timer) = (pin!(future), pin!(timer));
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => timer.as_mut().poll(context).map(|()| None),
    })
    .await
}

/// Waits for about so many milliseconds, in a page or in a worker: every global that runs modules has timers.
#[cfg(target_arch = "wasm32")]
pub async fn sleep(ms: i32) {
    use js_sys::{Function, Promise, Reflect};
    use wasm_bindgen::JsCast;

    let slept = Promise::new(&mut |resolve, _| {
        let global = js_sys::global();
        let timer = Reflect::get(&global, &"setTimeout".into()).and_then(JsCast::dyn_into::<Function>);
        let _ = timer.and_then(|timer| timer.call2(&global, &resolve, &ms.into()));
    });
    // Nothing rejects it.
    let _ = wasm_bindgen_futures::JsFuture::from(slept).await;
}
