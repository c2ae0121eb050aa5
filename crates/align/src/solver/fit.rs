//! Fits networks to known values by the mean squared error.
//!
//! The smallest complete training loop of the project: forward, loss, backward, Adam, statistics, with
//! no host in between. It is the proof that the stack learns, and what the page shows while it warms up.

use crate::solver::mlp::{Arena, Mlp, MlpShape};
use compute::kernels::reduce::{self, Operation};
use compute::kernels::{adam, mse_grad, tick};
use compute::plan::{BufId, Mat, PassId, Plan};
use compute::rng::Rng;

/// Training points and how to train on them.
#[derive(Clone, Debug)]
pub struct FitSettings {
    pub shape: MlpShape,
    /// Networks trained side by side; each starts from its own random weights.
    pub batch: u32,
    pub steps: u32,
    pub rate: f32,
    pub seed: u64,
}

/// A recorded fit.
pub struct Fit {
    pub plan: Plan,
    /// One training step.
    pub step: PassId,
    /// The forward pass alone, on `probe`.
    pub evaluate: PassId,
    /// What `evaluate` computes.
    pub probe_output: Mat,
    /// The parameters, and their gradients as the last step left them.
    pub weights: BufId,
    pub gradients: BufId,
}

impl Fit {
    /// Records the fit of `inputs → targets` (row-major, one row a point), and the evaluation of the
    /// networks at the points `probe`. All networks of the batch see the same points.
    pub fn record(settings: &FitSettings, inputs: &[f32], targets: &[f32], probe: &[f32]) -> Self {
        let FitSettings { shape, batch, .. } = settings;
        let (dim_in, dim_out) = (shape.sizes[0], shape.sizes[shape.sizes.len() - 1]);
        let mut rng = Rng::new(settings.seed);
        let initial: Vec<f32> = (0..*batch).flat_map(|_| shape.initial(&mut rng)).collect();
        Self::record_from(settings, &initial, [(inputs, dim_in), (targets, dim_out), (probe, dim_in)])
    }

    /// As [`Fit::record`], from given parameters.
    pub fn record_from(
        settings: &FitSettings,
        initial: &[f32],
        [inputs, targets, probe]: [(&[f32], u32); 3],
    ) -> Self {
        let FitSettings { shape, batch, steps, rate, .. } = settings;
        let batch = *batch;
        let mut plan = Plan::new();
        let mut points = |label, (data, cols): (&[f32], u32)| {
            let mat = plan.mats(label, batch, data.len() as u32 / cols, cols);
            plan.set_initial(mat.buf, &data.repeat(batch as usize));
            mat
        };
        let x = points("inputs", inputs);
        let wanted = points("targets", targets);
        let probe = points("probe", probe);

        let schedule: Vec<f32> = (0..*steps).flat_map(|t| adam::schedule_entry(t, *rate)).collect();
        let clock = plan.set_schedule(3, &schedule);
        let stats = plan.set_stats(batch, *steps);
        let mut arena = Arena::new(&mut plan, batch, shape.parameters());
        arena.set_initial(&mut plan, initial);
        let mlp = Mlp::new(&mut arena, shape);

        let step = plan.begin_pass("fit step");
        let pass = mlp.forward(&mut plan, x);
        let y = pass.output();
        let grad = plan.mats("output gradient", batch, y.rows, y.cols);
        mse_grad::record(&mut plan, y, wanted, grad);
        let loss = plan.mats("loss", batch, 1, 1);
        let flat = grad.reshaped(1, y.rows * y.cols);
        reduce::record(&mut plan, Operation::SumSquares, flat.cols as f32 / 4.0, flat, loss);
        mlp.backward(&mut plan, &pass, grad);
        arena.record_adam(&mut plan, clock, 0);
        tick::record(&mut plan, loss.buf, stats, clock);

        let evaluate = plan.begin_pass("evaluate");
        let probe_output = mlp.forward(&mut plan, probe).output();
        let (weights, gradients) = arena.buffers();
        Self { plan, step, evaluate, probe_output, weights, gradients }
    }
}

/// A smooth function on [−1, 1]² with structure at two scales: the target of the page's first
/// picture and of the tests. Values within [−0.9, 1].
fn ripples(u: f32, v: f32) -> f32 {
    let swirl = (3.0 * u + 2.0 * (2.0 * v).sin()).sin();
    let hill = (-4.0 * ((u - 0.35).powi(2) + (v + 0.2).powi(2))).exp();
    0.6 * swirl - 0.3 + 0.7 * hill
}

/// The centres of a `side × side` grid over [−1, 1]², row by row.
pub fn grid_points(side: u32) -> Vec<f32> {
    let at = |i: u32| 2.0 * (i as f32 + 0.5) / side as f32 - 1.0;
    (0..side).flat_map(|row| (0..side).flat_map(move |col| [at(col), at(row)])).collect()
}

/// The target at the given points.
pub fn ripples_at(points: &[f32]) -> Vec<f32> {
    points.chunks_exact(2).map(|p| ripples(p[0], p[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use compute::kernels::Activation;

    /// Three forward, loss gradient and loss, five backward, Adam, tick. Dispatches cost more than
    /// arithmetic at these sizes, so their number is held.
    #[test]
    fn a_training_step_of_three_layers_is_twelve_dispatches() {
        let settings = FitSettings {
            shape: MlpShape {
                sizes: vec![2, 32, 32, 1],
                hidden: Activation::Tanh,
                output: Activation::Identity,
            },
            batch: 4,
            steps: 10,
            rate: 0.01,
            seed: 1,
        };
        let points = grid_points(4);
        let fit = Fit::record(&settings, &points, &ripples_at(&points), &points);
        assert_eq!(fit.plan.pass(fit.step).stages.len(), 12);
        assert_eq!(fit.plan.pass(fit.evaluate).stages.len(), 3);
    }
}
