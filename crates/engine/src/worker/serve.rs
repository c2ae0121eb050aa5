//! The worker's front door.

use std::cell::RefCell;
use std::rc::Rc;
#[cfg(feature = "gpu")]
use std::time::Duration;

use formats::Remainder;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use wasm_bindgen_futures::spawn_local;
use web_sys::MessageEvent;

use super::aligning::{Refusal, Task};
use super::demo;
use super::desk::{self, Arrived, Desk};
use super::handing::Given;
use super::runs::Runs;
use super::scope::{breathe, post, rest, scope};
use super::source::BlobSource;
use align::procedure::Failure as Fallen;
use compute::check::{self, KernelCheck};
use compute::exec::{Device, ExecError, Opened, Preference, Reason};
use compute::kernels;
use schema::{
    CheckRow, Command, Diagnostics, Event, ExecutorChoice, ExecutorKind, Failure, Fault, FileRef, Message,
    NOTHING_LOST, Reading, Recovery, RunId, Slot, unpack,
};

/// Nobody waits longer for a device that is known to answer nothing.
#[cfg(feature = "gpu")]
const DRILL_TIMEOUT: Duration = Duration::from_secs(2);

struct Worker {
    /// `None` until [`Command::Open`] has been carried out.
    device: RefCell<Option<Device>>,
    runs: Runs,
    desk: RefCell<Desk>,
}

/// Starts listening and tells the page so.
pub fn serve() {
    report_panics();
    let worker =
        Rc::new(Worker { device: RefCell::default(), runs: Runs::default(), desk: RefCell::default() });
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        match unpack::<Command>(&event.data()) {
            Ok(message) => worker.clone().handle(message),
            Err(error) => fail(RunId::WORKER, unreadable(&error.to_string())),
        }
    });
    scope().set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    on_message.forget(); // Listens as long as the worker lives.
    post(RunId::WORKER, Event::Ready, Vec::new());
}

impl Worker {
    fn handle(self: Rc<Self>, message: Message<Command>) {
        let run = message.run;
        match message.body {
            Command::Pause => self.runs.pause(run),
            Command::Resume => self.runs.resume(run),
            Command::Stop => self.runs.stop(run),
            Command::Drill { fault } => self.drill(run, fault),
            Command::Open { choice } => spawn_local(async move { self.open(run, choice).await }),
            Command::Demo { seed } => self.start(run, async move |worker: &Self, device| {
                demo::run(&device, &worker.runs, run, seed).await
            }),
            Command::SelfCheck => {
                self.start(run, async move |worker: &Self, device| worker.self_check(device, run).await);
            }
            Command::Step => self.runs.step(run),
            Command::Finish => self.runs.finish(run),
            Command::Unload { slot } => self.desk.borrow_mut().clear(slot),
            Command::Load { slot, file, reading } => self.load(run, slot, file, reading),
            Command::Give { slot, count, names, wide } => {
                let mut bulk = message.bulk.into_iter();
                let values = bulk.next().unwrap_or_default();
                let remainder = |(column, values): (u32, _)| Remainder { column: column as usize, values };
                let remainders = wide.into_iter().zip(bulk).map(remainder).collect();
                let given = Given { slot, count, names, values, remainders };
                self.task(run, async move |task: Task<'_>| task.give(given));
            }
            Command::Take => self.task(run, async move |task: Task<'_>| task.take()),
            Command::Align { options, pairs, reached } => {
                let reached = reached.into_iter().zip(message.bulk).collect();
                self.task(run, async move |task: Task<'_>| task.align(&options, &pairs, reached).await)
            }
            Command::Estimate { options } => {
                self.task(run, async move |task: Task<'_>| task.estimate(&options).await);
            }
            Command::Recall { model } => {
                self.task(run, async move |task: Task<'_>| task.recall(&model).await)
            }
            Command::Show { candidate } => {
                self.task(run, async move |task: Task<'_>| task.show(candidate).await)
            }
            Command::Compare => self.task(run, async move |task: Task<'_>| task.compare().await),
            Command::LookAtNewRows => {
                self.task(run, async move |task: Task<'_>| task.look_at_new_rows());
            }
            Command::Apply => self.task(run, async move |task: Task<'_>| task.apply().await),
            Command::Matches { words, from, count } => {
                self.task(run, async move |task: Task<'_>| task.matches(&words, from, count));
            }
            Command::Export { what } => {
                self.task(run, async move |task: Task<'_>| task.export(what).await);
            }
        }
    }

    /// Runs a task to its end and reports its failure, if it fails.
    fn start<F>(self: Rc<Self>, run: RunId, task: F)
    where
        F: AsyncFnOnce(&Self, Device) -> Result<(), ExecError> + 'static,
    {
        self.runs.start(run);
        spawn_local(async move {
            let device = self.opened().await;
            let outcome = task(&self, device).await;
            self.runs.stop(run);
            if let Err(error) = outcome {
                fail(run, failure(&error));
            }
        });
    }

    /// Runs a task on the tables to its end and says how it ended.
    fn task<F>(self: Rc<Self>, run: RunId, work: F)
    where
        F: AsyncFnOnce(Task<'_>) -> Result<(), Refusal> + 'static,
    {
        self.runs.start(run);
        spawn_local(async move {
            let device = self.opened().await;
            let task = Task { device: &device, desk: &self.desk, runs: &self.runs, run };
            let outcome = work(task).await;
            self.runs.stop(run);
            match outcome {
                Ok(()) => post(run, Event::Finished, Vec::new()),
                // Whoever cancelled it does not wait for an answer.
                Err(Refusal::Fault(Fallen::Cancelled)) => {}
                Err(refusal) => fail(run, refused(refusal)),
            }
        });
    }

    /// Reads a file. What the slot held before stays in use until it is replaced.
    fn load(self: Rc<Self>, run: RunId, slot: Slot, file: FileRef, reading: Reading) {
        self.runs.start(run);
        spawn_local(async move {
            let outcome = desk::read(&self.desk, &self.runs, run, slot, &file, &reading).await;
            let wanted = self.runs.wanted(run).await;
            match outcome {
                Ok(Arrived { filling, content, input, source }) if wanted => {
                    let number = self.desk.borrow_mut().put(slot, filling, input);
                    post(run, Event::Loaded { slot, content }, Vec::new());
                    post(run, Event::Finished, Vec::new());
                    self.hash(slot, number, file.url, &source).await;
                }
                Err(trouble) if trouble.kind != formats::Kind::Cancelled => {
                    fail(run, refused(Refusal::Trouble(trouble.of(&file.name))));
                }
                _ => {}
            }
            self.runs.stop(run);
        });
    }

    /// Hashes a file as long as the slot holds it or a result is made of it, whatever becomes of the run that has read it:
    /// another way of reading may be tried meanwhile, and fail.
    async fn hash(&self, slot: Slot, number: u32, url: String, source: &BlobSource) {
        self.desk.borrow_mut().hashing += 1;
        let outcome = desk::hash(source, || self.desk.borrow().wants_hash(number)).await;
        self.desk.borrow_mut().hashing -= 1;
        if let Ok(sha256) = outcome {
            self.desk.borrow_mut().inputs.hashed(number, sha256.clone());
            post(RunId::WORKER, Event::Hashed { slot, url, sha256 }, Vec::new());
        }
    }

    /// The device; work that was asked for while it is being opened waits for it.
    async fn opened(&self) -> Device {
        loop {
            if let Some(device) = &*self.device.borrow() {
                return device.clone();
            }
            rest(5).await;
        }
    }

    async fn open(&self, run: RunId, choice: ExecutorChoice) {
        let opened = Device::open(match choice {
            ExecutorChoice::Auto => Preference::Auto,
            ExecutorChoice::Cpu | ExecutorChoice::CpuAfterFailures => Preference::Cpu,
            ExecutorChoice::Gpu => Preference::Gpu,
        })
        .await;
        let diagnostics = describe(&opened, choice);
        #[cfg(feature = "gpu")]
        if let Device::Gpu(gpu) = &opened.device {
            let gpu = gpu.clone();
            // Also when nobody computes, and after the laptop slept.
            spawn_local(async move { fail(RunId::WORKER, failure(&gpu.failed().await)) });
        }
        *self.device.borrow_mut() = Some(opened.device);
        post(run, Event::Opened(diagnostics), Vec::new());
    }

    /// Compares every kernel on the graphics device with its twin. Where the CPU computes because the
    /// adapter is a slow one, that adapter is checked all the same.
    async fn self_check(&self, device: Device, run: RunId) -> Result<(), ExecError> {
        #[cfg(feature = "gpu")]
        if let Device::Gpu(_) = device {
            return self.check_all(&device, run).await;
        }
        let opened = Device::open(Preference::Gpu).await;
        if let Reason::NoWebGpu(why) = opened.reason {
            fail(run, nothing_to_check(&why));
            return Ok(());
        }
        let outcome = self.check_all(&opened.device, run).await;
        opened.device.close();
        if let Err(error) = outcome {
            // It was opened for this only: whatever else the worker does goes on without it.
            let hint = "What is computed here is not affected: the CPU does it.".into();
            fail(run, Failure { hint, recovery: Recovery::None, ..failure(&error) });
        }
        Ok(())
    }

    /// Compares every kernel on this device with its twin.
    async fn check_all(&self, device: &Device, run: RunId) -> Result<(), ExecError> {
        for index in 0..kernels::ALL.len() {
            if !self.runs.wanted(run).await {
                return Ok(());
            }
            let row = check_row(check::check_kernel(device, index).await?);
            post(run, Event::Checked(row), Vec::new());
            breathe().await;
        }
        post(run, Event::Finished, Vec::new());
        Ok(())
    }

    fn drill(&self, run: RunId, fault: Fault) {
        match (fault, &*self.device.borrow()) {
            (Fault::Panic, _) => panic!("this crash was asked for"),
            #[cfg(feature = "gpu")]
            (Fault::LoseDevice, Some(Device::Gpu(gpu))) => gpu.destroy(),
            #[cfg(feature = "gpu")]
            (Fault::SilenceDevice, Some(Device::Gpu(gpu))) => {
                gpu.silence_after(0, DRILL_TIMEOUT);
            }
            (Fault::LoseDevice | Fault::SilenceDevice, _) => fail(
                run,
                Failure {
                    message: "There is no graphics device in use that could be lost.".into(),
                    hint: "Add ?executor=gpu to the address first.".into(),
                    details: String::new(),
                    recovery: Recovery::None,
                    ways: Vec::new(),
                },
            ),
        }
    }
}

pub(super) fn kind(device: &Device) -> ExecutorKind {
    match device {
        Device::Cpu => ExecutorKind::Cpu,
        #[cfg(feature = "gpu")]
        Device::Gpu(_) => ExecutorKind::Gpu,
    }
}

/// What the page shows about the device.
fn describe(opened: &Opened, choice: ExecutorChoice) -> Diagnostics {
    let executor = kind(&opened.device);
    let reason = match (&opened.reason, executor) {
        (Reason::Hardware, _) => "A graphics device with WebGPU is available.".into(),
        (Reason::Requested, _) if choice == ExecutorChoice::CpuAfterFailures => {
            "The graphics device failed repeatedly or stopped answering, so the CPU computes now. Reload the page \
             to try it again."
                .into()
        }
        (Reason::Requested, ExecutorKind::Cpu) => "Asked for with ?executor=cpu in the address.".into(),
        (Reason::Requested, ExecutorKind::Gpu) => "Asked for with ?executor=gpu in the address.".into(),
        (Reason::SoftwareAdapter, _) => {
            "The only adapter emulates a graphics device in software; using the CPU directly is faster."
                .into()
        }
        (Reason::NoWebGpu(why), _) if choice == ExecutorChoice::Gpu => {
            format!("WebGPU was asked for, but {why}. Everything works on the CPU, only slower.")
        }
        (Reason::NoWebGpu(why), _) => {
            format!("WebGPU cannot be used: {why}. Everything works on the CPU, only slower.")
        }
    };
    let adapter = opened.adapter.as_ref();
    Diagnostics {
        executor,
        reason,
        adapter: adapter.map(|a| a.name.clone()),
        software: adapter.is_some_and(|a| a.software),
        limits: adapter
            .map(|a| a.limits.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect())
            .unwrap_or_default(),
        kernels: kernels::ALL.len() as u32,
        defaults: Box::new(analysis::options::defaults()),
    }
}

fn fail(run: RunId, failure: Failure) {
    post(run, Event::Failed(failure), Vec::new());
}

/// A device that failed once is not trusted again: a new worker opens a new one.
fn failure(error: &ExecError) -> Failure {
    let recovery = match error {
        ExecError::DeviceLost { silent: true, .. } => Recovery::RestartOnCpu,
        ExecError::DeviceLost { .. } | ExecError::Rejected { .. } => Recovery::RestartWorker,
        _ => Recovery::None,
    };
    Failure {
        message: error.to_string(),
        hint: error.hint().into(),
        details: error.details().into(),
        recovery,
        ways: Vec::new(),
    }
}

/// Why something was not done, in words.
fn refused(refusal: Refusal) -> Failure {
    let plain = |message: String, hint: &str| Failure {
        message,
        hint: hint.to_owned(),
        details: String::new(),
        recovery: Recovery::None,
        ways: Vec::new(),
    };
    match refusal {
        Refusal::Fault(Fallen::Device(error)) => failure(&error),
        Refusal::Fault(fallen @ Fallen::Diverged { .. }) => plain(
            fallen.to_string(),
            "Your data and settings are as they were: change what is named above and start again.",
        ),
        Refusal::Fault(other) => plain(other.to_string(), NOTHING_LOST),
        Refusal::Words(words) => plain(words, NOTHING_LOST),
        Refusal::Trouble(trouble) => {
            let place = [&trouble.file, &trouble.place].map(|part| part.as_str()).into_iter();
            let place: Vec<&str> = place.filter(|part| !part.is_empty()).collect();
            let where_and = if place.is_empty() { String::new() } else { format!("{}: ", place.join(", ")) };
            Failure {
                ways: trouble.ways.into_vec(),
                ..plain(format!("{where_and}{}", trouble.what), &trouble.fix)
            }
        }
    }
}

fn nothing_to_check(why: &str) -> Failure {
    Failure {
        message: format!("There is no WebGPU device to check: {why}."),
        hint: "Nothing is wrong. The CPU executor, which is in use, is what a device would be compared with."
            .into(),
        details: String::new(),
        recovery: Recovery::None,
        ways: Vec::new(),
    }
}

fn unreadable(detail: &str) -> Failure {
    Failure {
        message: format!("The computing part could not read what the page asked: {detail}."),
        hint: "Reload the page; if a new version was just published, this loads it.".into(),
        details: String::new(),
        recovery: Recovery::None,
        ways: Vec::new(),
    }
}

/// A panic ends the worker. Before it does, the page is told.
fn report_panics() {
    std::panic::set_hook(Box::new(|info| {
        console_error_panic_hook::hook(info);
        let what = info.payload_as_str().unwrap_or("no details");
        fail(
            RunId::WORKER,
            Failure {
                message: format!("The computing part of the page stopped unexpectedly ({what})."),
                hint: "It has been restarted and nothing you loaded is lost; start the computation again."
                    .into(),
                details: String::new(),
                recovery: Recovery::RestartWorker,
                ways: Vec::new(),
            },
        );
    }));
}

fn check_row(check: KernelCheck) -> CheckRow {
    let KernelCheck { kernel, summary, cases, worst_error, worst_ratio, worst_case } = check;
    CheckRow { kernel, summary, cases, worst_error, worst_ratio, worst_case }
}
