//! One entropic transport between what encoders make of the points, run until its marginals are met.

use super::control::{Aside, Control, Failure, Progress, Watching};
use super::embedding::embed;
use super::reached::{recalled_potentials, remember};
use super::starved::Starved;
use super::streamed::{POTENTIALS, streamed};
use crate::geometry::Dense;
use crate::metrics::plan::matches;
use crate::metrics::retained::Retained;
use crate::scale::multiscale::multiscale;
use crate::scale::{Clouds, CostKind, Matching, Relaxation, Solved, Watch};
use crate::solver::infer::{Encoders, Infer};
use compute::exec::{AnyExecutor, Device, ExecError, Executor};
use compute::plan::Mat;

/// The sum of the columns' misses at which a transport counts as solved.
const SOLVED: f32 = 1e-3;
/// That at which it is good enough to be compared with others.
pub(super) const COMPARABLE: f32 = 5e-3;
/// Submits after ε has fallen, at most.
const PATIENCE: u32 = 60;
/// How often columns that no row reaches are lifted, at most, and the submits that follow at least.
const LIFTS: u32 = 4;
const AFTER_LIFT: u32 = 20;
/// The name under which potentials are told that were found from coarse to fine.
const FINE_POTENTIALS: &str = "fine potentials";

/// A plan between points, and how well it was solved. Between few points it is held, and then a matrix.
pub struct Coupling<P = Matching> {
    pub plan: P,
    /// Both sides where the encoders put them; none without encoders.
    pub embedded: Option<[Dense; 2]>,
    /// How far its columns are from their marginal, summed; where it is relaxed, from what the potentials ask for.
    pub error: f32,
    /// How it was found.
    pub way: Way,
    /// How far it may depart from equal weights.
    pub relaxation: Relaxation,
    /// What the points of both sides keep of their weight in a transport that is relaxed further, where that was found
    /// out ([`matched`](super::matched)).
    pub retained: Option<[Retained; 2]>,
    /// How sure the matches of both sides are, where fresh fits were made ([`FreshFits`](super::FreshFits)).
    pub confidence: Option<[Vec<f32>; 2]>,
}

impl Coupling<Dense> {
    /// For each row the column with the most mass.
    pub fn matches(&self) -> Vec<usize> {
        matches(&self.plan)
    }
}

impl From<Coupling<Dense>> for Coupling {
    fn from(coupling: Coupling<Dense>) -> Self {
        let Coupling { plan, embedded, error, way, relaxation, retained, confidence } = coupling;
        Self { plan: Matching::Held(plan), embedded, error, way, relaxation, retained, confidence }
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
    relaxation: Relaxation,
    control: &mut impl Control,
) -> Result<Coupling, Failure> {
    let way = Way::of(points[0].rows(), points[1].rows(), Way::fit(device, encoders.outputs()));
    transport_by(way, device, encoders, points, eps, relaxation, control).await
}

/// As [`transport`], in a given way; if a device is lost on the way, in that of the CPU.
pub async fn transport_by(
    way: Way,
    device: &Device,
    encoders: &Encoders,
    points: [&Dense; 2],
    eps: f32,
    relaxation: Relaxation,
    control: &mut impl Control,
) -> Result<Coupling, Failure> {
    if way == Way::Held && points.iter().all(|side| side.rows() <= AT_ONCE) {
        return Ok(transport_until(SOLVED, device, encoders, points, eps, relaxation, control).await?.into());
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
        return Ok(transport_until(SOLVED, device, &there, both, eps, relaxation, control).await?.into());
    }
    let clouds = Clouds::new([&embedded[0], &embedded[1]], encoders.cost());
    let counts = points.map(Dense::rows);
    if way == Way::Streamed {
        let start = recalled_potentials(control, POTENTIALS, counts);
        match streamed(device, clouds.clone(), eps, relaxation, SOLVED, start, control).await {
            // The CPU has a shorter way.
            Err(Failure::Device(ExecError::DeviceLost { .. })) => {}
            solved => {
                let Solved { plan, error, .. } = solved?;
                remember(control, POTENTIALS, &[plan.f.as_slice(), &plan.g].concat());
                let plan = Matching::Computed(plan);
                return Ok(Coupling {
                    plan,
                    embedded: Some(embedded),
                    error,
                    way,
                    relaxation,
                    retained: None,
                    confidence: None,
                });
            }
        }
    }
    let start = recalled_potentials(control, FINE_POTENTIALS, counts);
    let watch = &mut Watching::telling(control, "matching all points", FINE_POTENTIALS);
    let found = multiscale(clouds, eps, relaxation, SOLVED, start, watch).await?;
    let Solved { plan, error, .. } = &found.solved;
    remember(control, FINE_POTENTIALS, &[plan.f.as_slice(), &plan.g].concat());
    let error = *error;
    let (plan, way) = (found.into(), Way::Multiscale);
    Ok(Coupling { plan, embedded: Some(embedded), error, way, relaxation, retained: None, confidence: None })
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
    relaxation: Relaxation,
    control: &mut impl Control,
) -> Result<Coupling<Dense>, Failure> {
    let mut infer = Infer::record(encoders, [x.data(), y.data()], eps, relaxation);
    let mut executor = device.prepare(std::mem::take(&mut infer.plan)).await?;
    executor.submit(infer.embed, 1)?;
    let mut error = f32::MAX;
    let (mut lifts, mut steps, mut step) = (LIFTS, infer.falling + PATIENCE, 0);
    while step < steps {
        executor.submit(infer.transport, 1)?;
        step += 1;
        let fallen = step >= infer.falling;
        if fallen {
            executor.settle(0).await?;
            if let Some(stats) = executor.stats()? {
                error = stats.values.last().copied().unwrap_or(error);
            }
        }
        let progress = Progress { phase: "matching", done: step - 1, of: steps };
        control.checkpoint(progress.clone()).await?;
        if step == infer.falling || (fallen && error <= tolerance) {
            let starved = Starved::among(&executor.read(infer.columns.buf).await?, relaxation);
            if !starved.unreached.is_empty() && lifts > 0 {
                let watch = &mut Aside { control: &mut *control, at: progress };
                lift(&starved, &infer, &mut executor, encoders.cost(), eps, watch).await?;
                lifts -= 1;
                steps = steps.max(step + AFTER_LIFT);
            } else if error <= tolerance && !starved.any {
                break;
            }
        }
    }
    if !error.is_finite() || error == f32::MAX {
        return Err(Failure::Diverged {
            step: infer.falling,
            cause: "the transport has no finite plan".into(),
        });
    }
    let plan = read(&mut executor, infer.coupling).await?;
    let embedded =
        [read(&mut executor, infer.x_embedded).await?, read(&mut executor, infer.y_embedded).await?];
    check(&embedded)?;
    let way = Way::Held;
    Ok(Coupling { plan, embedded: Some(embedded), error, way, relaxation, retained: None, confidence: None })
}

async fn read(executor: &mut AnyExecutor, mat: Mat) -> Result<Dense, Failure> {
    let data = executor.read(mat.buf).await?;
    Ok(Dense::new(mat.rows as usize, mat.cols as usize, data))
}

/// Gives columns that no row reaches the potential that they have to have.
async fn lift(
    starved: &Starved,
    infer: &Infer,
    executor: &mut AnyExecutor,
    cost: CostKind,
    eps: f32,
    watch: &mut impl Watch,
) -> Result<(), Failure> {
    let embedded = [read(executor, infer.x_embedded).await?, read(executor, infer.y_embedded).await?];
    check(&embedded)?;
    let clouds = Clouds::new([&embedded[0], &embedded[1]], cost);
    let plan = read(executor, infer.coupling).await?;
    let mut g = executor.read(infer.g.buf).await?;
    // Of a row's potential its strongest entry tells most.
    let f: Vec<f32> = matches(&plan)
        .into_iter()
        .enumerate()
        .map(|(i, j)| eps * plan.at(i, j).max(f32::MIN_POSITIVE).ln() + clouds.cost(i, j) - g[j])
        .collect();
    for (j, potential) in starved.lifted(&clouds, eps, &f, watch).await? {
        g[j] = potential;
    }
    executor.write(infer.g.buf, &g)?;
    Ok(())
}
