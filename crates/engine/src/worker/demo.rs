//! The demonstration: a network learns a picture, while the page watches.

use super::pace::Pace;
use super::runs::Runs;
use super::scope::{breathe, now, post, rest};
use super::serve::kind;
use align::solver::fit::{Fit, FitSettings, grid_points, ripples_at};
use align::solver::mlp::MlpShape;
use compute::exec::{Device, ExecError, Executor};
use compute::kernels::Activation;
use schema::{Event, RunId};

const STEPS: u32 = 600;
/// Training points and picture elements along an edge.
const TRAIN_SIDE: u32 = 20;
const PICTURE_SIDE: u32 = 48;
/// A frame of the page.
const FRAME_MS: f64 = 16.0;
/// Learning is meant to be watched, so it does not go faster than this.
const STEPS_PER_MS: f64 = 0.18;
/// After a pause the clock does not make up for more than this.
const LONGEST_WAIT_MS: f64 = 150.0;
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
    let fit = Fit::record(&settings, &points, &ripples_at(&points), &probe);
    let mut executor = device.prepare(fit.plan).await?;
    let started = Event::DemoStarted { side: PICTURE_SIDE, executor: kind(device) };
    post(run, started, vec![ripples_at(&probe)]);

    let mut pace = Pace::new(STEPS);
    let (mut submitted, mut seen) = (0, 0);
    let (mut last_picture, mut last_look) = (f64::NEG_INFINITY, now());
    // Steps that the clock allows by now.
    let mut allowed = 1.0;
    while runs.wanted(run).await {
        let start = now();
        allowed += STEPS_PER_MS * (start - last_look).min(LONGEST_WAIT_MS);
        last_look = start;
        let repeats = pace.repeats().min(STEPS.min(allowed as u32).saturating_sub(submitted));
        if repeats > 0 {
            executor.submit(fit.step, repeats)?;
            submitted += repeats;
            executor.settle(0).await?;
            pace.learn(repeats, now() - start);
        }
        if let Some(stats) = executor.stats()? {
            seen = stats.step;
            let event = Event::DemoLosses { first_step: stats.first_step, steps: STEPS };
            post(run, event, vec![stats.values]);
        }
        let over = seen >= STEPS;
        if over || now() - last_picture > PICTURE_MS {
            executor.submit(fit.evaluate, 1)?;
            let picture = executor.read(fit.probe_output.buf).await?;
            post(run, Event::DemoPicture { side: PICTURE_SIDE }, vec![picture]);
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
