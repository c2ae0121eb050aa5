//! A page's end of the worker: starts it, talks to it, replaces it when it dies. The app and the JavaScript API share it.
//!
//! The worker is started from a few lines of script in a blob, which import the engine's script from where it is said to be,
//! so it works under hashed names and any path, and which get its module compiled. And a worker from a blob is bound by the page's Content-Security-Policy, where one from a file
//! would be bound by that of its own headers only, which a plain static host does not send.

#![cfg(target_arch = "wasm32")]

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Array, Function, Object, Promise, Reflect};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, BlobPropertyBag, MessageEvent, Url, Worker, WorkerOptions, WorkerType};

use schema::{Command, Event, Failure, Message, Recovery, RunId, pack, unpack};

/// The engine, as a page knows it.
pub struct Engine {
    /// The address of its script.
    pub script: String,
    /// Gives its compiled module, at once or when it has arrived. Asked once for every worker, so that a download that broke off
    /// can begin again.
    pub module: Box<dyn Fn() -> Promise>,
}

/// An exception thrown in a timer reaches the page as the worker's error event; a rejected promise
/// would not. The lock is held as long as the worker lives.
const BOOT: &str = "onmessage = async ({ data }) => {
  onmessage = null;
  try { navigator.locks.request(data.lock, () => new Promise(() => {})).catch(() => {}); } catch {}
  try {
    const shim = await import(data.shim);
    if (!shim.default || !shim.serve) throw new Error(`${data.shim} is not the file it was: was it bundled?`);
    await shim.default({ module_or_path: data.module });
    shim.serve();
  } catch (error) {
    setTimeout(() => { throw error; });
  }
};";

/// One that is not ready after so many looks, so many milliseconds apart, will not be. Looks are counted rather than time,
/// because a laptop may sleep in between.
const LOOKS: u32 = 12;
const LOOK_MS: i32 = 5_000;

/// How long the engine's program may be on its way: a slow line takes minutes, a host that went silent for ever.
const ARRIVAL_MS: i32 = 300_000;

/// A worker that dies this often in a row without ever getting ready will not get better.
const GIVE_UP_AFTER: u32 = 3;

type OnEvent = Rc<dyn Fn(Message<Event>)>;

/// A handle on the worker; clones share it.
#[derive(Clone)]
pub struct Link(Rc<Inner>);

struct Inner {
    engine: Engine,
    on_event: OnEvent,
    live: RefCell<Option<Live>>,
    /// Commands given before the worker listens.
    waiting: RefCell<Vec<Message<Command>>>,
    ready: Cell<bool>,
    failed_starts: Cell<u32>,
    /// Whether nobody wants it any more.
    closed: Cell<bool>,
}

/// A running worker with the closures it calls, which must live as long.
struct Live {
    worker: Worker,
    /// The address of its boot script.
    url: String,
    /// The lock that it holds.
    lock: String,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(JsValue)>,
}

impl Drop for Live {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
        // It only frees memory.
        let _ = Url::revoke_object_url(&self.url);
    }
}

impl Link {
    /// Starts the worker. `on_event` gets everything it says, and what is said about its end.
    pub fn new(engine: Engine, on_event: impl Fn(Message<Event>) + 'static) -> Self {
        let link = Self(Rc::new(Inner {
            engine,
            on_event: Rc::new(on_event),
            live: RefCell::new(None),
            waiting: RefCell::default(),
            ready: Cell::new(false),
            failed_starts: Cell::new(0),
            closed: Cell::new(false),
        }));
        link.restart();
        link
    }

    /// Sends a command, now or as soon as the worker listens.
    pub fn send(&self, message: Message<Command>) {
        if self.0.closed.get() {
            return;
        }
        if self.0.live.borrow().is_none() {
            // Given up, but somebody asks again.
            self.0.failed_starts.set(0);
            self.restart();
        }
        if !self.0.ready.get() {
            self.0.waiting.borrow_mut().push(message);
            return;
        }
        let sent =
            pack(&message).map_err(|e| JsValue::from(e.to_string())).and_then(
                |(value, transfer)| match &*self.0.live.borrow() {
                    Some(live) => live.worker.post_message_with_transfer(&value, &transfer),
                    None => Ok(()),
                },
            );
        if let Err(error) = sent {
            self.lost(format!("a message could not be sent to it: {error:?}"));
        }
    }

    /// Ends the worker for good, whatever it is doing. Not to be called from within `on_event`: the closure that is
    /// running would be dropped.
    pub fn close(&self) {
        self.0.closed.set(true);
        self.0.waiting.borrow_mut().clear();
        self.0.live.borrow_mut().take();
    }

    /// Whether no worker is there and none will be: several in a row could not even start. True by the time the last of
    /// these failures is heard of by whoever awaits events.
    pub fn given_up(&self) -> bool {
        self.0.live.borrow().is_none() && self.0.failed_starts.get() >= GIVE_UP_AFTER
    }

    /// Replaces the worker by a new one. What was waiting for the old one is forgotten.
    fn restart(&self) {
        if self.0.closed.get() {
            return;
        }
        self.0.ready.set(false);
        self.0.waiting.borrow_mut().clear();
        self.0.live.borrow_mut().take();
        if self.0.failed_starts.get() >= GIVE_UP_AFTER {
            return;
        }
        self.0.failed_starts.set(self.0.failed_starts.get() + 1);
        match self.spawn() {
            Ok(live) => {
                spawn_local(self.clone().start(live.lock.clone()));
                *self.0.live.borrow_mut() = Some(live);
            }
            Err(error) => self.lost(format!("it could not be started: {error:?}")),
        }
    }

    fn spawn(&self) -> Result<Live, JsValue> {
        let options = BlobPropertyBag::new();
        options.set_type("text/javascript");
        let blob = Blob::new_with_str_sequence_and_options(&Array::of1(&BOOT.into()), &options)?;
        let url = Url::create_object_url_with_blob(&blob)?;
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        options.set_name("concord");
        let worker = Worker::new_with_options(&url, &options)?;

        let link = self.clone();
        let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            match unpack::<Event>(&event.data()) {
                Ok(message) => link.receive(message),
                Err(error) => link.lost(error.to_string()),
            }
        });
        let link = self.clone();
        // A script that may not even be loaded is reported by an event that has no message.
        let on_error = Closure::<dyn FnMut(JsValue)>::new(move |event: JsValue| {
            let message = Reflect::get(&event, &"message".into()).ok().and_then(|text| text.as_string());
            link.lost(message.unwrap_or_else(|| "the browser does not let it start".into()));
        });
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));

        let lock = format!("concord-worker-{:016x}", (js_sys::Math::random() * 2f64.powi(53)) as u64);
        Ok(Live { worker, url, lock, _on_message: on_message, _on_error: on_error })
    }

    /// Whether the worker that holds this lock is the one in use.
    fn uses(&self, lock: &str) -> bool {
        !self.0.closed.get() && self.0.live.borrow().as_ref().is_some_and(|live| live.lock == lock)
    }

    /// Gives a worker its program.
    async fn boot(&self, lock: &str) -> Result<(), JsValue> {
        let arrived = JsFuture::from((self.0.engine.module)());
        let Some(module) = timeout::before(timeout::sleep(ARRIVAL_MS), arrived).await else {
            return Err("it has not arrived in five minutes".into());
        };
        let module = module?;
        if !self.uses(lock) {
            return Ok(());
        }
        let boot = Object::new();
        Reflect::set(&boot, &"shim".into(), &(&self.0.engine.script).into())?;
        Reflect::set(&boot, &"module".into(), &module)?;
        Reflect::set(&boot, &"lock".into(), &lock.into())?;
        match &*self.0.live.borrow() {
            Some(live) => live.worker.post_message(&boot),
            None => Ok(()),
        }
    }

    /// Waits for a worker to get ready.
    async fn start(self, lock: String) {
        if let Err(error) = self.boot(&lock).await {
            if self.uses(&lock) {
                self.lost(format!("its program could not be loaded: {}", words(&error)));
            }
            return;
        }
        for _ in 0..LOOKS {
            timeout::sleep(LOOK_MS).await;
            if !self.uses(&lock) || self.0.ready.get() {
                return;
            }
        }
        self.lost("it does not answer".into());
    }

    /// Waits for the end of a worker. Browsers end one without any event when memory is short, for example, but then its lock
    /// is free. However long a worker computes without listening, it holds that.
    async fn watch(self, lock: String) {
        // Where there are no locks, on addresses that are neither https nor local, or none for workers, nobody can tell.
        if freed(&lock).await == Ok(true) && self.uses(&lock) {
            self.lost("the browser has ended it".into());
        }
    }

    fn receive(&self, mut message: Message<Event>) {
        match &message.body {
            Event::Ready => {
                self.0.ready.set(true);
                if let Some(live) = &*self.0.live.borrow() {
                    spawn_local(self.clone().watch(live.lock.clone()));
                }
                (self.0.on_event)(message);
                // After what the page itself has to say to a new worker.
                for waiting in self.0.waiting.take() {
                    self.send(waiting);
                }
                return;
            }
            // Only now has it shown that it can live: opening a device may be what kills it.
            Event::Opened(_) => self.0.failed_starts.set(0),
            Event::Failed(failure) if failure.recovery.restarts() => {
                // Whichever run noticed it, and be it one that nobody waits for: it concerns the worker.
                message.run = RunId::WORKER;
                self.restart_soon();
            }
            _ => {}
        }
        (self.0.on_event)(message);
    }

    /// The worker ended without a word of its own.
    fn lost(&self, why: String) {
        self.restart_soon();
        let hint = if self.0.failed_starts.get() >= GIVE_UP_AFTER {
            "Starting it again did not help. Reload the page, or try another browser."
        } else {
            "It has been restarted and nothing you loaded is lost; start the computation again."
        };
        (self.0.on_event)(Message::new(
            RunId::WORKER,
            Event::Failed(Failure {
                message: format!("The computing part of the page stopped unexpectedly ({why})."),
                hint: hint.into(),
                details: String::new(),
                recovery: Recovery::RestartWorker,
                ways: Vec::new(),
            }),
        ));
    }

    /// Not at once: the closure that is running belongs to the worker that will be dropped.
    fn restart_soon(&self) {
        self.0.ready.set(false);
        let link = self.clone();
        spawn_local(async move { link.restart() });
    }
}

/// What an error says.
fn words(error: &JsValue) -> String {
    let message = Reflect::get(error, &"message".into()).ok().and_then(|text| text.as_string());
    message.or_else(|| error.as_string()).unwrap_or_else(|| format!("{error:?}"))
}

/// Waits until a lock is free that somebody holds; false at once if nobody does.
async fn freed(lock: &str) -> Result<bool, JsValue> {
    let navigator = Reflect::get(&js_sys::global(), &"navigator".into())?;
    let locks = Reflect::get(&navigator, &"locks".into())?;
    let request: Function = Reflect::get(&locks, &"request".into())?.dyn_into()?;
    let at_once = Object::new();
    Reflect::set(&at_once, &"ifAvailable".into(), &true.into())?;
    let free = Rc::new(Cell::new(false));
    let told = free.clone();
    let look = Closure::once_into_js(move |lock: JsValue| told.set(lock.is_object()));
    let looked: Promise = request.call3(&locks, &lock.into(), &at_once, &look)?.dyn_into()?;
    JsFuture::from(looked).await?;
    if free.get() {
        return Ok(false);
    }
    let nothing = Closure::once_into_js(|_: JsValue| {});
    let waited: Promise = request.call2(&locks, &lock.into(), &nothing)?.dyn_into()?;
    JsFuture::from(waited).await.map(|_| true)
}
