//! A device that never answers: every wait for it ends, and what was begun goes on without it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::common::{block_on_test, gpu};
use align::geometry::Dense;
use align::geometry::panel::{Distance, Measure};
use align::procedure::{self, Control, EncoderChoice, Failure, NoControl, Progress, Settings, Sides};
use align::solver::align::AlignSettings;
use align::solver::fit::{Fit, FitSettings};
use align::solver::mlp::MlpShape;
use compute::exec::{Device, ExecError, Executor, GpuDevice};
use compute::kernels::Activation;
use compute::kernels::reduce::{self, Operation};
use compute::plan::Plan;
use compute::rng::Rng;

/// Nothing depends on how long this is: the device does not answer later either.
const TIMEOUT: Duration = Duration::from_millis(200);
/// For what comes after the device was lost and waits no more.
const NEVER: Duration = Duration::from_secs(3600);

fn inner(device: &Device) -> &GpuDevice {
    let Device::Gpu(inner) = device else { unreachable!("gpu() returns a GPU") };
    inner
}

fn silence_after(device: &Device, answers: u64) {
    inner(device).silence_after(answers, TIMEOUT);
}

fn fit() -> Fit {
    let shape = MlpShape { sizes: vec![1, 4, 1], hidden: Activation::Tanh, output: Activation::Identity };
    let settings = FitSettings { shape, batch: 1, steps: 20, rate: 1e-2, seed: 1 };
    Fit::record(&settings, &[0.0, 0.5, 1.0], &[1.0, 0.0, 1.0], &[0.25])
}

/// Everything that an executor waits for, statistics too: to be prepared, to settle, and to be read.
#[cfg(target_arch = "wasm32")]
async fn play(device: &Device) -> Result<Vec<f32>, ExecError> {
    let fit = fit();
    let mut executor = device.prepare(fit.plan).await?;
    // More submits than there are buffers for statistics.
    for _ in 0..5 {
        executor.submit(fit.step, 4)?;
    }
    executor.settle(2).await?;
    executor.settle(0).await?;
    let stats = executor.stats()?.expect("nothing is missing once it has settled");
    assert_eq!(stats.step, 20);
    executor.read(fit.weights).await
}

/// What a device was asked that fell silent.
fn asked(error: &ExecError) -> String {
    assert!(matches!(error, ExecError::DeviceLost { silent: true, .. }), "{error:?}");
    assert!(error.to_string().contains("stopped answering"), "{error}");
    assert!(error.hint().contains("The CPU computes from now on"), "{}", error.hint());
    let (timeout, what) = error.details().split_once(" s while waiting for ").expect("what was waited for");
    assert!(["no answer for 0.2", "no answer for 10"].contains(&timeout), "{timeout}");
    what.to_owned()
}

/// Sums of rows, which are one kernel: few answers, so that a device can fall silent before each of them.
async fn sums(device: &Device) -> Result<Vec<f32>, ExecError> {
    let mut plan = Plan::new();
    let x = plan.mat("x", 3, 5);
    let out = plan.mat("out", 3, 1);
    let pass = plan.begin_pass("sums");
    reduce::record(&mut plan, Operation::Sum, 1.0, x, out);
    plan.set_initial(x.buf, &[1.0; 15]);
    let mut executor = device.prepare(plan).await?;
    executor.submit(pass, 1)?;
    executor.submit(pass, 1)?;
    executor.settle(0).await?;
    executor.read(out.buf).await
}

block_on_test! {
    async fn wherever_a_device_falls_silent_the_wait_for_it_ends() {
        let mut waits = BTreeSet::new();
        let mut answers = 0;
        loop {
            let device = gpu().await;
            silence_after(&device, answers);
            match sums(&device).await {
                Ok(found) => {
                    assert_eq!(found, [5.0; 3], "nothing was asked that was not answered");
                    device.close();
                    break;
                }
                Err(error) => {
                    waits.insert(asked(&error));
                    // It is lost from then on, for everybody, and nobody waits again.
                    inner(&device).set_timeout(NEVER);
                    assert_eq!(sums(&device).await.expect_err("lost"), error);
                    assert_eq!(inner(&device).failed().await, error);
                }
            }
            answers += 1;
            assert!(answers < 30, "it is asked for more and more");
        }
        for what in ["memory", "kernels to be compiled", "submitted work", "the contents of a buffer"] {
            assert!(waits.contains(what), "{what} is not among {waits:?}");
        }
    }
}

block_on_test! {
    async fn a_device_that_answers_is_given_its_time() {
        let device = gpu().await;
        let fit = fit();
        let mut executor = device.prepare(fit.plan).await.expect("prepares");
        executor.submit(fit.step, 20).expect("submits");
        executor.settle(0).await.expect("settles");
        // Nothing is asked for longer than the timeout: that is no silence.
        inner(&device).set_timeout(Duration::from_millis(50));
        crate::common::sleep(200).await;
        inner(&device).set_timeout(NEVER);
        assert_eq!(executor.read(fit.weights).await.expect("reads").len(), 13);
    }
}

/// Keeps what is told, and silences the device after some steps of the training.
#[derive(Default)]
struct Silencing<'a> {
    device: Option<&'a Device>,
    after: u32,
    reached: BTreeMap<String, Vec<f32>>,
    /// Steps of the training that were computed.
    trained: Vec<u32>,
}

impl Control for Silencing<'_> {
    async fn checkpoint(&mut self, progress: Progress) -> Result<(), Failure> {
        if progress.phase == "training" && progress.done > 0 {
            self.trained.push(progress.done);
            if progress.done >= self.after
                && let Some(device) = self.device
            {
                silence_after(device, 0);
            }
        }
        Ok(())
    }

    fn chunk(&self) -> u32 {
        5
    }

    fn recall(&mut self, what: &str) -> Option<Vec<f32>> {
        self.reached.get(what).cloned()
    }

    fn keeps(&mut self, _finished: bool) -> bool {
        true
    }

    fn remember(&mut self, what: &str, values: Vec<f32>) {
        self.reached.insert(what.to_owned(), values);
    }
}

fn cloud(n: usize, seed: u64) -> Dense {
    let mut rng = Rng::new(seed);
    let centres = Dense::new(5, 4, rng.fill(20, -2.0, 2.0));
    Dense::from_fn(n, 4, |i, j| centres.at(i * i % 5, j) + 0.4 * rng.uniform(-1.0, 1.0))
}

block_on_test! {
    async fn a_run_whose_device_falls_silent_goes_on_on_the_cpu() {
        let sides = Sides::new(cloud(30, 3), cloud(25, 4)).expect("usable");
        let settings = Settings {
            sample: 25,
            encoder: EncoderChoice::Networks,
            measures: vec![Measure::same(Distance::Cosine)],
            train: AlignSettings { hidden: 8, embedding: 3, steps: 40, ..AlignSettings::default() },
            ..Settings::default()
        };
        let want = procedure::align(&Device::Cpu, &sides, &settings, &mut NoControl).await.expect("aligns");
        let device = gpu().await;
        let mut control = Silencing { device: Some(&device), after: 20, ..Silencing::default() };
        let failure = procedure::align(&device, &sides, &settings, &mut control).await.err();
        let Some(Failure::Device(error)) = failure else { panic!("{failure:?}") };
        asked(&error);
        let mut control = Silencing { reached: control.reached, ..Silencing::default() };
        let got = procedure::align(&Device::Cpu, &sides, &settings, &mut control).await.expect("goes on");
        let first = *control.trained.first().expect("steps were left");
        assert!(first > 10, "goes on from where it was kept, not from step {first}");
        assert_eq!(got.candidates.len(), want.candidates.len());
        for (got, want) in got.candidates.iter().zip(&want.candidates) {
            assert_eq!(got.origin, want.origin);
            assert!((got.score - want.score).abs() < 1e-3, "{} is not {}", got.score, want.score);
        }
    }
}

/// What the browser itself leaves unanswered.
#[cfg(target_arch = "wasm32")]
mod browser {
    use super::*;
    use compute::exec::{Preference, Reason};
    use js_sys::{Function, Object, Promise, Reflect};
    use wasm_bindgen::{JsCast, JsValue};

    /// A method that is replaced by one whose promise is never settled, until this is dropped.
    struct Unanswered {
        object: JsValue,
        method: &'static str,
        own: Option<JsValue>,
    }

    impl Unanswered {
        /// Of an object, by the names that lead to it.
        fn new(path: &[&str], method: &'static str) -> Self {
            let object = path.iter().fold(JsValue::from(js_sys::global()), |object, name| {
                Reflect::get(&object, &(*name).into()).expect("exists")
            });
            let own = Object::has_own(object.unchecked_ref::<Object>(), &method.into())
                .then(|| Reflect::get(&object, &method.into()).expect("exists"));
            let never = Function::new_no_args("return new Promise(() => {})");
            Reflect::set(&object, &method.into(), &never).expect("is replaced");
            Self { object, method, own }
        }
    }

    impl Drop for Unanswered {
        fn drop(&mut self) {
            let restored = match &self.own {
                Some(own) => Reflect::set(&self.object, &self.method.into(), own),
                None => Reflect::delete_property(self.object.unchecked_ref::<Object>(), &self.method.into()),
            };
            restored.expect("is restored");
        }
    }

    block_on_test! {
        async fn an_adapter_that_never_comes_leaves_the_work_to_the_cpu() {
            for (path, method) in [(["navigator", "gpu"], "requestAdapter"), (["GPUAdapter", "prototype"], "requestDevice")] {
                let unanswered = Unanswered::new(&path, method);
                for preference in [Preference::Auto, Preference::Gpu] {
                    let opened = Device::open_within(TIMEOUT, preference).await;
                    assert!(matches!(opened.device, Device::Cpu), "{method}");
                    let Reason::NoWebGpu(why) = opened.reason else { panic!("{method}: {:?}", opened.reason) };
                    assert!(why.contains("did not answer within 0.2 s"), "{method}: {why}");
                }
                drop(unanswered);
                gpu().await;
            }
        }
    }

    block_on_test! {
        async fn a_promise_of_a_device_that_is_never_settled_is_not_waited_for_for_ever() {
            for (class, method, what) in [
                ("GPUDevice", "popErrorScope", "memory"),
                ("GPUQueue", "onSubmittedWorkDone", "submitted work"),
                ("GPUBuffer", "mapAsync", "statistics"),
            ] {
                let device = gpu().await;
                play(&device).await.expect("answers");
                // Everything else is answered by then, also on a busy machine.
                inner(&device).set_timeout(Duration::from_secs(10));
                let unanswered = Unanswered::new(&[class, "prototype"], method);
                let outcome = play(&device).await;
                drop(unanswered);
                assert_eq!(asked(&outcome.expect_err("no answer")), what);
            }
        }
    }

    block_on_test! {
        async fn a_test_that_hangs_fails_with_its_name() {
            let never = wasm_bindgen_futures::JsFuture::from(Promise::new(&mut |_, _| {}));
            let failed = crate::common::within("some::test", 50, async { drop(never.await) }).await;
            assert_eq!(failed, Err("some::test did not end within 0.05 s".to_owned()));
            assert_eq!(crate::common::within("some::test", 60_000, async {}).await, Ok(()));
        }
    }
}
