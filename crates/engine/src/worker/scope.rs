//! The worker's surroundings: posting to the page, the clock, letting the event loop breathe.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use js_sys::{Function, Promise};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{DedicatedWorkerGlobalScope, MessageChannel, MessagePort};

use schema::{Event, Message, RunId, pack};

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
    let promise = Promise::new(&mut |resolve: Function, _| {
        if !OWN.with(|own| own.as_ref().is_ok_and(|own| own.call_back(&resolve))) {
            drop(resolve.call0(&JsValue::NULL));
        }
    });
    // The promise is never rejected.
    let _ = JsFuture::from(promise).await;
}

thread_local! {
    static OWN: Result<OwnPost, JsValue> = OwnPost::new();
}

/// Messages to oneself, all through one channel: a channel for each would stay until the worker's garbage is collected,
/// which may be hours when little else is thrown away, and is some kilobytes outside of what the collector counts.
struct OwnPost {
    port: MessagePort,
    waiting: Rc<RefCell<VecDeque<Function>>>,
}

impl OwnPost {
    fn new() -> Result<Self, JsValue> {
        let channel = MessageChannel::new()?;
        let waiting: Rc<RefCell<VecDeque<Function>>> = Rc::default();
        let calls = waiting.clone();
        let arrived = Closure::<dyn FnMut()>::new(move || {
            let first = calls.borrow_mut().pop_front();
            if let Some(call) = first {
                // A promise's `resolve` throws nothing.
                let _ = call.call0(&JsValue::NULL);
            }
        });
        channel.port2().set_onmessage(Some(arrived.as_ref().unchecked_ref()));
        arrived.forget(); // Listens as long as the worker lives.
        Ok(Self { port: channel.port1(), waiting })
    }

    /// Calls the function once everything that has arrived before is handled; whether it will.
    fn call_back(&self, call: &Function) -> bool {
        self.waiting.borrow_mut().push_back(call.clone());
        let posted = self.port.post_message(&JsValue::NULL).is_ok();
        if !posted {
            self.waiting.borrow_mut().pop_back();
        }
        posted
    }
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
