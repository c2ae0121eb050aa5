//! The WebGPU executor: plays a plan with wgpu, in the browser on WebGPU, natively on Vulkan.
//!
//! [`GpuDevice`] owns the connection and notices its loss. [`GpuExecutor`] owns one prepared plan:
//! pipelines and bind groups are made once, a submit only replays them.

#[cfg(target_arch = "wasm32")]
mod browser;
mod buffer;
mod device;
mod executor;
mod health;
mod limits;
mod pipelines;
mod signal;
mod staging;

pub use device::GpuDevice;
pub use executor::GpuExecutor;
