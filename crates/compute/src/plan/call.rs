//! What a CPU twin is called with.

use super::{Access, Params, Stage};

/// One stage with its buffers at hand: shared slices for what it reads, exclusive ones for what it writes.
pub struct Call<'a> {
    stage: &'a Stage,
    reads: Vec<&'a [f32]>,
    writes: Vec<&'a mut [f32]>,
}

impl<'a> Call<'a> {
    /// `reads` and `writes` in the order in which the kernel declares them.
    pub fn new(stage: &'a Stage, reads: Vec<&'a [f32]>, writes: Vec<&'a mut [f32]>) -> Self {
        let count = |access| stage.kernel.bindings.iter().filter(|b| b.access == access).count();
        debug_assert_eq!(reads.len(), count(Access::Read));
        debug_assert_eq!(writes.len(), count(Access::Write));
        Self { stage, reads, writes }
    }

    pub fn params<P: Params>(&self) -> P {
        debug_assert_eq!(P::FIELDS, self.stage.kernel.params);
        bytemuck::pod_read_unaligned(bytemuck::cast_slice(&self.stage.params))
    }

    /// The value of the `index`-th pipeline constant.
    pub fn constant(&self, index: usize) -> u32 {
        self.stage.constants[index]
    }

    /// Matrices in the stack: the depth of the grid.
    pub fn batch(&self) -> usize {
        self.stage.grid[2] as usize
    }

    /// The buffers, named by destructuring: `let ([a, b], [c]) = call.buffers();`
    pub fn buffers<const R: usize, const W: usize>(self) -> ([&'a [f32]; R], [&'a mut [f32]; W]) {
        let name = self.stage.kernel.name;
        let reads = self.reads.try_into().unwrap_or_else(|_| panic!("{name}: {R} read bindings"));
        let writes = self.writes.try_into().unwrap_or_else(|_| panic!("{name}: {W} written bindings"));
        (reads, writes)
    }
}
