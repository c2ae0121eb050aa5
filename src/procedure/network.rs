//! Network candidates: fits on several distances and subsamples, trained together as a stack.

use super::choose::{Candidate, Judge, Origin};
use super::control::{Control, Failure, Progress};
use super::linear::rows;
use super::{LossChoice, Settings, Sides};
use crate::exec::{Device, Executor};
use crate::geometry::Dense;
use crate::geometry::panel::Distance;
use crate::geometry::ranks::mid_ranks;
use crate::geometry::spectral::{Thin, thin};
use crate::plan::{Mat, Plan};
use crate::rng::Rng;
use crate::solver::align::{Align, Objective, Problem, STATS, Terms};
use crate::solver::infer::Encoders;
use crate::solver::losses::classic::Distances;
use crate::solver::losses::rank_gw::{self, Halves, Ranks};
use crate::solver::sinkhorn::uniform;

/// The share of the ranks' variance that a thin product has to keep.
const KEPT: f64 = 0.98;

/// All network candidates, judged.
pub(super) async fn candidates(
    device: &Device,
    sides: &Sides,
    settings: &Settings,
    judge: &Judge,
    control: &mut impl Control,
) -> Result<Vec<Candidate>, Failure> {
    let mut found = Vec::new();
    for (d, &distance) in settings.distances.iter().enumerate() {
        let origin = Origin::Network { distance, loss: settings.loss, subsample: 0 };
        let inputs = sides.inputs(origin.preparation());
        for fit in 0..settings.fits {
            let seed = settings.seed.wrapping_mul(1_000_003).wrapping_add(u64::from(fit) * 101 + d as u64);
            let mut rng = Rng::new(seed);
            let chosen = judge.rows().map(|rows| {
                let picked = rng.sample(rows.len(), settings.sample);
                picked.into_iter().collect::<Vec<usize>>()
            });
            let weights = train(device, &inputs, settings, judge, distance, &chosen, seed, control).await?;
            let shapes = Align::shapes(&settings.train, [inputs[0].cols() as u32, inputs[1].cols() as u32]);
            let encoders = Encoders::Networks { shapes, weights, cost: settings.train.cost };
            let origin = Origin::Network { distance, loss: settings.loss, subsample: fit };
            found.push(judge.candidate(device, encoders, origin, control).await?);
        }
    }
    Ok(found)
}

/// Trains one fit on rows `chosen` among those that are judged, and returns its parameters.
#[allow(clippy::too_many_arguments)]
async fn train(
    device: &Device,
    inputs: &[Dense; 2],
    settings: &Settings,
    judge: &Judge,
    distance: Distance,
    chosen: &[Vec<usize>; 2],
    seed: u64,
    control: &mut impl Control,
) -> Result<Vec<f32>, Failure> {
    let mut plan = Plan::new();
    let train = crate::solver::align::AlignSettings { seed, ..settings.train.clone() };
    let [x, y] = [0, 1].map(|side| {
        let picked: Vec<usize> = chosen[side].iter().map(|&i| judge.rows()[side][i]).collect();
        put(&mut plan, "inputs", &rows(&inputs[side], &picked))
    });
    let within = [0, 1].map(|side| {
        let whole = judge.distances(distance, side);
        let picked = &chosen[side];
        Dense::from_fn(picked.len(), picked.len(), |i, j| whole.at(picked[i], picked[j]))
    });
    let objective = match settings.loss {
        LossChoice::Classic => {
            let [x, y] = within.map(|d| put(&mut plan, "distances", &halved(&d)));
            Objective::Classic(Distances::Dense { x, y })
        }
        LossChoice::RankGw => Objective::RankGw(ranks(&mut plan, &within)),
    };
    let align = Align::record(&mut plan, &train, &Problem { x, y, objective, terms: Terms::default() });
    let mut executor = device.prepare(plan).await?;
    let mut done = 0;
    while done < train.steps {
        let chunk = control.chunk().min(train.steps - done);
        executor.submit(align.step, chunk)?;
        executor.settle(1).await?;
        done += chunk;
        if let Some(stats) = executor.stats()? {
            let width = STATS as usize;
            if let Some(bad) =
                stats.values.chunks_exact(width).position(|row| row.iter().any(|v| !v.is_finite()))
            {
                let step = stats.first_step + bad as u32;
                return Err(Failure::Diverged { step, cause: "the loss is not a number any more".into() });
            }
        }
        control.checkpoint(Progress { phase: "training", done, of: train.steps }).await?;
    }
    Ok(executor.read(align.weights).await?)
}

fn put(plan: &mut Plan, label: &'static str, dense: &Dense) -> Mat {
    let mat = plan.mat(label, dense.rows() as u32, dense.cols() as u32);
    plan.set_initial(mat.buf, dense.data());
    mat
}

/// Distances scaled so that their mean is ½.
fn halved(distances: &Dense) -> Dense {
    let mean = distances.data().iter().map(|&v| f64::from(v)).sum::<f64>() / distances.data().len() as f64;
    let scale = if mean > 0.0 { (0.5 / mean) as f32 } else { 0.0 };
    Dense::from_fn(distances.rows(), distances.cols(), |i, j| scale * distances.at(i, j))
}

/// The ranks of both sides, as thin products where those are good enough.
fn ranks(plan: &mut Plan, within: &[Dense; 2]) -> Ranks {
    let ranks = within.each_ref().map(|d| {
        let ranks = mid_ranks(d, &uniform(d.cols() as u32));
        Dense::from_fn(d.rows(), d.cols(), |i, j| ranks.at(i, j) - 0.5)
    });
    let most = |d: &Dense| d.rows() / 4;
    let [tx, ty] = ranks.each_ref().map(|r| thin(r, KEPT, most(r)));
    if let (Some(tx), Some(ty)) = (tx, ty) {
        let widths = [&tx, &ty].map(|t| t.left.cols() as u32);
        let [x, y] = [tx, ty].map(|Thin { left, right }| {
            let k = left.cols();
            let beside = |a: &Dense, b: &Dense| {
                Dense::from_fn(a.rows(), 2 * k, |i, j| if j < k { a.at(i, j) } else { b.at(i, j - k) })
            };
            Halves {
                ab: put(plan, "rank factors", &beside(&left, &right)),
                ba: put(plan, "rank factors", &beside(&right, &left)),
            }
        });
        let mask = plan.mat("mask", 2 * widths[0], 2 * widths[1]);
        plan.set_initial(mask.buf, &rank_gw::mask(widths[0], widths[1]));
        return Ranks::Thin { x, y, mask };
    }
    let [rx, ry] = ranks;
    let n = rx.rows();
    let both = Dense::from_fn(n, 2 * n, |i, j| if j < n { rx.at(i, j) } else { rx.at(j - n, i) });
    Ranks::Dense { x: put(plan, "ranks", &both), y: put(plan, "ranks", &ry) }
}
