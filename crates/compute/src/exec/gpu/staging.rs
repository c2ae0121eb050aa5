//! A ring of staging buffers through which statistics travel to the host without anybody waiting.

use super::buffer::Buffer;
use super::health::Health;
use super::signal::Signal;

/// Copies in flight at most. When all are busy a submit simply takes no snapshot: the rows stay in the
/// device's ring, and a later snapshot carries them.
const SLOTS: usize = 3;

type Mapped = Result<(), wgpu::BufferAsyncError>;

struct Slot {
    buffer: Buffer,
    /// Set while a copy is under way: `(serial, completion)`.
    pending: Option<(u64, Signal<Mapped>)>,
}

/// Snapshots of the step counter followed by the statistics ring.
pub(super) struct StagingRing {
    slots: Vec<Slot>,
    serial: u64,
    ring_bytes: u64,
}

impl StagingRing {
    pub(super) fn new(device: &wgpu::Device, ring_bytes: u64) -> Self {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let slots = (0..SLOTS)
            .map(|_| Slot {
                buffer: Buffer::new(device, "statistics staging", ring_bytes + 4, usage),
                pending: None,
            })
            .collect();
        Self { slots, serial: 0, ring_bytes }
    }

    /// Encodes a snapshot into a free slot; `None` when all are in flight.
    pub(super) fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        step: &wgpu::Buffer,
        ring: &wgpu::Buffer,
    ) -> Option<usize> {
        let index = self.slots.iter().position(|slot| slot.pending.is_none())?;
        let target = &self.slots[index].buffer;
        encoder.copy_buffer_to_buffer(step, 0, target, 0, 4);
        encoder.copy_buffer_to_buffer(ring, 0, target, 4, self.ring_bytes);
        Some(index)
    }

    /// Asks for the slot's contents; to be called after the submit that fills it.
    pub(super) fn map(&mut self, index: usize, health: &Health) {
        self.serial += 1;
        let slot = &mut self.slots[index];
        let (signal, done) = health.signal();
        slot.buffer.map_async(wgpu::MapMode::Read, .., done);
        slot.pending = Some((self.serial, signal));
    }

    /// Waits until every snapshot under way has arrived.
    pub(super) async fn arrived(&self) {
        for (_, signal) in self.slots.iter().filter_map(|slot| slot.pending.as_ref()) {
            signal.arrived().await;
        }
    }

    /// The newest snapshot that has arrived, as words; older ones are let go.
    pub(super) fn newest(&mut self) -> Option<Vec<u32>> {
        let mut newest: Option<(u64, Vec<u32>)> = None;
        for slot in &mut self.slots {
            let Some((serial, signal)) = &slot.pending else { continue };
            let (serial, Some(result)) = (*serial, signal.take()) else { continue };
            slot.pending = None;
            // A failed mapping means a lost device, which its callback reports.
            if result.is_ok()
                && newest.as_ref().is_none_or(|(s, _)| *s < serial)
                && let Ok(view) = slot.buffer.get_mapped_range(..)
            {
                newest = Some((serial, bytemuck::pod_collect_to_vec(&view)));
            }
            slot.buffer.unmap();
        }
        newest.map(|(_, words)| words)
    }
}
