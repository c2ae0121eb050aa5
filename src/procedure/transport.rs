//! One entropic transport between what encoders make of the points, run until its marginals are met.

use super::control::{Control, Failure, Progress, Watching};
use super::embedding::embed;
use super::streamed::streamed;
use crate::exec::{Device, Executor};
use crate::geometry::Dense;
use crate::metrics::plan::matches;
use crate::plan::Mat;
use crate::scale::multiscale::multiscale;
use crate::scale::{Clouds, Matching};
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

/// How a plan between all points is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// With every entry in memory.
    Held,
    /// Exactly, entries computed tile by tile as often as they are needed.
    Streamed,
    /// From coarse to fine, between those points that matter to each other.
    Multiscale,
}

/// A plan with no more entries than this is held.
const HELD: usize = 16_000_000;
/// With more points than this on a side, visiting every pair takes too long on any device.
const MANY: usize = 100_000;
/// Up to this many points a side are embedded at once, in the plan of their transport.
const AT_ONCE: usize = 20_000;

impl Way {
    /// The way for so many points on either side. A graphics device takes as many on a side as fit into one of its buffers;
    /// none stands for the CPU.
    pub fn of(n: usize, m: usize, fit: Option<usize>) -> Self {
        match n.saturating_mul(m) {
            entries if entries <= HELD => Self::Held,
            _ if fit.is_some_and(|fit| n.max(m) <= fit.min(MANY)) => Self::Streamed,
            _ => Self::Multiscale,
        }
    }

    /// How many points of so many dimensions fit into one buffer of a device; none for the CPU.
    pub fn fit(device: &Device, dim: usize) -> Option<usize> {
        let numbers = (device.largest_buffer() / size_of::<f32>() as u64) as usize;
        (!matches!(device, Device::Cpu)).then_some(numbers / dim.max(1))
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
    let way = Way::of(points[0].rows(), points[1].rows(), Way::fit(device, encoders.outputs()));
    transport_by(way, device, encoders, points, eps, control).await
}

/// As [`transport`], in a given way.
pub async fn transport_by(
    way: Way,
    device: &Device,
    encoders: &Encoders,
    points: [&Dense; 2],
    eps: f32,
    control: &mut impl Control,
) -> Result<Coupling, Failure> {
    if way == Way::Held && points.iter().all(|side| side.rows() <= AT_ONCE) {
        return Ok(transport_until(SOLVED, device, encoders, points, eps, control).await?.into());
    }
    let embedded = [
        embed(device, encoders, 0, points[0], control).await?,
        embed(device, encoders, 1, points[1], control).await?,
    ];
    check(&embedded)?;
    if way == Way::Held {
        // One side has so few points that the plan is small, the other so many that its layers would not be.
        let there = Encoders::Embedded { dim: encoders.outputs() as u32, cost: encoders.cost() };
        let both = [&embedded[0], &embedded[1]];
        return Ok(transport_until(SOLVED, device, &there, both, eps, control).await?.into());
    }
    let clouds = Clouds::new([&embedded[0], &embedded[1]], encoders.cost());
    let (plan, error): (Matching, f32) = if way == Way::Streamed {
        let solved = streamed(device, clouds, eps, SOLVED, None, control).await?;
        (Matching::Computed(solved.plan), solved.error)
    } else {
        let watch = &mut Watching::new(control, "matching all points");
        let found = multiscale(clouds, eps, SOLVED, watch).await?;
        let error = found.solved.error;
        (found.into(), error)
    };
    Ok(Coupling { plan, embedded: Some(embedded), error })
}

/// Whether the encoders have kept the points within reach.
fn check(embedded: &[Dense; 2]) -> Result<(), Failure> {
    if embedded.iter().all(|side| side.data().iter().map(|v| v * v).sum::<f32>().is_finite()) {
        return Ok(());
    }
    Err(Failure::Diverged {
        step: 0,
        cause: "the encoders send the points too far out to compare them. A lower learning rate helps".into(),
    })
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
    let mut read = async |mat: Mat| {
        let data = executor.read(mat.buf).await?;
        Ok::<Dense, Failure>(Dense::new(mat.rows as usize, mat.cols as usize, data))
    };
    let embedded = [read(infer.x_embedded).await?, read(infer.y_embedded).await?];
    check(&embedded)?;
    Ok(Coupling { plan: Dense::new(x.rows(), y.rows(), data), embedded: Some(embedded), error })
}
