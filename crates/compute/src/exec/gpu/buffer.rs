//! Memory of a device that is given back with its last owner.
//!
//! Dropping a [`wgpu::Buffer`] does that natively only. In a browser it drops a reference to a JavaScript object of a few
//! bytes, and what lies behind it stays taken until the worker's garbage is collected: a device is full of the buffers of
//! earlier runs long before those bytes make a browser collect.

use std::ops::Deref;

/// A buffer, destroyed when it is dropped. What was submitted before is still carried out.
pub(super) struct Buffer(wgpu::Buffer);

impl Buffer {
    pub(super) fn new(device: &wgpu::Device, label: &str, size: u64, usage: wgpu::BufferUsages) -> Self {
        let label = Some(label);
        Self(device.create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false }))
    }
}

impl Deref for Buffer {
    type Target = wgpu::Buffer;

    fn deref(&self) -> &wgpu::Buffer {
        &self.0
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.0.destroy();
    }
}
