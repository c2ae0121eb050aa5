//! One entropic transport between what encoders make of the points, run until its marginals are met.

use super::control::{Control, Failure, Progress};
use crate::exec::{Device, Executor};
use crate::geometry::Dense;
use crate::metrics::plan::matches;
use crate::scale::Matching;
use crate::solver::infer::{Encoders, Infer};

/// The sum of the columns' misses at which a transport counts as solved.
const SOLVED: f32 = 1e-3;
/// That at which it is good enough to be compared with others.
pub(super) const COMPARABLE: f32 = 5e-3;
/// Submits after ε has fallen, at most.
const PATIENCE: u32 = 60;

/// A plan between points, and how well it was solved. Between few points it is held, and then a matrix.
pub struct Coupling<P = Matching> {
    pub plan: P,
    /// Both sides where the encoders put them; none without encoders.
    pub embedded: Option<[Dense; 2]>,
    /// How far its columns are from their marginal, summed.
    pub error: f32,
}

impl Coupling<Dense> {
    /// For each row the column with the most mass.
    pub fn matches(&self) -> Vec<usize> {
        matches(&self.plan)
    }
}

impl From<Coupling<Dense>> for Coupling {
    fn from(Coupling { plan, embedded, error }: Coupling<Dense>) -> Self {
        Self { plan: Matching::Held(plan), embedded, error }
    }
}

/// Embeds the points and solves the transport between them.
pub async fn transport(
    device: &Device,
    encoders: &Encoders,
    points: [&Dense; 2],
    eps: f32,
    control: &mut impl Control,
) -> Result<Coupling, Failure> {
    Ok(transport_until(SOLVED, device, encoders, points, eps, control).await?.into())
}

/// As [`transport`], until the columns miss no more than `tolerance` in sum.
pub(super) async fn transport_until(
    tolerance: f32,
    device: &Device,
    encoders: &Encoders,
    [x, y]: [&Dense; 2],
    eps: f32,
    control: &mut impl Control,
) -> Result<Coupling<Dense>, Failure> {
    let infer = Infer::record(encoders, [x.data(), y.data()], eps);
    let mut executor = device.prepare(infer.plan).await?;
    executor.submit(infer.embed, 1)?;
    let mut error = f32::MAX;
    for step in 0..infer.falling + PATIENCE {
        executor.submit(infer.transport, 1)?;
        if step + 1 >= infer.falling {
            executor.settle(0).await?;
            if let Some(stats) = executor.stats()? {
                error = stats.values.last().copied().unwrap_or(error);
            }
        }
        control.checkpoint(Progress { phase: "matching", done: step, of: infer.falling + PATIENCE }).await?;
        if error <= tolerance {
            break;
        }
    }
    if !error.is_finite() || error == f32::MAX {
        return Err(Failure::Diverged {
            step: infer.falling,
            cause: "the transport has no finite plan".into(),
        });
    }
    let data = executor.read(infer.coupling.buf).await?;
    let mut embedded = Vec::new();
    for mat in [infer.x_embedded, infer.y_embedded] {
        let data = executor.read(mat.buf).await?;
        embedded.push(Dense::new(mat.rows as usize, mat.cols as usize, data));
    }
    if embedded.iter().any(|side| !side.data().iter().map(|v| v * v).sum::<f32>().is_finite()) {
        return Err(Failure::Diverged {
            step: infer.falling,
            cause: "the encoders send the points too far out to compare them. A lower learning rate helps"
                .into(),
        });
    }
    let embedded = <[Dense; 2]>::try_from(embedded).ok();
    Ok(Coupling { plan: Dense::new(x.rows(), y.rows(), data), embedded, error })
}
