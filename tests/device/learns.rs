//! The stack learns: three-layer networks fit a known smooth function on both executors, natively and in
//! a browser, with the same loss curve, and the statistics arrive without waiting.

use crate::common::{block_on_test, gpu};
use align::solver::fit::{Fit, FitSettings, grid_points, ripples_at};
use align::solver::mlp::MlpShape;
use compute::exec::{Device, Executor};
use compute::kernels::Activation;

const STEPS: u32 = 300;
const PER_SUBMIT: u32 = 25;
const BATCH: u32 = 2;
/// The mean squared error that counts as learned; predicting the mean gives 0.22.
const LEARNED: f32 = 0.004;

fn record() -> (Fit, Vec<f32>) {
    let settings = FitSettings {
        shape: MlpShape { sizes: vec![2, 32, 32, 1], hidden: Activation::Tanh, output: Activation::Identity },
        batch: BATCH,
        steps: STEPS,
        rate: 0.01,
        seed: 3,
    };
    let (inputs, probe) = (grid_points(16), grid_points(11));
    (Fit::record(&settings, &inputs, &ripples_at(&inputs), &probe), ripples_at(&probe))
}

/// Trains, and returns the loss curve of every network (step by step) and their mean squared errors on
/// points that were not trained on.
async fn train(device: &Device) -> (Vec<f32>, Vec<f32>) {
    let (fit, wanted) = record();
    let mut executor = device.prepare(fit.plan).await.expect("prepares");
    let mut curve = Vec::new();
    for _ in 0..STEPS / PER_SUBMIT {
        executor.submit(fit.step, PER_SUBMIT).expect("submits");
        executor.settle(1).await.expect("settles");
        if let Some(stats) = executor.stats().expect("statistics") {
            assert_eq!(stats.first_step as usize * BATCH as usize, curve.len(), "no step is lost");
            curve.extend(stats.values);
        }
    }
    executor.settle(0).await.expect("settles");
    curve.extend(executor.stats().expect("statistics").map(|s| s.values).unwrap_or_default());
    executor.submit(fit.evaluate, 1).expect("submits");
    let output = executor.read(fit.probe_output.buf).await.expect("reads");
    let errors = output
        .chunks_exact(wanted.len())
        .map(|net| net.iter().zip(&wanted).map(|(y, w)| (y - w).powi(2)).sum::<f32>() / wanted.len() as f32)
        .collect();
    (curve, errors)
}

block_on_test! {
    async fn both_executors_learn_the_same_way() {
        let (cpu, cpu_errors) = train(&Device::Cpu).await;
        let (gpu, gpu_errors) = train(&gpu().await).await;
        assert_eq!(cpu.len(), (STEPS * BATCH) as usize);
        assert_eq!(gpu.len(), cpu.len());
        for (i, (c, g)) in cpu.iter().zip(&gpu).enumerate() {
            assert!((c - g).abs() <= 0.02 * c + 2e-4, "loss {i}: {c} on the CPU, {g} on the GPU");
        }
        for network in 0..BATCH as usize {
            let [first, last] = [network, cpu.len() - BATCH as usize + network];
            assert!(cpu[first] > 0.2, "starts unlearned: {}", cpu[first]);
            assert!(cpu[last] < LEARNED && gpu[last] < LEARNED, "ends at {} and {}", cpu[last], gpu[last]);
            let (c, g) = (cpu_errors[network], gpu_errors[network]);
            assert!(c < LEARNED && g < LEARNED, "unseen points: {c} and {g}");
        }
        // Two networks of one batch start from different weights.
        assert!((cpu[0] - cpu[1]).abs() > 1e-3);
    }
}

block_on_test! {
    async fn statistics_survive_a_crowd_of_submits() {
        // More submits at once than there are staging buffers: some can take no snapshot.
        let (fit, _) = record();
        let mut executor = gpu().await.prepare(fit.plan).await.expect("prepares");
        for _ in 0..STEPS / PER_SUBMIT {
            executor.submit(fit.step, PER_SUBMIT).expect("submits");
        }
        executor.settle(0).await.expect("settles");
        let stats = executor.stats().expect("statistics").expect("has arrived");
        assert_eq!((stats.first_step, stats.step), (0, STEPS));
        assert_eq!(stats.values.len(), (STEPS * BATCH) as usize);
        assert!(stats.values.iter().all(|loss| *loss > 0.0));
    }
}

block_on_test! {
    async fn the_same_seed_gives_the_same_bits_on_the_cpu() {
        assert_eq!(train(&Device::Cpu).await, train(&Device::Cpu).await);
    }
}
