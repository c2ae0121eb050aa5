//! A case: a tiny plan with seeded inputs, and which of its buffers two executors must agree on.

use crate::plan::{BufId, Mat, PassId, Plan};
use crate::rng::Rng;

/// One comparison of executors.
pub struct Case {
    /// What is special about it, for the table on the diagnostics page.
    pub label: String,
    pub plan: Plan,
    pub pass: PassId,
    /// How often the pass is played before comparing.
    pub repeats: u32,
    pub outputs: Vec<BufId>,
    /// The largest allowed difference, relative to the largest value of an output (or to 1 if smaller).
    /// Wide enough for the precision WGSL grants to `exp`, `log` and `tanh` on real devices.
    pub tolerance: f32,
}

/// Builds a [`Case`]: inputs first, then `record`, then [`CaseBuilder::compare`].
pub(crate) struct CaseBuilder {
    label: String,
    pub(crate) plan: Plan,
    pass: PassId,
    rng: Rng,
}

impl CaseBuilder {
    #[inline(never)]
    pub(crate) fn new(label: String) -> Self {
        let seed = label.bytes().fold(17, |h: u64, b| h.wrapping_mul(31).wrapping_add(b.into()));
        let mut plan = Plan::new();
        let pass = plan.begin_pass("case");
        Self { label, plan, pass, rng: Rng::new(seed) }
    }

    /// A stack of matrices filled uniformly from [low, high). It does not start at the buffer's
    /// beginning and has gaps, so that offsets and strides are put to the test in every case.
    #[inline(never)]
    pub(crate) fn random(&mut self, label: &'static str, shape: [u32; 3], low: f32, high: f32) -> Mat {
        let mat = self.gapped(label, shape);
        let data = self.rng.fill(self.plan.buffers()[mat.buf.index()].len as usize, low, high);
        self.plan.set_initial(mat.buf, &data);
        mat
    }

    /// A stack of zero matrices with an offset and gaps.
    #[inline(never)]
    pub(crate) fn gapped(&mut self, label: &'static str, [batch, rows, cols]: [u32; 3]) -> Mat {
        let (offset, stride) = (3, rows * cols + 5);
        let dense = self.plan.mat(label, 1, offset + batch * stride);
        Mat { buf: dense.buf, offset, rows, cols, batch, stride }
    }

    #[inline(never)]
    pub(crate) fn uniform(&mut self, len: usize, low: f32, high: f32) -> Vec<f32> {
        self.rng.fill(len, low, high)
    }

    pub(crate) fn compare(self, outputs: &[BufId], tolerance: f32) -> Case {
        self.compare_after(1, outputs, tolerance)
    }

    /// Compare after the pass was played `repeats` times.
    #[inline(never)]
    pub(crate) fn compare_after(self, repeats: u32, outputs: &[BufId], tolerance: f32) -> Case {
        Case {
            label: self.label,
            plan: self.plan,
            pass: self.pass,
            repeats,
            outputs: outputs.to_vec(),
            tolerance,
        }
    }
}
