//! The recording: buffers and an ordered list of kernel dispatches, nothing that runs.
//!
//! Solver code records a [`Plan`] once; an executor plays it, many times. That is how one algorithm
//! runs on the CPU and on WebGPU without being written twice. This module knows no mathematics and no
//! executor: it only keeps the recording consistent (sizes, bindings, aliasing).

mod buffer;
mod call;
mod clock;
mod kernel;

use std::ops::Range;

pub use buffer::{BufId, BufferDesc, Mat};
pub use call::Call;
pub use clock::{Clock, StatsRing};
pub(crate) use kernel::params;
pub use kernel::{Access, Binding, Elem, Field, Kernel, Params};

/// The most workgroups one dispatch may have along an axis on every WebGPU device.
const MAX_GROUPS: u32 = 65_535;

/// One recorded dispatch of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    pub kernel: &'static Kernel,
    /// The kernel's uniform block, as 32-bit words.
    pub params: Vec<u32>,
    /// Values of the kernel's pipeline-overridable constants, in the order it declares them.
    pub constants: Vec<u32>,
    /// One buffer per declared binding, in order.
    pub buffers: Vec<BufId>,
    /// Workgroups along x, y, z.
    pub grid: [u32; 3],
}

/// A list of stages that is submitted as a whole, often many times in a row.
#[derive(Clone, Debug)]
pub struct Pass {
    pub label: &'static str,
    pub stages: Vec<Stage>,
}

/// Names a pass of the plan that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassId(usize);

/// Buffers and passes, recorded once and replayed.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    buffers: Vec<BufferDesc>,
    passes: Vec<Pass>,
    clock: Option<Clock>,
    stats: Option<StatsRing>,
}

impl Plan {
    pub fn new() -> Self {
        Self::default()
    }

    /// A buffer of `len` 32-bit elements that starts as zeros.
    #[inline(never)]
    pub fn buffer(&mut self, label: &'static str, elem: Elem, len: u64) -> BufId {
        assert!(len > 0, "buffer '{label}' has no elements");
        self.buffers.push(BufferDesc { label, elem, len, initial: Vec::new() });
        BufId(self.buffers.len() - 1)
    }

    /// A stack of `batch` zero matrices, densely packed, row-major.
    #[inline(never)]
    pub fn mats(&mut self, label: &'static str, batch: u32, rows: u32, cols: u32) -> Mat {
        let len = u64::from(rows) * u64::from(cols);
        let buf = self.buffer(label, Elem::F32, u64::from(batch) * len);
        // A matrix beyond 32-bit addresses can be recorded, so that it can be refused with its size.
        Mat { buf, offset: 0, rows, cols, batch, stride: u32::try_from(len).unwrap_or(u32::MAX) }
    }

    /// A single zero matrix.
    pub fn mat(&mut self, label: &'static str, rows: u32, cols: u32) -> Mat {
        self.mats(label, 1, rows, cols)
    }

    /// What the buffer holds when an executor first prepares the plan.
    #[inline(never)]
    pub fn set_initial(&mut self, buf: BufId, data: &[f32]) {
        let desc = &mut self.buffers[buf.0];
        assert_eq!(data.len() as u64, desc.len, "initial contents of '{}'", desc.label);
        desc.initial = data.to_vec();
    }

    /// Hands the first contents of every buffer over, in order; an executor needs them only once.
    pub fn take_initial(&mut self) -> Vec<Vec<f32>> {
        self.buffers.iter_mut().map(|desc| std::mem::take(&mut desc.initial)).collect()
    }

    /// Starts a new pass; stages recorded from here on belong to it.
    pub fn begin_pass(&mut self, label: &'static str) -> PassId {
        self.passes.push(Pass { label, stages: Vec::new() });
        PassId(self.passes.len() - 1)
    }

    /// How many stages a pass has so far.
    pub fn recorded(&self, pass: PassId) -> usize {
        self.passes[pass.0].stages.len()
    }

    /// Records some stages of an earlier pass once more, on the same buffers: what two passes have in common takes memory
    /// once.
    pub fn repeat(&mut self, pass: PassId, stages: Range<usize>) {
        let again = self.passes[pass.0].stages[stages].to_vec();
        let pass = self.passes.last_mut().expect("begin_pass comes before the first stage");
        pass.stages.extend(again);
    }

    /// Records one dispatch into the current pass.
    ///
    /// Panics on a recording that no executor could play (wrong binding count, a written buffer bound
    /// twice, an empty grid): those are mistakes of the recording code, never of a user. What is merely
    /// too large is recorded, and refused by the executor that cannot take it.
    pub fn record<P: Params>(
        &mut self,
        kernel: &'static Kernel,
        params: &P,
        constants: &[u32],
        buffers: &[BufId],
        grid: [u32; 3],
    ) {
        let words = bytemuck::cast_slice(std::slice::from_ref(params)).to_vec();
        assert_eq!(P::FIELDS, kernel.params, "{}: parameters of another kernel", kernel.name);
        self.record_words(kernel, words, constants, buffers, grid);
    }

    /// [`Plan::record`] once for all kernels: kept out of line, as the page's download counts every copy.
    #[inline(never)]
    fn record_words(
        &mut self,
        kernel: &'static Kernel,
        params: Vec<u32>,
        constants: &[u32],
        buffers: &[BufId],
        grid: [u32; 3],
    ) {
        let name = kernel.name;
        assert_eq!(constants.len(), kernel.constants.len(), "{name}: constants");
        assert_eq!(buffers.len(), kernel.bindings.len(), "{name}: bindings");
        assert!(!grid.contains(&0), "{name}: an empty grid {grid:?}");
        for (i, (binding, buf)) in kernel.bindings.iter().zip(buffers).enumerate() {
            let desc = &self.buffers[buf.0];
            assert_eq!(desc.elem, binding.elem, "{name}: '{}' bound to '{}'", desc.label, binding.name);
            let shared = buffers.iter().enumerate().any(|(j, other)| j != i && other == buf);
            assert!(
                binding.access == Access::Read || !shared,
                "{name}: '{}' is written and bound a second time, which WebGPU forbids",
                desc.label
            );
        }
        let pass = self.passes.last_mut().expect("begin_pass comes before the first stage");
        pass.stages.push(Stage {
            kernel,
            params,
            constants: constants.to_vec(),
            buffers: buffers.to_vec(),
            grid,
        });
    }

    /// Gives the plan its step counter and per-step scalars; see [`Clock`].
    pub fn set_schedule(&mut self, columns: u32, rows: &[f32]) -> Clock {
        assert!(self.clock.is_none(), "a plan has one clock");
        assert!(columns > 0 && !rows.is_empty() && rows.len().is_multiple_of(columns as usize));
        let steps = (rows.len() / columns as usize) as u32;
        let step = self.buffer("step", Elem::U32, 1);
        let schedule = self.buffer("schedule", Elem::F32, rows.len() as u64);
        self.set_initial(schedule, rows);
        let clock = Clock { step, schedule, columns, steps };
        self.clock = Some(clock);
        clock
    }

    /// Gives the plan a ring of per-step statistics; see [`StatsRing`].
    pub fn set_stats(&mut self, columns: u32, rows: u32) -> StatsRing {
        assert!(self.stats.is_none(), "a plan has one statistics ring");
        let buf = self.buffer("stats", Elem::F32, u64::from(columns) * u64::from(rows));
        let stats = StatsRing { buf, columns, rows };
        self.stats = Some(stats);
        stats
    }

    pub fn clock(&self) -> Option<Clock> {
        self.clock
    }

    pub fn stats(&self) -> Option<StatsRing> {
        self.stats
    }

    pub fn buffers(&self) -> &[BufferDesc] {
        &self.buffers
    }

    /// The names of all buffers, in the order of [`Plan::buffers`].
    pub fn ids(&self) -> impl Iterator<Item = BufId> + use<> {
        (0..self.buffers.len()).map(BufId)
    }

    pub fn passes(&self) -> &[Pass] {
        &self.passes
    }

    pub fn pass(&self, id: PassId) -> &Pass {
        &self.passes[id.0]
    }

    /// Bytes of all buffers together.
    pub fn bytes(&self) -> u64 {
        self.buffers.iter().map(BufferDesc::bytes).sum()
    }
}

impl PassId {
    pub fn index(self) -> usize {
        self.0
    }
}

/// Workgroups for `items` work items of `per_group` each, folded into two axes when one is not enough;
/// `linear_group` in `shaders/shared/grid.wgsl` undoes the folding.
pub fn linear_grid(items: u64, per_group: u64, batch: u32) -> [u32; 3] {
    let groups = items.div_ceil(per_group).max(1);
    let y = groups.div_ceil(MAX_GROUPS.into());
    let x = groups.div_ceil(y);
    [x, y, batch.into()].map(|axis: u64| u32::try_from(axis).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_grid_covers_everything_within_the_limit() {
        for items in [1, 255, 256, 257, 16_776_960, 16_776_961, 400_000_000] {
            let [x, y, z] = linear_grid(items, 256, 3);
            assert!(x <= MAX_GROUPS && y <= MAX_GROUPS && z == 3);
            assert!(u64::from(x) * u64::from(y) * 256 >= items, "{items}");
        }
    }
}
