//! The demonstration: a network learns a picture, while the page watches.

use super::pace::Pace;
use super::runs::Runs;
use super::scope::{breathe, now, post, rest};
use crate::exec::{Device, ExecError, Executor};
use crate::kernels::Activation;
use crate::protocol::{Event, RunId};
use crate::solver::fit::{Fit, FitSettings, grid_points, ripples_at};
use crate::solver::mlp::MlpShape;

const STEPS: u32 = 600;
/// Training points and picture elements along an edge.
const TRAIN_SIDE: u32 = 20;
const PICTURE_SIDE: u32 = 48;
/// A frame of the page, and the most steps in it: learning is meant to be watched.
const FRAME_MS: f64 = 16.0;
const STEPS_PER_FRAME: u32 = 3;
/// Pictures are read back this often at most.
const PICTURE_MS: f64 = 66.0;

/// Trains until done or no longer wanted.
pub(super) async fn run(device: &Device, runs: &Runs, run: RunId, seed: u32) -> Result<(), ExecError> {
    let settings = FitSettings {
        shape: MlpShape { sizes: vec![2, 32, 32, 1], hidden: Activation::Tanh, output: Activation::Identity },
        batch: 1,
        steps: STEPS,
        rate: 0.01,
        seed: seed.into(),
    };
    let (points, probe) = (grid_points(TRAIN_SIDE), grid_points(PICTURE_SIDE));
    post(run, Event::DemoTarget { side: PICTURE_SIDE }, vec![ripples_at(&probe)]);
    let fit = Fit::record(&settings, &points, &ripples_at(&points), &probe);
    let mut executor = device.prepare(fit.plan).await?;

    let mut pace = Pace::new(STEPS_PER_FRAME);
    let (mut submitted, mut last_picture) = (0, f64::NEG_INFINITY);
    let mut seen = 0;
    while runs.wanted(run).await {
        let start = now();
        let repeats = pace.repeats().min(STEPS - submitted);
        if repeats > 0 {
            executor.submit(fit.step, repeats)?;
            submitted += repeats;
        }
        executor.settle(u32::from(repeats > 0)).await?;
        pace.learn(now() - start);

        if let Some(stats) = executor.stats()? {
            seen = stats.step;
            let event = Event::DemoLosses { first_step: stats.first_step, steps: STEPS };
            post(run, event, vec![stats.values]);
        }
        let over = seen >= STEPS;
        if over || now() - last_picture > PICTURE_MS {
            executor.submit(fit.evaluate, 1)?;
            let picture = executor.read(fit.probe_output.buf).await?;
            post(run, Event::DemoPicture { side: PICTURE_SIDE, step: seen }, vec![picture]);
            last_picture = now();
        }
        if over {
            post(run, Event::Finished, Vec::new());
            break;
        }
        let spare = FRAME_MS - (now() - start);
        if spare > 1.0 { rest(spare as i32).await } else { breathe().await }
    }
    Ok(())
}
