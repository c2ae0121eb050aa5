//! The parts of the solver, each timed by itself on the CPU executor, which has one thread.

use align::baseline::entropic_gw::{EntropicGw, GwSettings};
use align::geometry::Dense;
use align::geometry::low_rank::LowRank;
use align::procedure::{Form, LossChoice, objective};
use align::solver::align::{Align, AlignSettings, Objective, Problem, Terms};
use align::solver::implicit;
use align::solver::losses::classic::Distances;
use align::solver::sinkhorn::{Marginals, Sinkhorn, uniform};
use compute::exec::{CpuExecutor, Executor};
use compute::plan::{Mat, PassId, Plan};
use compute::rng::Rng;

use super::data::Clouds;
use super::row::Row;
use super::timing::{Timing, seconds};

/// How the distances of both sides are put into a plan.
pub type Given = fn(&mut Plan, &Clouds) -> Result<Distances, String>;

/// A loss with the function that records its training step.
pub struct Loss {
    name: &'static str,
    record: fn(&mut Plan, &AlignSettings, &Clouds) -> Result<Align, String>,
}

/// Every loss that is timed. A new one is a line here.
pub const LOSSES: &[Loss] = &[
    Loss {
        name: "classic, low rank",
        record: |plan, s, c| align(plan, s, c, |p, c| Ok(Objective::Classic(low_rank(p, c)?))),
    },
    Loss {
        name: "classic, dense",
        record: |plan, s, c| align(plan, s, c, |p, c| given(p, c, LossChoice::Classic)),
    },
    Loss {
        name: "Frobenius",
        record: |plan, s, c| align(plan, s, c, |p, c| given(p, c, LossChoice::Frobenius)),
    },
    Loss { name: "rank-gw", record: |plan, s, c| align(plan, s, c, |p, c| given(p, c, LossChoice::RankGw)) },
    Loss {
        name: "soft rank",
        record: |plan, s, c| align(plan, s, c, |p, c| given(p, c, LossChoice::SoftRank)),
    },
];

/// Sizes at which a training step is timed, with the number of steps.
const SIZES: [(usize, u32); 3] = [(200, 60), (300, 60), (usize::MAX, 30)];

/// Iterations in the shorter and in the longer of two passes whose difference is timed.
const SHORT: u32 = 10;
const LONG: u32 = 20;

pub fn put(plan: &mut Plan, dense: &Dense) -> Mat {
    let mat = plan.mat("input", dense.rows() as u32, dense.cols() as u32);
    plan.set_initial(mat.buf, dense.data());
    mat
}

pub fn low_rank(plan: &mut Plan, clouds: &Clouds) -> Result<Distances, String> {
    Ok(put_factors(plan, &clouds.factors()?))
}

/// The distances of [`dense`], of low rank.
pub fn scaled_low_rank(plan: &mut Plan, clouds: &Clouds) -> Result<Distances, String> {
    Ok(put_factors(plan, &clouds.scaled_factors()?))
}

fn put_factors(plan: &mut Plan, [x, y]: &[LowRank; 2]) -> Distances {
    let [u, us, v, vt] = [&x.u, &x.scaled(), &y.u, &y.scaled()].map(|factor| put(plan, factor));
    Distances::LowRank { u, us, v, vt }
}

pub fn dense(plan: &mut Plan, clouds: &Clouds) -> Result<Distances, String> {
    let [x, y] = clouds.distances().each_ref().map(|side| put(plan, side));
    Ok(Distances::Dense { x, y })
}

/// The objective as the procedure would put it.
fn given(plan: &mut Plan, clouds: &Clouds, loss: LossChoice) -> Result<Objective, String> {
    let [x, y] = clouds.distances();
    Ok(objective(plan, loss, [&[x], &[y]], Form::Cheapest))
}

/// Records a training step.
pub fn align(
    plan: &mut Plan,
    settings: &AlignSettings,
    clouds: &Clouds,
    objective: fn(&mut Plan, &Clouds) -> Result<Objective, String>,
) -> Result<Align, String> {
    let [x, y] = clouds.inputs().each_ref().map(|side| put(plan, side));
    let objective = objective(plan, clouds)?;
    Ok(Align::record(plan, settings, &Problem { x, y, objective, terms: Terms::default(), sums: None }))
}

/// Training steps of every loss at every size. Each step of a short run is timed, so that the median is
/// over the whole range of ε.
pub fn training_steps(clouds: &Clouds, rows: &mut Vec<Row>) -> Result<(), String> {
    for loss in LOSSES {
        for (n, steps) in SIZES {
            let part = clouds.part(n);
            let name = format!("training step, {}, n = {}", loss.name, part.x.rows());
            eprintln!("{name}: {steps} steps");
            let settings = AlignSettings { steps, ..AlignSettings::default() };
            let mut plan = Plan::new();
            let step = (loss.record)(&mut plan, &settings, &part)?.step;
            let mut cpu = prepare(plan)?;
            rows.push(Row::new(name, Timing::of(play(&mut cpu, step, steps)?)));
        }
    }
    Ok(())
}

/// One Sinkhorn iteration and one of conjugate gradients, by the difference of a longer and a shorter pass.
pub fn iterations(clouds: &Clouds, rows: &mut Vec<Row>) -> Result<(), String> {
    let (n, m) = (clouds.x.rows(), clouds.y.rows());
    let mut rng = Rng::new(3);
    let mut plan = Plan::new();
    let cost = put(&mut plan, &Dense::new(n, m, rng.fill(n * m, 0.0, 2.0)));
    let grad = put(&mut plan, &Dense::new(n, m, rng.fill(n * m, -1.0, 1.0)));
    let clock = plan.set_schedule(1, &[0.05]);
    let (a, b) = (uniform(n as u32), uniform(m as u32));
    let sinkhorn = Sinkhorn::new(&mut plan, 1, Marginals::strict(&a, &b), clock, 0);
    let transports = [SHORT, LONG].map(|count| {
        let pass = plan.begin_pass("transport");
        sinkhorn.record(&mut plan, cost, count);
        pass
    });
    let backwards = [SHORT, LONG].map(|count| {
        let pass = plan.begin_pass("backward");
        implicit::record(&mut plan, &sinkhorn, grad, count, (clock, 0));
        pass
    });
    let mut cpu = prepare(plan)?;
    for (name, passes) in [("Sinkhorn iteration", transports), ("CG iteration", backwards)] {
        let name = format!("{name}, n = {n}");
        eprintln!("{name}: 2 × 30 passes");
        let mut times = [Vec::new(), Vec::new()];
        // By turns, so that both see the same machine.
        for _ in 0..30 {
            for (times, pass) in times.iter_mut().zip(passes) {
                times.extend(play(&mut cpu, pass, 1)?);
            }
        }
        let [short, long] = times.map(Timing::of);
        rows.push(Row::new(name, Timing::per_part(long, short, LONG - SHORT)));
    }
    Ok(())
}

/// One outer iteration of the baseline.
pub fn outer_iterations(clouds: &Clouds, rows: &mut Vec<Row>) -> Result<(), String> {
    let kinds: [(&str, Given); 2] = [("low rank", scaled_low_rank), ("dense", dense)];
    for (kind, distances) in kinds {
        let settings = GwSettings::default();
        let n = clouds.x.rows();
        let name = format!("entropic GW outer iteration ({} Sinkhorn), {kind}, n = {n}", settings.sinkhorn);
        eprintln!("{name}: 10 iterations");
        let mut plan = Plan::new();
        let gw = record_gw(&mut plan, &settings, clouds, distances)?;
        let mut cpu = prepare(plan)?;
        rows.push(Row::new(name, Timing::of(play(&mut cpu, gw.step, 10)?)));
    }
    Ok(())
}

pub fn record_gw(
    plan: &mut Plan,
    settings: &GwSettings,
    clouds: &Clouds,
    distances: Given,
) -> Result<EntropicGw, String> {
    let distances = distances(plan, clouds)?;
    let [a, b] = [&clouds.x, &clouds.y].map(|side| uniform(side.rows() as u32));
    Ok(EntropicGw::record(plan, settings, Marginals::strict(&a, &b), &distances))
}

pub fn prepare(plan: Plan) -> Result<CpuExecutor, String> {
    CpuExecutor::prepare(plan).map_err(|error| error.to_string())
}

/// Seconds of each of several repeats, after one that is not counted: it touches the memory first.
fn play(cpu: &mut CpuExecutor, pass: PassId, repeats: u32) -> Result<Vec<f64>, String> {
    let mut once = || {
        let (time, outcome) = seconds(|| cpu.submit(pass, 1));
        outcome.map(|()| time).map_err(|error| error.to_string())
    };
    once()?;
    (0..repeats).map(|_| once()).collect()
}
