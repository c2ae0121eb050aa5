//! Network candidates: fits on several distances and subsamples, trained together as a stack.

use super::choose::{Candidate, Judge, Origin};
use super::control::{Control, Failure, Progress};
use super::sides::rows;
use super::{LossChoice, Settings, Sides};
use crate::exec::{Device, Executor};
use crate::geometry::Dense;
use crate::geometry::ranks::mid_ranks;
use crate::geometry::spectral::{Thin, thin};
use crate::plan::{Mat, Plan};
use crate::rng::Rng;
use crate::solver::align::{Align, AlignSettings, Objective, Problem, STATS, Terms};
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
    judge: &Judge<'_>,
    control: &mut impl Control,
) -> Result<Vec<Candidate>, Failure> {
    let mut found = Vec::new();
    for (index, measure) in judge.measures().into_iter().enumerate() {
        for subsample in 0..settings.fits {
            let origin = Origin::Network { measure, loss: settings.loss, subsample };
            let inputs = sides.inputs(origin.preparations());
            let shuffle = u64::from(subsample) * 101 + index as u64;
            let seed = settings.seed.wrapping_mul(1_000_003).wrapping_add(shuffle);
            let mut rng = Rng::new(seed);
            let chosen = judge.rows().map(|rows| rng.sample(rows.len(), settings.sample));
            let dims = inputs.each_ref().map(|side| side.cols() as u32);
            let fit = Fit { inputs, distances: judge.distances(index), rows: judge.rows(), chosen, seed };
            let weights = fit.train(device, settings, control).await?;
            let encoders = Encoders::Networks {
                shapes: Align::shapes(&settings.train, dims),
                weights,
                cost: settings.train.cost,
            };
            found.push(judge.candidate(device, encoders, origin, control).await?);
        }
    }
    Ok(found)
}

/// One fit: rows `chosen` among those that are judged.
struct Fit<'a> {
    inputs: [Dense; 2],
    /// Distances among the judged rows.
    distances: &'a [Dense; 2],
    rows: [&'a [usize]; 2],
    chosen: [Vec<usize>; 2],
    seed: u64,
}

impl Fit<'_> {
    /// Trains it and returns its parameters.
    async fn train(
        &self,
        device: &Device,
        settings: &Settings,
        control: &mut impl Control,
    ) -> Result<Vec<f32>, Failure> {
        let mut plan = Plan::new();
        let train = AlignSettings { seed: self.seed, ..settings.train.clone() };
        let [x, y] = [0, 1].map(|side| {
            let picked: Vec<usize> = self.chosen[side].iter().map(|&i| self.rows[side][i]).collect();
            put(&mut plan, "inputs", &rows(&self.inputs[side], &picked))
        });
        let within = [0, 1].map(|side| {
            let (whole, picked) = (&self.distances[side], &self.chosen[side]);
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
                    return Err(Failure::Diverged {
                        step,
                        cause: "the loss is not a number any more".into(),
                    });
                }
            }
            control.checkpoint(Progress { phase: "training", done, of: train.steps }).await?;
        }
        Ok(executor.read(align.weights).await?)
    }
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
