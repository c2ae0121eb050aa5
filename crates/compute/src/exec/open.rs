//! Which executor runs, and why.

use super::cpu::BUFFER_LIMIT;
use super::{CpuExecutor, ExecError, Executor, Stats};
#[cfg(feature = "gpu")]
use super::{GpuDevice, GpuExecutor};
use crate::plan::{BufId, PassId, Plan};
use std::time::Duration;

/// What the visitor asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// WebGPU on a real graphics device, the CPU otherwise.
    #[default]
    Auto,
    Cpu,
    Gpu,
}

/// How long a browser may take for each of its answers while a device is opened. The first one may have to start a process
/// for it on a busy machine; but all that was asked for waits meanwhile, and the CPU could compute.
const OPEN_TIMEOUT: Duration = Duration::from_secs(20);

/// Why this executor was chosen.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// A graphics device is there and is used.
    Hardware,
    /// The visitor asked for this executor.
    Requested,
    /// The adapter is a CPU in disguise, slower than using the CPU directly.
    SoftwareAdapter,
    /// There is no WebGPU, for the reason given.
    NoWebGpu(String),
}

/// What is known about a graphics adapter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdapterFacts {
    /// As the platform gives it; some browsers give only the vendor and the architecture.
    pub name: String,
    /// A CPU pretending to be a graphics card: correct, and slower than the CPU executor.
    pub software: bool,
    /// The limits worth showing, by their WebGPU names.
    pub limits: Vec<(&'static str, u64)>,
}

/// Where plans are played.
#[derive(Clone)]
pub enum Device {
    Cpu,
    #[cfg(feature = "gpu")]
    Gpu(Box<GpuDevice>),
}

/// The outcome of [`Device::open`].
pub struct Opened {
    pub device: Device,
    pub reason: Reason,
    /// The adapter that was found, used or not.
    pub adapter: Option<AdapterFacts>,
}

impl Device {
    /// Opens what the visitor prefers. This always succeeds: the CPU is always there. Who asks for the
    /// CPU may do so because the graphics driver is at fault, so it is not touched then.
    pub async fn open(preference: Preference) -> Opened {
        Self::open_within(OPEN_TIMEOUT, preference).await
    }

    /// As [`Device::open`], with a timeout of its own for each answer of the browser.
    pub async fn open_within(timeout: Duration, preference: Preference) -> Opened {
        let on_cpu = |reason, adapter| Opened { device: Device::Cpu, reason, adapter };
        if preference == Preference::Cpu {
            return on_cpu(Reason::Requested, None);
        }
        #[cfg(feature = "gpu")]
        match GpuDevice::open(timeout).await {
            Ok(gpu) => {
                let adapter = Some(gpu.facts().clone());
                if preference == Preference::Auto && gpu.facts().software {
                    gpu.destroy();
                    return on_cpu(Reason::SoftwareAdapter, adapter);
                }
                let asked = preference == Preference::Gpu;
                let reason = if asked { Reason::Requested } else { Reason::Hardware };
                Opened { device: Device::Gpu(Box::new(gpu)), reason, adapter }
            }
            Err(ExecError::Unavailable { why }) => on_cpu(Reason::NoWebGpu(why), None),
            Err(error) => on_cpu(Reason::NoWebGpu(error.to_string()), None),
        }
        #[cfg(not(feature = "gpu"))]
        let _ = timeout;
        #[cfg(not(feature = "gpu"))]
        on_cpu(Reason::NoWebGpu("this build has no WebGPU executor".into()), None)
    }

    /// Gives a device back that nothing uses any more: browsers keep one that is merely dropped.
    pub fn close(self) {
        match self {
            Self::Cpu => {}
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu) => gpu.destroy(),
        }
    }

    /// The most one buffer may take, in bytes.
    pub fn largest_buffer(&self) -> u64 {
        match self {
            Self::Cpu => BUFFER_LIMIT,
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu) => gpu.largest_buffer(),
        }
    }

    /// Prepares a plan for this device.
    pub async fn prepare(&self, plan: Plan) -> Result<AnyExecutor, ExecError> {
        match self {
            Self::Cpu => CpuExecutor::prepare(plan).map(AnyExecutor::Cpu),
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu) => GpuExecutor::prepare(gpu, plan).await.map(Box::new).map(AnyExecutor::Gpu),
        }
    }
}

/// Either executor, for code that is told at run time which one to use.
pub enum AnyExecutor {
    Cpu(CpuExecutor),
    #[cfg(feature = "gpu")]
    Gpu(Box<GpuExecutor>),
}

/// Calls the same method on whichever executor it is.
macro_rules! delegate {
    ($self:ident, $inner:ident => $call:expr) => {
        match $self {
            AnyExecutor::Cpu($inner) => $call,
            #[cfg(feature = "gpu")]
            AnyExecutor::Gpu($inner) => $call,
        }
    };
}

impl Executor for AnyExecutor {
    fn write(&mut self, buf: BufId, data: &[f32]) -> Result<(), ExecError> {
        delegate!(self, executor => executor.write(buf, data))
    }

    fn submit(&mut self, pass: PassId, repeats: u32) -> Result<(), ExecError> {
        delegate!(self, executor => executor.submit(pass, repeats))
    }

    async fn settle(&mut self, in_flight: u32) -> Result<(), ExecError> {
        delegate!(self, executor => executor.settle(in_flight).await)
    }

    fn stats(&mut self) -> Result<Option<Stats>, ExecError> {
        delegate!(self, executor => executor.stats())
    }

    async fn read(&mut self, buf: BufId) -> Result<Vec<f32>, ExecError> {
        delegate!(self, executor => executor.read(buf).await)
    }
}
