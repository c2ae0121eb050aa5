//! The worker's surroundings: posting to the page, the clock, letting the event loop breathe.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use js_sys::{Function, Promise};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{DedicatedWorkerGlobalScope, MessageChannel};

use crate::protocol::{Event, Message, RunId, pack};

pub(super) fn scope() -> DedicatedWorkerGlobalScope {
    js_sys::global().unchecked_into()
}

/// Sends an event to the page. Its bulk data leaves the module's memory once and is then moved.
pub(super) fn post(run: RunId, body: Event, bulk: Vec<Vec<f32>>) {
    let sent = pack(&Message { run, body, bulk })
        .map_err(|e| JsValue::from(e.to_string()))
        .and_then(|(value, transfer)| scope().post_message_with_transfer(&value, &transfer));
    if let Err(error) = sent {
        // There is nobody else to tell; the page notices by the worker's error event.
        wasm_bindgen::throw_val(error);
    }
}

/// Milliseconds since some fixed moment.
pub(super) fn now() -> f64 {
    scope().performance().map_or_else(js_sys::Date::now, |p| p.now())
}

/// Lets waiting messages be handled. A message to oneself, because timers are held back to four
/// milliseconds.
pub(super) async fn breathe() {
    let promise = Promise::new(&mut |resolve: Function, _| match MessageChannel::new() {
        Ok(channel) => {
            channel.port2().set_onmessage(Some(&resolve));
            // Posting `null` to one's own port cannot fail.
            let _ = channel.port1().post_message(&JsValue::NULL);
        }
        Err(_) => drop(resolve.call0(&JsValue::NULL)),
    });
    // The promise is never rejected.
    let _ = JsFuture::from(promise).await;
}

/// What the future gives, or `None` if that takes longer than `ms` milliseconds.
pub(super) async fn within<T>(ms: i32, future: impl Future<Output = T>) -> Option<T> {
    let (mut future, mut timer) = (pin!(future), pin!(rest(ms)));
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => timer.as_mut().poll(context).map(|()| None),
    })
    .await
}

/// Waits for about `ms` milliseconds.
pub(super) async fn rest(ms: i32) {
    let promise = Promise::new(&mut |resolve: Function, _| {
        if scope().set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, ms).is_err() {
            drop(resolve.call0(&JsValue::NULL));
        }
    });
    let _ = JsFuture::from(promise).await;
}
