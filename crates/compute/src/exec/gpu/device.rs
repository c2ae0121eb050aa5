//! The connection to a graphics device, and the news of its loss.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::super::{AdapterFacts, ExecError};
use super::health::Health;
use super::limits;
use super::pipelines::PipelineCache;

/// An open device. Cloning is cheap and shares it.
#[derive(Clone)]
pub struct GpuDevice {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) limits: wgpu::Limits,
    pub(super) pipelines: Rc<RefCell<PipelineCache>>,
    pub(super) health: Health,
    facts: AdapterFacts,
}

impl GpuDevice {
    /// The most one buffer may take, in bytes.
    pub fn largest_buffer(&self) -> u64 {
        limits::largest_buffer(&self.limits)
    }

    /// Opens the adapter the platform prefers, or says why there is none. A browser that leaves one of three questions
    /// unanswered for longer than `timeout` has none; natively the driver answers within the call.
    pub async fn open(timeout: Duration) -> Result<Self, ExecError> {
        let unavailable = |why: String| ExecError::Unavailable { why };
        #[cfg(target_arch = "wasm32")]
        let browser = answered("an adapter", timeout, super::browser::describe_adapter())
            .await?
            .map_err(unavailable)?;
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..Default::default()
        };
        let adapter = answered("an adapter", timeout, instance.request_adapter(&options))
            .await?
            .map_err(|_| unavailable("the browser offers no graphics adapter".into()))?;
        let required_limits = limits::wanted(&adapter.limits());
        let wanted = wgpu::DeviceDescriptor {
            label: Some("concord"),
            required_limits: required_limits.clone(),
            ..Default::default()
        };
        let (device, queue) = answered("a device", timeout, adapter.request_device(&wanted))
            .await?
            .map_err(|error| unavailable(format!("the adapter gave no device ({error})")))?;

        let info = adapter.get_info();
        #[cfg(target_arch = "wasm32")]
        let info = wgpu::AdapterInfo { name: browser, ..info };
        let software = info.device_type == wgpu::DeviceType::Cpu || is_software(&info.name);
        let health = Health::new(software);
        let lost = health.clone();
        device.set_device_lost_callback(move |reason, message| {
            let details = if message.is_empty() { format!("{reason:?}") } else { message };
            lost.fail(ExecError::DeviceLost { details, silent: false });
        });
        let failing = health.clone();
        device.on_uncaptured_error(Arc::new(move |error| failing.fail(rejected(error))));
        let facts = AdapterFacts {
            software,
            name: info.name,
            limits: vec![
                ("maxBufferSize", required_limits.max_buffer_size),
                ("maxStorageBufferBindingSize", required_limits.max_storage_buffer_binding_size),
                (
                    "maxStorageBuffersPerShaderStage",
                    required_limits.max_storage_buffers_per_shader_stage.into(),
                ),
                ("maxComputeWorkgroupStorageSize", required_limits.max_compute_workgroup_storage_size.into()),
                (
                    "maxComputeInvocationsPerWorkgroup",
                    required_limits.max_compute_invocations_per_workgroup.into(),
                ),
                (
                    "maxComputeWorkgroupsPerDimension",
                    required_limits.max_compute_workgroups_per_dimension.into(),
                ),
            ],
        };
        let pipelines = Rc::default();
        Ok(Self { device, queue, limits: required_limits, pipelines, health, facts })
    }

    pub fn facts(&self) -> &AdapterFacts {
        &self.facts
    }

    /// The name for messages.
    pub fn name(&self) -> &str {
        if self.facts.name.is_empty() { "this graphics device" } else { &self.facts.name }
    }

    /// Gives the device up, as a driver reset would. For one that is not used, for the fault drill and for the tests.
    pub fn destroy(&self) {
        self.device.destroy();
    }

    /// After so many more answers the device gives none, as one whose driver hangs, and has this timeout from then on. For
    /// the fault drill and for the tests.
    pub fn silence_after(&self, answers: u64, timeout: Duration) {
        self.health.silence_after(answers, timeout);
    }

    /// How long the device may leave everything unanswered before it is taken for lost.
    pub fn set_timeout(&self, timeout: Duration) {
        self.health.set_timeout(timeout);
    }

    /// Waits until the device fails, also while nobody uses it, and returns why.
    pub async fn failed(&self) -> ExecError {
        self.health.failed().await
    }

    /// The first thing that went wrong, if anything has.
    pub(super) fn check(&self) -> Result<(), ExecError> {
        self.health.check()
    }

    /// Waits for what was asked of the device; one that does not answer is lost after a timeout.
    pub(super) async fn answer<T>(
        &self,
        what: &'static str,
        answer: impl Future<Output = T>,
    ) -> Result<T, ExecError> {
        self.health.answer(&self.device, what, answer).await
    }

    /// Waits for what an error scope has caught.
    pub(super) async fn caught(
        &self,
        what: &'static str,
        scope: wgpu::ErrorScopeGuard,
    ) -> Result<Option<wgpu::Error>, ExecError> {
        self.answer(what, self.health.counted(scope.pop())).await
    }

    /// Has the device answer when it gets there: to compile many kernels takes a while, and each is a sign that it lives.
    pub(super) fn ask_for_a_sign(&self) {
        let (_, done) = self.health.signal();
        self.queue.on_submitted_work_done(move || done(()));
    }

    /// Natively somebody has to drive the callbacks; browsers do it themselves.
    pub(super) fn poll(&self) {
        // A poll fails only on a lost device, which the callback reports.
        let _ = self.device.poll(wgpu::PollType::Poll);
    }
}

/// What a browser answers when it is asked for an adapter or a device; one that never does has no WebGPU.
#[cfg(target_arch = "wasm32")]
async fn answered<T>(what: &str, timeout: Duration, answer: impl Future<Output = T>) -> Result<T, ExecError> {
    let timer = timeout::sleep(timeout.as_millis() as i32);
    timeout::before(timer, answer).await.ok_or_else(|| ExecError::Unavailable {
        why: format!("the browser did not answer within {} s when asked for {what}", timeout.as_secs_f64()),
    })
}

/// Natively these futures are ready at once.
#[cfg(not(target_arch = "wasm32"))]
async fn answered<T>(
    _what: &str,
    _timeout: Duration,
    answer: impl Future<Output = T>,
) -> Result<T, ExecError> {
    Ok(answer.await)
}

/// Browsers do not always mark their software adapters as such; the names are well known.
fn is_software(name: &str) -> bool {
    let name = name.to_lowercase();
    ["swiftshader", "llvmpipe", "lavapipe", "basic render"].iter().any(|known| name.contains(known))
}

/// A wgpu error that no limit check foresaw.
pub(super) fn rejected(error: wgpu::Error) -> ExecError {
    ExecError::Rejected { details: error.to_string() }
}
