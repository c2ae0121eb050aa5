//! Entropic Gromov-Wasserstein against POT's plans in float64, on both executors, natively and in a browser.

use crate::common::{block_on_test, gpu};
use crate::fixtures::{assert_close, embedded, floats, matrix, numbers};
use align::baseline::entropic_gw::{EntropicGw, GwSettings, GwSolution, STATS, solve};
use align::geometry::Dense;
use align::geometry::distance::{Metric, pairwise};
use align::geometry::low_rank::factors;
use align::solver::losses::classic::Distances;
use align::solver::sinkhorn::Marginals;
use compute::exec::{CpuExecutor, Device, Executor};
use compute::plan::{Mat, Plan};
use compute::rng::Rng;
use serde_json::Value;

/// Every problem is solved as a batch of two.
const BATCH: u32 = 2;

fn put(plan: &mut Plan, dense: &Dense) -> Mat {
    let mat = plan.mats("input", BATCH, dense.rows() as u32, dense.cols() as u32);
    plan.set_initial(mat.buf, &dense.data().repeat(BATCH as usize));
    mat
}

fn dense(settings: &GwSettings, [a, b]: [&[f32]; 2], dx: &Dense, dy: &Dense) -> (Plan, EntropicGw) {
    let mut plan = Plan::new();
    let distances = Distances::Dense { x: put(&mut plan, dx), y: put(&mut plan, dy) };
    let gw = EntropicGw::record(&mut plan, settings, Marginals::strict(a, b), &distances);
    (plan, gw)
}

async fn on_both(plan: &Plan, gw: &EntropicGw, mut check: impl FnMut(&str, &GwSolution)) {
    for (name, device) in [("CPU", Device::Cpu), ("GPU", gpu().await)] {
        let mut executor = device.prepare(plan.clone()).await.expect("prepares");
        let solution = solve(&mut executor, gw).await.expect("solves");
        assert!(solution.converged, "{name}: {} {}", solution.change, solution.marginal_error);
        assert!(solution.marginal_error < 1e-4, "{name}: marginal error {}", solution.marginal_error);
        check(name, &solution);
    }
}

async fn matches_pot(case: Value) {
    let eps = case["eps"].as_f64().expect("ε") as f32;
    let [dx, dy] = ["D1", "D2"].map(|key| matrix(&case[key]));
    let [a, b] = ["p", "q"].map(|key| floats(&case[key]));
    let want = numbers(&case["T"]);
    let settings = GwSettings { eps, sinkhorn: 200, tolerance: 3e-6, ..GwSettings::default() };
    let (plan, gw) = dense(&settings, [&a, &b], &dx, &dy);
    on_both(&plan, &gw, |name, solution| {
        for half in solution.coupling.chunks_exact(want.len()) {
            let worst = half.iter().zip(&want).fold(0f64, |w, (g, t)| w.max((f64::from(*g) - t).abs()));
            eprintln!(
                "ε = {eps} on the {name}: {} outer, change {:.1e}, error {worst:.1e}",
                solution.outer, solution.change
            );
            assert_close(half, &want, 2e-5, &format!("plan at ε = {eps} on the {name}"));
        }
    })
    .await;
}

block_on_test! {
    async fn a_rotation_at_a_large_eps() {
        matches_pot(embedded!("egw_rot_eps0.05")).await;
    }
}

block_on_test! {
    async fn a_rotation_at_a_small_eps() {
        matches_pot(embedded!("egw_rot_eps0.005")).await;
    }
}

block_on_test! {
    async fn sides_of_different_sizes_and_weights() {
        matches_pot(embedded!("egw_8x6_nonuniform")).await;
    }
}

/// Points, and weights that sum to 1.
fn side(n: usize, dims: usize, seed: u64) -> (Dense, Vec<f32>) {
    let mut rng = Rng::new(seed);
    let points = Dense::new(n, dims, rng.fill(n * dims, -1.0, 1.0));
    let weights = rng.fill(n, 0.5, 1.5);
    let total: f32 = weights.iter().sum();
    (points, weights.iter().map(|w| w / total).collect())
}

block_on_test! {
    async fn factors_of_distances_lead_to_the_same_plan() {
        let ((x, a), (y, b)) = (side(31, 3, 1), side(22, 2, 2));
        let settings = GwSettings { eps: 0.05, ..GwSettings::default() };
        let whole = [&x, &y].map(|points| {
            let distances = pairwise(points, Metric::SquaredEuclidean);
            let mean = distances.data().iter().sum::<f32>() / distances.data().len() as f32;
            Dense::from_fn(points.rows(), points.rows(), |i, j| 0.5 * distances.at(i, j) / mean)
        });
        let (plan, gw) = dense(&settings, [&a, &b], &whole[0], &whole[1]);
        let mut cpu = CpuExecutor::prepare(plan).expect("fits");
        let want: Vec<f64> =
            solve(&mut cpu, &gw).await.expect("solves").coupling.iter().map(|&v| v.into()).collect();

        let mut plan = Plan::new();
        let [fx, fy] = [&x, &y].map(|points| factors(points, Metric::SquaredEuclidean, points.cols()).expect("has factors"));
        let [u, us, v, vt] = [&fx.u, &fx.scaled(), &fy.u, &fy.scaled()].map(|factor| put(&mut plan, factor));
        let distances = Distances::LowRank { u, us, v, vt };
        let gw = EntropicGw::record(&mut plan, &settings, Marginals::strict(&a, &b), &distances);
        // What a plan that ignores the distances would be.
        let product = a.iter().flat_map(|a| b.iter().map(move |b| f64::from(a * b)));
        let away: f64 = product.zip(&want).map(|(p, w)| (p - w).abs()).sum::<f64>() / 2.0;
        assert!(away > 0.5, "a plan worth comparing: {away}");
        on_both(&plan, &gw, |name, solution| {
            assert_close(&solution.coupling, &want, 2e-5, &format!("plan on the {name}"));
        })
        .await;
    }
}

block_on_test! {
    async fn statistics_tell_how_far_the_plan_moved() {
        let ((x, a), (y, b)) = (side(12, 3, 3), side(9, 2, 4));
        let [dx, dy] = [&x, &y].map(|points| pairwise(points, Metric::Euclidean));
        let settings = GwSettings { eps: 0.1, outer: 3, tolerance: 0.0, ..GwSettings::default() };
        let (plan, gw) = dense(&settings, [&a, &b], &dx, &dy);
        let product: Vec<f32> = a.iter().flat_map(|a| b.iter().map(move |b| a * b)).collect();
        for device in [Device::Cpu, gpu().await] {
            let mut executor = device.prepare(plan.clone()).await.expect("prepares");
            let mut before = product.repeat(BATCH as usize);
            for _ in 0..3 {
                executor.submit(gw.step, 1).expect("submits");
                let now = executor.read(gw.coupling.buf).await.expect("reads");
                executor.settle(0).await.expect("settles");
                let stats = executor.stats().expect("statistics").expect("a step").values;
                assert_eq!(stats.len(), (BATCH * STATS) as usize);
                for (half, (now, before)) in
                    now.chunks_exact(product.len()).zip(before.chunks_exact(product.len())).enumerate()
                {
                    let moved: f32 = now.iter().zip(before).map(|(n, b)| (n - b).abs()).sum();
                    let sum = |j: usize| now.iter().skip(j).step_by(b.len()).sum::<f32>();
                    let miss: f32 = b.iter().enumerate().map(|(j, b)| (b - sum(j)).abs()).sum();
                    let [change, error] = [0, 1].map(|s| stats[half * STATS as usize + s]);
                    assert!(moved > 1e-3 && (change - moved).abs() < 1e-5, "{change} instead of {moved}");
                    assert!((error - miss).abs() < 1e-5, "{error} instead of {miss}");
                }
                before = now;
            }
        }
        // Nothing is below a tolerance of zero: all iterations are played, and it is said.
        let mut cpu = CpuExecutor::prepare(plan).expect("fits");
        let solution = solve(&mut cpu, &gw).await.expect("solves");
        assert_eq!((solution.outer, solution.converged), (3, false));
    }
}
