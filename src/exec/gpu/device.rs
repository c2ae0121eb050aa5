//! The connection to a graphics device, and the news of its loss.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::{AdapterFacts, ExecError};
use super::limits;
use super::pipelines::PipelineCache;
use super::signal::Signal;

/// An open device. Cloning is cheap and shares it.
#[derive(Clone)]
pub struct GpuDevice {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) limits: wgpu::Limits,
    pub(super) pipelines: Rc<RefCell<PipelineCache>>,
    failure: Arc<Mutex<Option<ExecError>>>,
    failed: Signal<()>,
    facts: AdapterFacts,
}

impl GpuDevice {
    /// The most one buffer may take, in bytes.
    pub fn largest_buffer(&self) -> u64 {
        limits::largest_buffer(&self.limits)
    }

    /// Opens the adapter the platform prefers, or says why there is none.
    pub async fn open() -> Result<Self, ExecError> {
        let unavailable = |why: String| ExecError::Unavailable { why };
        #[cfg(target_arch = "wasm32")]
        let browser =
            super::browser::describe_adapter().await.map_err(|why| ExecError::Unavailable { why })?;
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..Default::default()
        };
        let adapter = instance
            .request_adapter(&options)
            .await
            .map_err(|_| unavailable("the browser offers no graphics adapter".into()))?;
        let required_limits = limits::wanted(&adapter.limits());
        let (device, queue) = adapter
            .request_device(&wgpu::DeviceDescriptor {
                label: Some("concord"),
                required_limits: required_limits.clone(),
                ..Default::default()
            })
            .await
            .map_err(|error| unavailable(format!("the adapter gave no device ({error})")))?;

        let (failure, failed) = (Arc::new(Mutex::new(None)), Signal::new());
        // The first failure is the cause; what follows are its consequences.
        let note = |error: ExecError, slot: &Mutex<Option<ExecError>>, failed: &Signal<()>| {
            slot.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            failed.set(());
        };
        let (slot, signal) = (Arc::clone(&failure), failed.clone());
        device.set_device_lost_callback(move |reason, message| {
            let details = if message.is_empty() { format!("{reason:?}") } else { message };
            note(ExecError::DeviceLost { details }, &slot, &signal);
        });
        let (slot, signal) = (Arc::clone(&failure), failed.clone());
        device.on_uncaptured_error(Arc::new(move |error| note(rejected(error), &slot, &signal)));

        let info = adapter.get_info();
        #[cfg(target_arch = "wasm32")]
        let info = wgpu::AdapterInfo { name: browser, ..info };
        let facts = AdapterFacts {
            software: info.device_type == wgpu::DeviceType::Cpu || is_software(&info.name),
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
        Ok(Self { device, queue, limits: required_limits, pipelines, failure, failed, facts })
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

    /// Waits until the device fails, also while nobody uses it, and tells why.
    pub async fn failed(&self) -> ExecError {
        self.failed.arrived().await;
        self.health().err().unwrap_or_else(|| ExecError::DeviceLost { details: String::new() })
    }

    /// The first thing that went wrong, if anything has.
    pub(super) fn health(&self) -> Result<(), ExecError> {
        match &*self.failure.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// Natively somebody has to drive the callbacks; browsers do it themselves, and never wait here.
    pub(super) fn poll(&self, wait: bool) {
        let kind = if wait { wgpu::PollType::wait_indefinitely() } else { wgpu::PollType::Poll };
        // A poll fails only on a lost device, which the callback reports.
        let _ = self.device.poll(kind);
    }
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
