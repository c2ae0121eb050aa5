//! Linear candidates: several starts on subsamples, the best of them refined on more points.

use super::choose::{Candidate, Judge, Origin, Start};
use super::control::{Control, Failure, Progress, View, Watching};
use super::reached::{recalled, remember};
use super::transport::Coupling;
use super::{Settings, Sides};
use crate::exec::{AnyExecutor, Device, Executor};
use crate::geometry::Dense;
use crate::geometry::features::Preparation;
use crate::geometry::products::product;
use crate::geometry::signature::{REFERENCES, likeness, signatures};
use crate::plan::{Mat, Plan};
use crate::rng::Rng;
use crate::solver::infer::Encoders;
use crate::solver::linear::{Linear, Problem, Stage, refine_schedule, start_schedule};
use crate::watch::{Cancelled, Watch};

/// Steps of a start and of a refinement.
pub const START_STEPS: u32 = 100;
pub const REFINE_STEPS: u32 = 15;
/// Points a side in a refinement, at most.
pub const REFINED: usize = 3000;

/// Points a side in a start. The more dimensions the map has, the more points it takes to tell the right one
/// from noise: with 100 dimensions 1200 points found it in one of three starts, 2000 in six of seven.
pub fn sample_size(dims: usize) -> usize {
    (20 * dims).clamp(400, 2500)
}

/// Points a side that starts and refinements look at, where a side has more than signatures can be taken against: those of
/// all would take minutes, and of both sides the same share has to be missing.
const POOL: usize = 6_000;

/// The rows of both sides that are looked at.
fn pool(sides: &Sides, seed: u64) -> [Vec<usize>; 2] {
    let rows = sides.points().map(Dense::rows);
    if rows.iter().all(|&n| n <= REFERENCES) {
        return rows.map(|n| (0..n).collect());
    }
    let mut rng = Rng::new(seed ^ 0x706f_6f6c);
    rows.map(|n| rng.sample(n, POOL))
}

/// What linear encoders see of some rows of both sides.
fn seen(sides: &Sides, rows: [&[usize]; 2]) -> [Dense; 2] {
    [0, 1].map(|side| sides.seen(side, Preparation::Linear, &sides.points()[side].picked(rows[side])))
}

/// Rows a side on which starts are compared, at least; as many as a start has seen.
pub const GLANCED: usize = 600;

/// A start that was played.
struct Begun {
    start: Start,
    score: f64,
    matches: Vec<usize>,
    map: Dense,
    /// Whether an earlier one came to the same.
    again: bool,
}

/// Signatures lead different subsamples to the same alignment, or to none. When two have agreed, a third would too;
/// those from noise go on, because they are how a symmetry is found out.
fn guided(start: Start) -> bool {
    start != Start::Noise
}

/// All linear candidates, judged.
pub(super) async fn candidates(
    device: &Device,
    sides: &Sides,
    settings: &Settings,
    judge: &Judge<'_>,
    control: &mut impl Control,
) -> Result<Vec<Candidate>, Failure> {
    let pool = pool(sides, settings.seed);
    let [x, y] = seen(sides, [&pool[0], &pool[1]]);
    let watch = &mut Watching::new(control, "describing points");
    let sx = signatures(&x, settings.seed, watch).await?;
    let sy = signatures(&y, settings.seed, watch).await?;
    let size = sample_size(x.cols().max(y.cols()));
    let quick = judge.quick(size.max(GLANCED), watch).await?;
    let mut begun: Vec<Begun> = Vec::new();
    for (i, &start) in settings.starts.iter().enumerate() {
        if guided(start) && begun.iter().any(|one| guided(one.start) && one.again) {
            continue;
        }
        let mut rng = Rng::new(settings.seed.wrapping_mul(1_000).wrapping_add(i as u64));
        let [ix, iy] = [&x, &y].map(|side| rng.sample(side.rows(), size));
        let guide = match start {
            Start::Noise => {
                noise(ix.len(), iy.len(), &mut rng, &mut Watching::new(control, "describing points")).await?
            }
            _ => likeness(&sx.picked(&ix), &sy.picked(&iy)),
        };
        let weight = f32::from(u8::from(start == Start::Fused));
        let rows = [&ix[..], &iy[..]];
        let what = format!("linear start {i}");
        let run = Run { what, rows, points: [x.picked(&ix), y.picked(&iy)], guide, weight, map: None };
        let map = run.play(device, &start_schedule(START_STEPS), "linear starts", control).await?;
        let origin = Origin::Linear { start };
        let (score, matches) = judge.glance(device, &encoders(&map), origin, &quick, control).await?;
        let again = begun.iter().any(|one| quick.same((one.score, &one.matches), (score, &matches)));
        begun.push(Begun { start, score, matches, map, again });
    }
    begun.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut found = Vec::new();
    for (i, Begun { map, start, .. }) in begun.into_iter().take(settings.refined).enumerate() {
        let origin = Origin::Linear { start };
        let mut rng = Rng::new(settings.seed ^ 0x7265_6669);
        let [ix, iy] = [&x, &y].map(|side| rng.sample(side.rows(), REFINED));
        let guide = Dense::new(ix.len(), iy.len(), vec![0.0; ix.len() * iy.len()]);
        let (rows, points) = ([&ix[..], &iy[..]], [x.picked(&ix), y.picked(&iy)]);
        let run = Run { what: format!("refined {i}"), rows, points, guide, weight: 0.0, map: Some(map) };
        let map = run.play(device, &refine_schedule(REFINE_STEPS), "refining", control).await?;
        found.push(judge.candidate(device, encoders(&map), origin, control).await?.0);
    }
    Ok(found)
}

/// The linear candidate nearest to what the `place`-th networks have found: refined from their plan between the judged
/// rows.
pub(super) async fn polished(
    device: &Device,
    sides: &Sides,
    judge: &Judge<'_>,
    (place, found): (usize, &Coupling<Dense>),
    control: &mut impl Control,
) -> Result<Candidate, Failure> {
    let [ix, iy] = judge.rows();
    // With the start's ε this guide's transport is that plan again.
    let stages: Vec<Stage> =
        start_schedule(0).into_iter().chain(refine_schedule(REFINE_STEPS).into_iter().skip(1)).collect();
    let eps = stages[0].eps;
    let scale = (ix.len() * iy.len()) as f32;
    let guide =
        Dense::from_fn(ix.len(), iy.len(), |i, j| eps * (scale * found.plan.at(i, j)).max(1e-20).ln());
    let (what, points) = (format!("refined network {place}"), seen(sides, [ix, iy]));
    let run = Run { what, rows: [ix, iy], points, guide, weight: 0.0, map: None };
    let map = run.play(device, &stages, "refining", control).await?;
    let origin = Origin::Linear { start: Start::Network };
    Ok(judge.candidate(device, encoders(&map), origin, control).await?.0)
}

fn encoders(map: &Dense) -> Encoders {
    Encoders::Linear { dims: [map.rows() as u32, map.cols() as u32], map: map.data().to_vec() }
}

/// One run of the linear solver.
struct Run<'a> {
    /// What its result is called.
    what: String,
    /// Which rows of both sides these are.
    rows: [&'a [usize]; 2],
    points: [Dense; 2],
    guide: Dense,
    weight: f32,
    /// Where to go on from; without it the guide gives the start.
    map: Option<Dense>,
}

/// A larger plan is not read back in the midst of a run.
const SHOWN: usize = 1 << 20;

impl Run<'_> {
    /// Plays all stages and returns the map.
    async fn play(
        &self,
        device: &Device,
        stages: &[Stage],
        phase: &'static str,
        control: &mut impl Control,
    ) -> Result<Dense, Failure> {
        let (rows, cols) = (self.points[0].cols(), self.points[1].cols());
        if let Some(map) = recalled(control, &self.what, rows * cols) {
            return Ok(Dense::new(rows, cols, map));
        }
        let mut plan = Plan::new();
        let mut put = |label, dense: &Dense| -> Mat {
            let mat = plan.mat(label, dense.rows() as u32, dense.cols() as u32);
            plan.set_initial(mat.buf, dense.data());
            mat
        };
        let [x, y] = [&self.points[0], &self.points[1]].map(|side| put("points", side));
        let guide = put("guide", &self.guide);
        let weight = put("weight of the guide", &Dense::new(1, 1, vec![self.weight]));
        let linear = Linear::record(&mut plan, stages, &Problem { x, y, guide, weight });
        if let Some(map) = &self.map {
            plan.set_initial(linear.map.buf, map.data());
        }
        let mut executor = device.prepare(plan).await?;
        executor.submit(if self.map.is_some() { linear.resume } else { linear.start }, 1)?;
        let of = stages.len() as u32;
        let mut done = 1;
        while done < of {
            let chunk = control.chunk().min(of - done);
            executor.submit(linear.step, chunk)?;
            executor.settle(1).await?;
            done += chunk;
            if control.curious() {
                self.show(&mut executor, &linear, control).await?;
            }
            control.checkpoint(Progress { phase, done, of }).await?;
        }
        let map = executor.read(linear.map.buf).await?;
        if let Some(bad) = map.iter().find(|v| !v.is_finite()) {
            return Err(Failure::Diverged { step: of, cause: format!("the linear map holds {bad}") });
        }
        remember(control, &self.what, &map);
        Ok(Dense::new(rows, cols, map))
    }

    /// Shows where the map puts X among Y's points. It is a rotation only in the end; until then only its directions
    /// count, so X is shown as large as Y.
    async fn show(
        &self,
        executor: &mut AnyExecutor,
        linear: &Linear,
        control: &mut impl Control,
    ) -> Result<(), Failure> {
        let [x, y] = &self.points;
        let map = Dense::new(x.cols(), y.cols(), executor.read(linear.map.buf).await?);
        let mut mapped = product(x, &map);
        let size = |points: &Dense| points.data().iter().map(|v| v * v).sum::<f32>() / points.rows() as f32;
        let scale = (size(y) / size(&mapped).max(1e-20)).sqrt();
        (0..mapped.rows()).for_each(|i| mapped.row_mut(i).iter_mut().for_each(|v| *v *= scale));
        let mut plans = Vec::new();
        if x.rows() * y.rows() <= SHOWN {
            plans.push(Dense::new(x.rows(), y.rows(), executor.read(linear.coupling.buf).await?));
        }
        control.view(View { rows: self.rows, embedded: [mapped, y.clone()], plans });
        Ok(())
    }
}

/// Rows of noise between two looks at who is watching.
const PATIENCE: usize = 256;

/// A guide that says nothing: a plan near the uniform one to start from.
async fn noise(n: usize, m: usize, rng: &mut Rng, watch: &mut impl Watch) -> Result<Dense, Cancelled> {
    // The sum of twelve uniform numbers is nearly normal. A tenth of it, at the start's ε, is nearly nothing.
    let mut data = Vec::with_capacity(n * m);
    for i in 0..n {
        data.extend((0..m).map(|_| 0.1 * ((0..12).map(|_| rng.unit()).sum::<f32>() - 6.0)));
        if (i + 1) % PATIENCE == 0 {
            watch.step((i + 1) as f64 / n as f64).await?;
        }
    }
    Ok(Dense::new(n, m, data))
}
