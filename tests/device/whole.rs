//! Training on all points without anything that has a place for every pair, against the dense step, which is compared
//! with float64 and central differences elsewhere. On both executors, natively and in a browser.

use crate::common::{block_on_test, gpu};
use align::geometry::Dense;
use align::geometry::distance::{Metric, halved, pairwise};
use align::geometry::low_rank::factors;
use align::solver::align::{Align, AlignSettings, Objective, Problem, Terms};
use align::solver::annealing::Annealing;
use align::solver::cost::CostKind;
use align::solver::losses::classic::Distances;
use align::solver::whole::{self, Thin, Whole};
use compute::exec::{AnyExecutor, Device, Executor};
use compute::plan::{Mat, Plan};
use compute::rng::Rng;

fn put(plan: &mut Plan, dense: &Dense) -> Mat {
    let mat = plan.mat("input", dense.rows() as u32, dense.cols() as u32);
    plan.set_initial(mat.buf, dense.data());
    mat
}

fn cloud(n: usize, d: usize, seed: u64) -> Dense {
    Dense::new(n, d, Rng::new(seed).fill(n * d, -1.0, 1.0))
}

/// The gradients of the last step and the statistics of all, of dense training on all pairs.
async fn dense(settings: &AlignSettings, sides: &[Dense; 2], metric: Metric) -> (Vec<f32>, Vec<f32>) {
    let mut plan = Plan::new();
    let [x, y] = sides.each_ref().map(|side| put(&mut plan, side));
    let [dx, dy] = sides.each_ref().map(|side| put(&mut plan, &halved(&pairwise(side, metric))));
    let objective = Objective::Classic(Distances::Dense { x: dx, y: dy });
    let align =
        Align::record(&mut plan, settings, &Problem { x, y, objective, terms: Terms::default(), sums: None });
    let mut executor = Device::Cpu.prepare(plan).await.expect("fits");
    executor.submit(align.step, settings.steps).expect("runs");
    let gradients = executor.read(align.gradients).await.expect("reads");
    (gradients, statistics(&mut executor))
}

fn statistics(executor: &mut AnyExecutor) -> Vec<f32> {
    executor.stats().expect("a ring").map(|stats| stats.values).unwrap_or_default()
}

/// The same without a plan that is held.
async fn whole(
    settings: &AlignSettings,
    sides: &[Dense; 2],
    metric: Metric,
    device: &Device,
) -> (Vec<f32>, Vec<f32>) {
    let mut plan = Plan::new();
    let inputs = sides.each_ref().map(|side| put(&mut plan, side));
    let distances = sides.each_ref().map(|side| {
        let low = factors(side, metric, side.cols()).expect("low rank");
        Thin { factors: put(&mut plan, &low.u), diagonal: put(&mut plan, &low.diagonal()) }
    });
    // Few pairs, so that every product comes in parts.
    let whole = Whole::record(&mut plan, settings, &whole::Problem { inputs, distances }, 500);
    assert!(whole.parts.len() > 100, "in {} parts", whole.parts.len());
    let mut executor = device.prepare(plan).await.expect("fits");
    for _ in 0..settings.steps {
        for &part in &whole.parts {
            executor.submit(part, 1).expect("runs");
        }
    }
    executor.settle(0).await.expect("settles");
    let gradients = executor.read(whole.gradients).await.expect("reads");
    (gradients, statistics(&mut executor))
}

block_on_test! {
    async fn a_step_on_all_points_is_the_dense_one() {
        let sides = [cloud(61, 5, 1), cloud(50, 4, 2)];
        let gpu = gpu().await;
        for metric in [Metric::Cosine, Metric::SquaredEuclidean] {
            for cost in [CostKind::Sqm, CostKind::Cosine] {
                // ε small enough that the plan is far from uniform, so that every part of the way back counts. The
                // encoders stand still: Adam would make large steps of what rounding leaves of small gradients.
                let settings = AlignSettings {
                    hidden: 12,
                    embedding: 6,
                    cost,
                    steps: 3,
                    rate: 0.0,
                    annealing: Annealing { start: 0.2, end: 0.04, ..Annealing::default() },
                    sinkhorn: 12,
                    seed: 9,
                    ..AlignSettings::default()
                };
                let (want, want_stats) = dense(&settings, &sides, metric).await;
                let top = want.iter().fold(0f32, |top, v| top.max(v.abs()));
                for device in [&Device::Cpu, &gpu] {
                    let (got, stats) = whole(&settings, &sides, metric, device).await;
                    let apart = want.iter().zip(&got).fold(0f32, |worst, (a, b)| worst.max((a - b).abs()));
                    assert!(apart < 2e-3 * top, "{metric:?} {cost:?}: {apart:.2e} apart, the largest {top:.2e}");
                    assert_eq!(stats.len(), 6);
                    for (got, want) in stats.iter().zip(&want_stats) {
                        assert!((got - want).abs() < 1e-4, "{metric:?} {cost:?}: {stats:?}, not {want_stats:?}");
                    }
                }
            }
        }
    }
}
