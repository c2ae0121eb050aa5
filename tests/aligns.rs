//! Whole training runs: the gradient is right, both executors agree, and a hidden rotation is found.
#![cfg(feature = "gpu")]

mod common;

use common::{block_on_test, gpu};
use concord::exec::{CpuExecutor, Device, Executor};
use concord::geometry::Dense;
use concord::geometry::distance::Metric;
use concord::geometry::low_rank::factors;
use concord::metrics::plan::barycentric;
use concord::metrics::truth::{exact_matches, foscttm};
use concord::plan::{Mat, Plan};
use concord::rng::Rng;
use concord::solver::align::{Align, AlignSettings, Objective, Problem, STATS, Terms};
use concord::solver::infer::{Encoders, Infer};
use concord::solver::losses::classic::Distances;

fn put(plan: &mut Plan, dense: &Dense, batch: u32) -> Mat {
    let mat = plan.mats("input", batch, dense.rows() as u32, dense.cols() as u32);
    plan.set_initial(mat.buf, &dense.data().repeat(batch as usize));
    mat
}

/// Clusters of different sizes and places, so that no symmetry maps the cloud onto itself.
fn cloud(n: usize, seed: u64) -> Dense {
    let mut rng = Rng::new(seed);
    let centres = Dense::new(5, 4, rng.fill(20, -2.0, 2.0));
    Dense::from_fn(n, 4, |i, j| {
        let cluster = (i * i + i / 3) % 5;
        centres.at(cluster, j) + 0.25 * (1.0 + cluster as f32) * rng.uniform(-1.0, 1.0)
    })
}

/// The cloud turned in two planes, mirrored in one axis, and its rows in another order.
fn hidden(cloud: &Dense, order: &[usize]) -> Dense {
    let (s, c) = 0.9f32.sin_cos();
    Dense::from_fn(cloud.rows(), 4, |i, j| {
        let p = cloud.row(order[i]);
        match j {
            0 => c * p[0] - s * p[2],
            1 => -(s * p[1] + c * p[3]),
            2 => s * p[0] + c * p[2],
            _ => c * p[1] - s * p[3],
        }
    })
}

fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut rng = Rng::new(seed);
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, (rng.next_u64() % (i as u64 + 1)) as usize);
    }
    order
}

fn record(settings: &AlignSettings, x: &Dense, y: &Dense, batch: u32) -> (Plan, Align) {
    let mut plan = Plan::new();
    let [fx, fy] = [x, y].map(|side| factors(side, Metric::SquaredEuclidean).expect("has factors"));
    let objective = Objective::Classic(Distances::LowRank {
        u: put(&mut plan, &fx.u, batch),
        us: put(&mut plan, &fx.us, batch),
        v: put(&mut plan, &fy.u, batch),
        vt: put(&mut plan, &fy.us, batch),
    });
    let problem = Problem {
        x: put(&mut plan, x, batch),
        y: put(&mut plan, y, batch),
        objective,
        terms: Terms::default(),
    };
    let align = Align::record(&mut plan, settings, &problem);
    (plan, align)
}

/// The loss (up to a constant) at given parameters, with Sinkhorn run to its end.
fn loss_at(settings: &AlignSettings, x: &Dense, y: &Dense, weights: &[f32]) -> f64 {
    let (mut plan, align) = record(settings, x, y, 1);
    plan.set_initial(align.weights, weights);
    let mut cpu = CpuExecutor::prepare(plan).expect("fits");
    cpu.submit(align.step, 1).expect("plays");
    f64::from(cpu.stats().expect("reads").expect("a step").values[0])
}

block_on_test! {
    async fn the_gradient_of_a_whole_step_matches_central_differences() {
        let (x, y) = (cloud(14, 1), hidden(&cloud(14, 1), &shuffled(14, 2)));
        let settings = AlignSettings {
            hidden: 6,
            embedding: 3,
            activation: concord::kernels::Activation::Tanh,
            steps: 1,
            annealing: concord::solver::annealing::Annealing { start: 0.5, end: 0.5, ..Default::default() },
            sinkhorn: 300,
            conjugate: 30,
            ..AlignSettings::default()
        };
        let (plan, align) = record(&settings, &x, &y, 1);
        let weights = plan.buffers()[align.weights.index()].initial.clone();
        let mut cpu = CpuExecutor::prepare(plan).expect("fits");
        cpu.submit(align.step, 1).expect("plays");
        let grad = cpu.read(align.gradients).await.expect("reads");
        let largest = grad.iter().fold(0f64, |top, g| top.max(f64::from(g.abs())));
        assert!(largest > 1e-3, "a gradient worth checking: {largest}");
        let mut checked = 0;
        for (i, g) in grad.iter().enumerate().step_by(7) {
            let h = 1e-2;
            let shifted = |by: f32| {
                let mut weights = weights.clone();
                weights[i] += by;
                loss_at(&settings, &x, &y, &weights)
            };
            let numeric = (shifted(h) - shifted(-h)) / (2.0 * f64::from(h));
            let error = (numeric - f64::from(*g)).abs();
            assert!(error < 0.02 * largest, "weight {i}: {g} against {numeric}");
            checked += 1;
        }
        assert!(checked > 10);
    }
}

block_on_test! {
    async fn both_executors_train_alike() {
        let (x, y) = (cloud(33, 1), hidden(&cloud(33, 1), &shuffled(33, 2)));
        let settings = AlignSettings { hidden: 16, embedding: 4, steps: 25, ..AlignSettings::default() };
        let mut curves = Vec::new();
        for device in [Device::Cpu, gpu().await] {
            let (plan, align) = record(&settings, &x, &y, 2);
            // Encoders 6 + 16, cost 6 + 10, Sinkhorn 25, loss 4, implicit gradient 37, Adam 1, statistics 4.
            assert_eq!(plan.pass(align.step).stages.len(), 109);
            let mut executor = device.prepare(plan).await.expect("prepares");
            executor.submit(align.step, settings.steps).expect("submits");
            executor.settle(0).await.expect("settles");
            curves.push(executor.stats().expect("statistics").expect("has steps").values);
        }
        assert_eq!(curves[0].len(), (2 * STATS * settings.steps) as usize);
        for (i, (c, g)) in curves[0].iter().zip(&curves[1]).enumerate() {
            assert!((c - g).abs() <= 1e-3 * c.abs() + 1e-4, "statistic {i}: {c} and {g}");
        }
    }
}

block_on_test! {
    async fn a_hidden_rotation_is_found_and_carries_over_to_unseen_points() {
        let order = shuffled(100, 5);
        let (all_x, all_y) = (cloud(200, 3), {
            let whole: Vec<usize> = order.iter().copied().chain(100..200).collect();
            hidden(&cloud(200, 3), &whole)
        });
        let part = |side: &Dense| Dense::from_fn(100, 4, |i, j| side.at(i, j));
        let (x, y) = (part(&all_x), part(&all_y));
        let settings = AlignSettings { seed: 7, ..AlignSettings::default() };
        let (plan, align) = record(&settings, &x, &y, 1);
        let mut cpu = CpuExecutor::prepare(plan).expect("fits");
        cpu.submit(align.step, settings.steps).expect("plays");
        let weights = cpu.read(align.weights).await.expect("reads");

        let infer = Infer::record(&Encoders::Networks { shapes: align.shapes, weights, cost: settings.cost }, [all_x.data(), all_y.data()], 0.05);
        let mut cpu = CpuExecutor::prepare(infer.plan).expect("fits");
        cpu.submit(infer.embed, 1).expect("plays");
        cpu.submit(infer.transport, infer.falling + 30).expect("plays");
        let error = cpu.stats().expect("reads").expect("has steps").values.last().copied();
        assert!(error.is_some_and(|e| e < 1e-2), "marginal error {error:?}");
        let coupling = Dense::new(200, 200, cpu.read(infer.coupling.buf).await.expect("reads"));
        let truth: Vec<usize> = order.iter().copied().chain(100..200).collect();
        let pairs: Vec<_> = truth.iter().enumerate().map(|(j, &i)| (i, j)).collect();
        let score = |range: std::ops::Range<usize>| {
            let chosen: Vec<_> = pairs.iter().copied().filter(|(i, _)| range.contains(i)).collect();
            let matches: Vec<usize> = (0..200)
                .map(|i| {
                    let row = coupling.row(i);
                    (0..200).max_by(|&a, &b| row[a].total_cmp(&row[b])).expect("has columns")
                })
                .collect();
            (foscttm(&barycentric(&coupling, &all_y), &all_y, &chosen), exact_matches(&matches, &chosen))
        };
        // At random: a half, and one in two hundred. Neighbours in a dense cluster may be exchanged.
        for (name, range) in [("seen", 0..100), ("unseen", 100..200)] {
            let (closer, exact) = score(range);
            eprintln!("{name}: {closer:?}, exact {exact}");
            assert!(closer.xy < 0.04 && closer.yx < 0.04, "{name}: {closer:?}");
            assert!(exact > 0.6, "{name}: {exact}");
        }
    }
}
