//! One call's worker, from its start to its end: what it says comes in order, and an abort comes in between.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use js_sys::{Function, Promise, Reflect};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::AbortSignal;

use schema::{Command, Event, Failure, Message, NOTHING_LOST, Progress, Recovery, RunId};
use worker_client::{Engine, Link};

/// What happened.
enum Note {
    Said(Message<Event>),
    Aborted(JsValue),
}

#[derive(Default)]
struct Inbox {
    notes: RefCell<VecDeque<Note>>,
    waker: RefCell<Option<Waker>>,
}

impl Inbox {
    fn put(&self, note: Note) {
        self.notes.borrow_mut().push_back(note);
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }

    async fn next(&self) -> Note {
        poll_fn(|context| match self.notes.borrow_mut().pop_front() {
            Some(note) => Poll::Ready(note),
            None => {
                *self.waker.borrow_mut() = Some(context.waker().clone());
                Poll::Pending
            }
        })
        .await
    }
}

/// A listener for the abort of a call, for as long as it is kept.
pub(super) struct Abort {
    signal: AbortSignal,
    listener: Closure<dyn FnMut()>,
}

impl Abort {
    pub(super) fn new(signal: &AbortSignal, mut aborted: impl FnMut(JsValue) + 'static) -> Self {
        // It may have been aborted since it was first looked at.
        if signal.aborted() {
            aborted(reason(signal));
        }
        let own = signal.clone();
        let listener = Closure::<dyn FnMut()>::new(move || aborted(reason(&own)));
        // Listening to an event by its name cannot fail.
        let _ = signal.add_event_listener_with_callback("abort", listener.as_ref().unchecked_ref());
        Self { signal: signal.clone(), listener }
    }

    /// A promise that is rejected when the call is aborted.
    pub(super) fn promise(signal: &AbortSignal) -> (Promise, Self) {
        let mut reject = None;
        let promise = Promise::new(&mut |_, refuse| reject = Some(refuse));
        let abort = Self::new(signal, move |why| {
            if let Some(reject) = &reject {
                // Rejecting a promise cannot fail.
                let _ = reject.call1(&JsValue::UNDEFINED, &why);
            }
        });
        (promise, abort)
    }
}

impl Drop for Abort {
    fn drop(&mut self) {
        let listener = self.listener.as_ref().unchecked_ref();
        let _ = self.signal.remove_event_listener_with_callback("abort", listener);
    }
}

/// Why a call was aborted: an `AbortError`, unless its caller said something else.
pub(super) fn reason(signal: &AbortSignal) -> JsValue {
    Reflect::get(signal, &"reason".into()).unwrap_or(JsValue::UNDEFINED)
}

/// Why a call cannot go on with its worker.
pub(super) enum Ended {
    /// The worker or its device is gone, and another worker is on its way, which may have to leave the device alone.
    Lost {
        error: JsValue,
        on_cpu: bool,
    },
    For(JsValue),
}

impl From<JsValue> for Ended {
    fn from(error: JsValue) -> Self {
        Self::For(error)
    }
}

impl From<Ended> for JsValue {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Lost { error, .. } | Ended::For(error) => error,
        }
    }
}

/// A worker for one call; it ends with this.
pub(super) struct Session {
    link: Link,
    /// What the run has reached, for the worker that comes after a lost one.
    reached: RefCell<BTreeMap<String, Vec<f32>>>,
    /// The largest share that was told.
    share: Cell<f64>,
    inbox: Rc<Inbox>,
    last: Cell<u32>,
    on_progress: Option<Function>,
    _abort: Option<Abort>,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.link.close();
    }
}

impl Session {
    pub(super) fn new(signal: Option<&AbortSignal>, on_progress: Option<Function>) -> Self {
        let inbox = Rc::<Inbox>::default();
        let said = inbox.clone();
        let link = Link::new(own_engine(), move |message| said.put(Note::Said(message)));
        let aborted = inbox.clone();
        let abort = signal.map(|signal| Abort::new(signal, move |why| aborted.put(Note::Aborted(why))));
        let (reached, share) = (RefCell::default(), Cell::new(0.0));
        Self { link, reached, share, inbox, last: Cell::new(0), on_progress, _abort: abort }
    }

    /// What the run has reached so far, as names and bulk.
    pub(super) fn reached(&self) -> (Vec<String>, Vec<Vec<f32>>) {
        self.reached.borrow().clone().into_iter().unzip()
    }

    /// Gives a command and does not wait for what comes of it.
    pub(super) fn tell(&self, body: Command, bulk: Vec<Vec<f32>>) {
        self.last.set(self.last.get() + 1);
        self.link.send(Message { run: RunId(self.last.get()), body, bulk });
    }

    /// Waits for the first event of which something is wanted, and passes on how it goes until then.
    pub(super) async fn until<T>(
        &self,
        mut wanted: impl FnMut(Event, Vec<Vec<f32>>) -> Option<T>,
    ) -> Result<T, Ended> {
        loop {
            match self.inbox.next().await {
                Note::Aborted(why) => return Err(Ended::For(why)),
                Note::Said(Message { body: Event::Failed(failure), .. }) => {
                    let lost = failure.recovery.restarts();
                    let on_cpu = failure.recovery == Recovery::RestartOnCpu;
                    let no_other = lost && self.link.given_up();
                    let error = error(failure, no_other);
                    return Err(match lost && !no_other {
                        true => Ended::Lost { error, on_cpu },
                        false => Ended::For(error),
                    });
                }
                Note::Said(Message { body: Event::Progress(progress), .. }) => self.show(&progress)?,
                Note::Said(Message { body: Event::Reached { what }, bulk, .. }) => {
                    let values = bulk.into_iter().next().unwrap_or_default();
                    self.reached.borrow_mut().insert(what, values);
                }
                Note::Said(Message { body, bulk, .. }) => {
                    if let Some(found) = wanted(body, bulk) {
                        return Ok(found);
                    }
                }
            }
        }
    }

    /// Tells the caller that everything is done: a short run is over before it has told of its last part.
    pub(super) fn has_ended(&self) -> Result<(), JsValue> {
        self.show(&Progress { phase: "done".into(), done: 1, of: 1, share: 1.0 })
    }

    /// Tells the caller how far it is; what the caller throws ends the call.
    fn show(&self, progress: &Progress) -> Result<(), JsValue> {
        let Some(call) = &self.on_progress else { return Ok(()) };
        let Progress { phase, done, of, share } = progress;
        // A run that is taken up again goes quickly through what was told before.
        self.share.set(self.share.get().max(*share));
        let share = self.share.get();
        let value = serde_json::json!({ "phase": phase, "done": done, "total": of, "share": share });
        call.call1(&JsValue::UNDEFINED, &super::result::plain(&value)?).map(drop)
    }
}

/// A failure of the worker as an error. What the page says about its own recovery is not true of a call.
fn error(failure: Failure, no_other: bool) -> JsValue {
    let Failure { message, hint, recovery, .. } = failure;
    let hint = match recovery {
        Recovery::None if hint == NOTHING_LOST => String::new(),
        Recovery::None => hint,
        _ if no_other => {
            "No worker can be started in this page. If it has a Content-Security-Policy, that needs worker-src blob: and \
             the place of Concord's files in script-src; if it is bundled, load concord.js unbundled (docs/api.md)."
                .to_owned()
        }
        Recovery::RestartWorker | Recovery::RestartOnCpu => {
            "Call it again; if that does not help, with the option executor: \"cpu\".".to_owned()
        }
    };
    let error = js_sys::Error::new(&message);
    // A new property of a new object.
    let _ = Reflect::set(&error, &"hint".into(), &hint.into());
    error.into()
}

#[wasm_bindgen]
extern "C" {
    /// The address of the script that loaded this module, hash and all.
    #[wasm_bindgen(thread_local_v2, js_namespace = ["import", "meta"], js_name = url)]
    static SCRIPT: String;
}

/// The very module that is running here.
fn own_engine() -> Engine {
    let module = || Promise::resolve(&wasm_bindgen::module());
    Engine { script: SCRIPT.with(String::clone), module: Box::new(module) }
}
