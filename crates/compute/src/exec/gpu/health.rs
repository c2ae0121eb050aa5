//! Whether a device lives: the first thing that went wrong with it, and a timeout for all that is asked of it.
//!
//! A device may stop answering without any error: drivers hang, and so does the process of a browser that talks to them.
//! Whoever waits for a device waits here, so that no wait lasts for ever.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use super::super::ExecError;
use super::signal::Signal;

/// How long a graphics device may leave everything unanswered. A submit is about ten milliseconds of work, and systems
/// reset a device that works on one for two to ten seconds, so one that lives has answered something by then. Every answer
/// counts, also that to something else; and what is taken for lost is only begun again from what was kept.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The same for a software adapter: no system resets it, and it shares the processor with everything else that runs.
const SOFTWARE_TIMEOUT: Duration = Duration::from_secs(120);

/// A timeout is counted in looks that are at most so far apart. A laptop that slept wakes to timers that are long over, and
/// the device is to have its time after that.
const LOOK: Duration = Duration::from_secs(1);

/// What is known about the health of one device; clones share it.
#[derive(Clone)]
pub(super) struct Health {
    state: Arc<Mutex<State>>,
    failed: Signal<()>,
}

struct State {
    failure: Option<ExecError>,
    /// Everything that is waited for, in the order it was asked: a number, what it is, and who waits.
    asked: Vec<(u64, &'static str, Option<Waker>)>,
    last: u64,
    /// How many answers there were.
    answers: u64,
    timeout: Duration,
    /// How many answers are still let through, if not all: a device that hangs withholds them. And the timeout from then on.
    left: Option<(u64, Duration)>,
    #[cfg(target_arch = "wasm32")]
    clock: bool,
}

impl State {
    /// The first failure is the cause; what follows are its consequences.
    fn fail(&mut self, error: ExecError) {
        self.failure.get_or_insert(error);
        for (.., waker) in &mut self.asked {
            if let Some(waker) = waker.take() {
                waker.wake();
            }
        }
    }

    /// Counts an answer, unless it is withheld.
    fn let_through(&mut self) -> bool {
        match &mut self.left {
            Some((0, _)) => return false,
            Some((left, timeout)) => {
                *left -= 1;
                if *left == 0 {
                    self.timeout = *timeout;
                }
            }
            None => {}
        }
        self.answers += 1;
        true
    }

    fn silence_as_error(&self) -> ExecError {
        let what = self.asked.first().map_or("an answer", |(_, what, _)| what);
        let details = format!("no answer for {} s while waiting for {what}", self.timeout.as_secs_f64());
        ExecError::DeviceLost { details, silent: true }
    }

    /// Looks at most [`LOOK`] apart, ten of them at least.
    fn look(&self) -> Duration {
        LOOK.min(self.timeout / 10)
    }

    #[cfg(target_arch = "wasm32")]
    fn looks(&self) -> u32 {
        (self.timeout.as_secs_f64() / self.look().as_secs_f64()).ceil() as u32
    }
}

impl Health {
    pub(super) fn new(software: bool) -> Self {
        let state = State {
            failure: None,
            asked: Vec::new(),
            last: 0,
            answers: 0,
            timeout: if software { SOFTWARE_TIMEOUT } else { TIMEOUT },
            left: None,
            #[cfg(target_arch = "wasm32")]
            clock: false,
        };
        Self { state: Arc::new(Mutex::new(state)), failed: Signal::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn fail(&self, error: ExecError) {
        self.state().fail(error);
        self.failed.set(());
    }

    /// Gives the device up, which has left unanswered what is waited for.
    fn fail_silent(&self, device: &wgpu::Device) {
        let error = self.state().silence_as_error();
        self.fail(error);
        // If it ever answers again, it has nothing to do, and its memory is free.
        device.destroy();
    }

    /// Waits until the device fails, also while nothing is asked of it, and returns why.
    pub(super) async fn failed(&self) -> ExecError {
        self.failed.arrived().await;
        self.check().err().unwrap_or_else(|| ExecError::DeviceLost { details: String::new(), silent: false })
    }

    /// The first thing that went wrong, if anything has.
    pub(super) fn check(&self) -> Result<(), ExecError> {
        match &self.state().failure {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    pub(super) fn set_timeout(&self, timeout: Duration) {
        self.state().timeout = timeout;
    }

    pub(super) fn silence_after(&self, answers: u64, timeout: Duration) {
        let mut state = self.state();
        state.left = Some((answers, timeout));
        if answers == 0 {
            state.timeout = timeout;
        }
    }

    /// A signal, and the callback through which the device sets it.
    pub(super) fn signal<T: Send + 'static>(&self) -> (Signal<T>, impl FnOnce(T) + Send + 'static) {
        let signal = Signal::new();
        let (done, health) = (signal.clone(), self.clone());
        let callback = move |value| {
            let arrives = health.state().let_through();
            if arrives {
                done.set(value);
            }
        };
        (signal, callback)
    }

    /// The same for an answer that comes as a future.
    pub(super) async fn counted<T>(&self, answer: impl Future<Output = T>) -> T {
        let value = answer.await;
        if !self.state().let_through() {
            std::future::pending::<()>().await;
        }
        value
    }

    /// Waits for what was asked of the device, until the device fails; leaving everything unanswered for too long is
    /// a failure.
    pub(super) async fn answer<T>(
        &self,
        device: &wgpu::Device,
        what: &'static str,
        answer: impl Future<Output = T>,
    ) -> Result<T, ExecError> {
        let asked = self.ask(what);
        let mut answer = pin!(answer);
        #[cfg(not(target_arch = "wasm32"))]
        let mut poller = native::Poller::new(device, self);
        #[cfg(target_arch = "wasm32")]
        self.run_clock(device);
        std::future::poll_fn(|context| {
            if let Poll::Ready(value) = answer.as_mut().poll(context) {
                return Poll::Ready(Ok(value));
            }
            self.check()?;
            asked.waits(context.waker());
            #[cfg(not(target_arch = "wasm32"))]
            poller.poll(context.waker());
            Poll::Pending
        })
        .await
    }

    fn ask(&self, what: &'static str) -> Asked<'_> {
        let mut state = self.state();
        state.last += 1;
        let number = state.last;
        state.asked.push((number, what, None));
        Asked { health: self, number }
    }

    /// Counts looks without an answer for as long as anything is waited for. One clock does for everybody: a timer for each
    /// wait would be hundreds a second, each of which lives on until it is over.
    #[cfg(target_arch = "wasm32")]
    fn run_clock(&self, device: &wgpu::Device) {
        if std::mem::replace(&mut self.state().clock, true) {
            return;
        }
        let (health, device) = (self.clone(), device.clone());
        wasm_bindgen_futures::spawn_local(async move {
            let (mut seen, mut quiet) = (health.state().answers, 0);
            loop {
                let look = health.state().look();
                timeout::sleep(look.as_millis() as i32).await;
                let mut state = health.state();
                if state.asked.is_empty() || state.failure.is_some() {
                    state.clock = false;
                    return;
                }
                quiet = if state.answers == seen { quiet + 1 } else { 0 };
                seen = state.answers;
                if quiet >= state.looks() {
                    drop(state);
                    health.fail_silent(&device);
                }
            }
        });
    }
}

/// Something that is waited for, until this is dropped.
struct Asked<'a> {
    health: &'a Health,
    number: u64,
}

impl Asked<'_> {
    /// Remembers whom to wake if the device fails.
    fn waits(&self, waker: &Waker) {
        let mut state = self.health.state();
        if let Some((.., own)) = state.asked.iter_mut().find(|(number, ..)| *number == self.number) {
            *own = Some(waker.clone());
        }
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.health.state().asked.retain(|(number, ..)| *number != self.number);
    }
}

/// Natively nobody else drives the callbacks, so whoever waits polls the device, and blocks its thread while doing so.
#[cfg(not(target_arch = "wasm32"))]
mod native {
    use std::task::Waker;
    use std::time::{Duration, Instant};

    use super::Health;

    pub(super) struct Poller<'a> {
        device: &'a wgpu::Device,
        health: &'a Health,
        /// The answers at the last look that found a new one, and when that was.
        seen: (u64, Instant),
        polled: bool,
    }

    impl<'a> Poller<'a> {
        pub(super) fn new(device: &'a wgpu::Device, health: &'a Health) -> Self {
            Self { device, health, seen: (health.state().answers, Instant::now()), polled: false }
        }

        pub(super) fn poll(&mut self, waker: &Waker) {
            let (answers, look) = {
                let state = self.health.state();
                (state.answers, state.look())
            };
            if answers != self.seen.0 {
                self.seen = (answers, Instant::now());
            } else if self.seen.1.elapsed() >= self.health.state().timeout {
                self.health.fail_silent(self.device);
                return;
            }
            if self.polled {
                // The last poll brought nothing, and a device without work returns from one at once.
                std::thread::sleep(Duration::from_millis(1));
            }
            self.polled = true;
            let kind = wgpu::PollType::Wait { submission_index: None, timeout: Some(look) };
            // A poll fails when its time is over, or on a lost device, which the callback reports.
            let _ = self.device.poll(kind);
            waker.wake_by_ref();
        }
    }
}
