//! The CPU executor: plays each stage by calling the kernel's twin. No GPU crate is involved.

use super::{ExecError, Executor, Stats, StatsCursor};
use crate::plan::{Access, BufId, Call, PassId, Plan, Stage};

/// The most memory a plan may take. In a browser a wasm module addresses 4 GiB, and the data and
/// results of the run live there as well; natively the allocator has the last word.
const LIMIT: u64 = if cfg!(target_arch = "wasm32") { 3 << 30 } else { 1 << 62 };

/// The most one buffer may take: kernels address elements with 32 bits.
pub(super) const BUFFER_LIMIT: u64 = 4 * u32::MAX as u64;

/// A plan with its buffers in ordinary memory.
pub struct CpuExecutor {
    plan: Plan,
    buffers: Vec<Vec<f32>>,
    cursor: StatsCursor,
}

impl CpuExecutor {
    /// Allocates the buffers, or says what does not fit before allocating any.
    pub fn prepare(mut plan: Plan) -> Result<Self, ExecError> {
        let needed = plan.bytes();
        refuse_above(LIMIT, needed, || "all buffers together".into())?;
        for desc in plan.buffers() {
            refuse_above(BUFFER_LIMIT, desc.bytes(), || format!("the buffer '{}'", desc.label))?;
        }
        // All of it is reserved before any of it is touched.
        let mut buffers: Vec<Vec<f32>> = Vec::with_capacity(plan.buffers().len());
        for desc in plan.buffers() {
            let mut buffer = Vec::new();
            buffer
                .try_reserve_exact(desc.len as usize)
                .map_err(|_| ExecError::OutOfMemory { needed, device: "This computer".into() })?;
            buffers.push(buffer);
        }
        let initial = plan.take_initial();
        for ((buffer, desc), initial) in buffers.iter_mut().zip(plan.buffers()).zip(initial) {
            buffer.extend_from_slice(&initial);
            buffer.resize(desc.len as usize, 0.0);
        }
        Ok(Self { plan, buffers, cursor: StatsCursor::default() })
    }

    fn play(buffers: &mut [Vec<f32>], stage: &Stage) {
        let bound = || stage.kernel.bindings.iter().zip(&stage.buffers);
        // What is written is moved out for the duration of the call: the plan guarantees that it is
        // bound once, so the rest can be shared.
        let mut written: Vec<Vec<f32>> = bound()
            .filter(|(binding, _)| binding.access == Access::Write)
            .map(|(_, buf)| std::mem::take(&mut buffers[buf.index()]))
            .collect();
        let reads = bound()
            .filter(|(binding, _)| binding.access == Access::Read)
            .map(|(_, buf)| buffers[buf.index()].as_slice())
            .collect();
        let writes = written.iter_mut().map(Vec::as_mut_slice).collect();
        (stage.kernel.twin)(Call::new(stage, reads, writes));
        let targets = bound().filter(|(binding, _)| binding.access == Access::Write);
        for ((_, buf), contents) in targets.zip(written) {
            buffers[buf.index()] = contents;
        }
    }
}

fn refuse_above(limit: u64, needed: u64, what: impl Fn() -> String) -> Result<(), ExecError> {
    if needed <= limit {
        return Ok(());
    }
    Err(ExecError::TooLarge { what: what(), needed, limit, device: "the CPU executor".into() })
}

impl Executor for CpuExecutor {
    fn write(&mut self, buf: BufId, data: &[f32]) -> Result<(), ExecError> {
        self.buffers[buf.index()].copy_from_slice(data);
        Ok(())
    }

    fn submit(&mut self, pass: PassId, repeats: u32) -> Result<(), ExecError> {
        for _ in 0..repeats {
            for stage in &self.plan.pass(pass).stages {
                Self::play(&mut self.buffers, stage);
            }
        }
        Ok(())
    }

    async fn settle(&mut self, _in_flight: u32) -> Result<(), ExecError> {
        Ok(()) // A submit has finished when it returns.
    }

    fn stats(&mut self) -> Result<Option<Stats>, ExecError> {
        let (Some(ring), Some(clock)) = (self.plan.stats(), self.plan.clock()) else {
            return Ok(None);
        };
        let step = self.buffers[clock.step.index()][0].to_bits();
        let contents = &self.buffers[ring.buf.index()];
        Ok(self.cursor.advance(contents, ring.columns, ring.rows, step))
    }

    async fn read(&mut self, buf: BufId) -> Result<Vec<f32>, ExecError> {
        Ok(self.buffers[buf.index()].clone())
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::plan::Elem;

    #[test]
    fn a_buffer_beyond_32_bit_addresses_is_refused_with_its_size() {
        let mut plan = Plan::new();
        plan.mat("cost", 100_000, 100_000);
        let error = CpuExecutor::prepare(plan).err().expect("refused");
        assert!(error.to_string().contains("40.00 GB for the buffer 'cost'"), "{error}");
    }

    #[test]
    fn memory_that_is_not_there_is_an_error_not_an_abort() {
        let mut plan = Plan::new();
        for _ in 0..1 << 17 {
            plan.buffer("large", Elem::F32, u32::MAX.into());
        }
        let error = CpuExecutor::prepare(plan).err().expect("2 PB are refused");
        assert!(matches!(error, ExecError::OutOfMemory { .. }), "{error}");
    }
}
