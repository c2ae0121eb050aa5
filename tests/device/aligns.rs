//! Whole training runs: the gradient is right, both executors agree, and a hidden rotation is found.

use crate::common::{block_on_test, gpu};
use align::geometry::Dense;
use align::geometry::distance::{Metric, pairwise};
use align::geometry::graph::{EdgeWeight, Graph};
use align::geometry::low_rank::factors;
use align::geometry::ranks::mid_ranks;
use align::geometry::spectral::{Thin, thin};
use align::metrics::readout::Readout;
use align::metrics::truth::{exact_matches, foscttm};
use align::scale::{Matching, NoWatch};
use align::solver::align::{Align, AlignSettings, Objective, Problem, STATS, Terms};
use align::solver::annealing::Annealing;
use align::solver::cost::CostKind;
use align::solver::infer::{Encoders, Infer};
use align::solver::losses::Symmetry;
use align::solver::losses::classic::Distances;
use align::solver::losses::rank_gw::{self, Halves, Ranks};
use align::solver::losses::soft_rank::SoftRank;
use align::solver::losses::sums::Sums;
use align::solver::sinkhorn::{Relaxation, uniform};
use align::solver::terms::{fused, pairs};
use compute::exec::{CpuExecutor, Device, Executor};
use compute::kernels::Activation;
use compute::plan::{Mat, Plan};
use compute::rng::Rng;

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
    Dense::from_fn(order.len(), 4, |i, j| {
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

/// The losses of the table below, on squared distances or their ranks.
#[derive(Clone, Copy)]
enum Loss {
    ClassicDense,
    ClassicLowRank,
    RankDense,
    RankThin,
    Frobenius,
    SoftRank,
}

/// At this one the ranks have several blocks, which stay the same for a small step.
const SOFTNESS: f32 = 0.3;

/// Distances between the points of both sides, and the order in which they lie.
fn distances_of(sides: [&Dense; 2]) -> [Dense; 2] {
    sides.map(|side| {
        let far = pairwise(side, Metric::SquaredEuclidean);
        let mean = far.data().iter().sum::<f32>() / far.data().len() as f32;
        Dense::from_fn(far.rows(), far.cols(), |i, j| 0.5 * far.at(i, j) / mean)
    })
}

fn ranks_of(sides: [&Dense; 2]) -> [Dense; 2] {
    distances_of(sides).map(|far| mid_ranks(&far, &uniform(far.cols() as u32)))
}

fn thin_ranks_of(sides: [&Dense; 2]) -> [Thin; 2] {
    ranks_of(sides).map(|ranks| thin(&ranks, 0.9, 16).expect("a product"))
}

/// Puts a loss between two sides into the plan.
fn objective(plan: &mut Plan, loss: Loss, [x, y]: [&Dense; 2], batch: u32) -> Objective {
    let distances = || distances_of([x, y]);
    let ranks = || ranks_of([x, y]);
    let beside = |a: &Dense, b: &Dense| {
        let k = a.cols();
        Dense::from_fn(a.rows(), 2 * k, |i, j| if j < k { a.at(i, j) } else { b.at(i, j - k) })
    };
    match loss {
        Loss::ClassicDense => {
            let [x, y] = distances().map(|far| put(plan, &far, batch));
            Objective::Classic(Distances::Dense { x, y })
        }
        Loss::ClassicLowRank => {
            let [fx, fy] =
                [x, y].map(|side| factors(side, Metric::SquaredEuclidean, side.cols()).expect("has factors"));
            Objective::Classic(Distances::LowRank {
                u: put(plan, &fx.u, batch),
                us: put(plan, &fx.scaled(), batch),
                v: put(plan, &fy.u, batch),
                vt: put(plan, &fy.scaled(), batch),
            })
        }
        Loss::RankDense => {
            let [rx, ry] = ranks();
            let turned = Dense::from_fn(rx.rows(), rx.rows(), |i, j| rx.at(j, i));
            let x = put(plan, &beside(&rx, &turned), batch);
            Objective::RankGw(Ranks::Dense { x, y: put(plan, &ry, batch) })
        }
        Loss::RankThin => {
            let thinned = thin_ranks_of([x, y]);
            let [kx, ky] = thinned.each_ref().map(|product| product.left.cols() as u32);
            let [x, y] = thinned.map(|Thin { left, right }| Halves {
                ab: put(plan, &beside(&left, &right), batch),
                ba: put(plan, &beside(&right, &left), batch),
            });
            let mask = Dense::new(2 * kx as usize, 2 * ky as usize, rank_gw::mask(kx, ky));
            Objective::RankGw(Ranks::Thin { x, y, mask: put(plan, &mask, batch) })
        }
        Loss::Frobenius => Objective::Frobenius(distances().map(|far| put(plan, &far, batch))),
        Loss::SoftRank => {
            let [dx, dy] = distances().map(|far| far.data().repeat(batch as usize));
            let points = [x, y].map(|side| side.rows() as u32);
            let constants = SoftRank::new(plan, [&dx, &dy], points, SOFTNESS, Symmetry::Symmetric);
            Objective::SoftRank(constants)
        }
    }
}

/// What a loss takes where marginals are relaxed, from its definition.
fn sums(plan: &mut Plan, loss: Loss, sides: [&Dense; 2], batch: u32) -> Sums {
    let compared = match loss {
        Loss::ClassicDense => distances_of(sides),
        Loss::ClassicLowRank => sides.map(|side| pairwise(side, Metric::SquaredEuclidean)),
        Loss::RankDense => ranks_of(sides),
        Loss::RankThin => thin_ranks_of(sides).map(|Thin { left, right }| {
            let entry = |i: usize, j: usize| left.row(i).iter().zip(right.row(j)).map(|(a, b)| a * b).sum();
            Dense::from_fn(left.rows(), left.rows(), entry)
        }),
        Loss::Frobenius | Loss::SoftRank => panic!("not quadratic"),
    };
    let mean = |r: &Dense| r.data().iter().map(|v| v * v).sum::<f32>() / r.data().len() as f32;
    let constant = Dense::new(1, 1, vec![compared.iter().map(mean).sum()]);
    let squares = compared.map(|r| {
        let square = Dense::from_fn(r.rows(), r.rows(), |i, j| r.at(i, j).powi(2) + r.at(j, i).powi(2));
        put(plan, &square, batch)
    });
    Sums { squares, constant: put(plan, &constant, batch) }
}

/// All terms, each with a weight that makes it matter.
fn all_terms(plan: &mut Plan, [x, y]: [&Dense; 2], batch: u32) -> Terms {
    let laplacians = [x, y].map(|side| {
        let far = pairwise(side, Metric::Euclidean);
        put(plan, &Graph::nearest(&far, 4, EdgeWeight::Step).laplacian(), batch)
    });
    let [n, m] = [x, y].map(Dense::rows);
    // The first two features count as shared.
    let shared =
        [x, y].map(|side| (0..side.rows()).flat_map(|i| side.row(i)[..2].to_vec()).collect::<Vec<f32>>());
    let shared = Dense::new(n, m, fused::shared_cost([&shared[0], &shared[1]], 2));
    let known = Dense::new(n, m, pairs::weights(n, m, &[(0, 3), (2, 2), (5, 8)]));
    Terms {
        dirichlet: Some((0.05, laplacians)),
        fused: Some((0.3, put(plan, &shared, batch))),
        pairs: Some((0.2, put(plan, &known, batch))),
    }
}

/// What kind of step is recorded.
#[derive(Clone, Copy)]
struct Kind {
    loss: Loss,
    /// With all terms.
    with_terms: bool,
    /// With a step of relaxed marginals beside it, which is the one that is tested.
    relaxed: bool,
}

fn record_with(
    settings: &AlignSettings,
    sides: [&Dense; 2],
    batch: u32,
    Kind { loss, with_terms, relaxed }: Kind,
) -> (Plan, Align) {
    let mut plan = Plan::new();
    let objective = objective(&mut plan, loss, sides, batch);
    let terms = if with_terms { all_terms(&mut plan, sides, batch) } else { Terms::default() };
    let sums = relaxed.then(|| sums(&mut plan, loss, sides, batch));
    let [x, y] = sides.map(|side| put(&mut plan, side, batch));
    let align = Align::record(&mut plan, settings, &Problem { x, y, objective, terms, sums });
    (plan, align)
}

fn record(settings: &AlignSettings, x: &Dense, y: &Dense, batch: u32) -> (Plan, Align) {
    record_with(
        settings,
        [x, y],
        batch,
        Kind { loss: Loss::ClassicLowRank, with_terms: false, relaxed: false },
    )
}

/// Compares the gradient of a whole step on both executors with central differences of the loss it reports
/// (up to a constant), with Sinkhorn run to its end.
async fn step_has_the_gradient_of_its_loss(kind: Kind, cost: CostKind, tolerance: f64) {
    let all = cloud(14, 1);
    let (x, y) = (all.clone(), hidden(&all, &shuffled(14, 2)[..11]));
    let settings = AlignSettings {
        hidden: 6,
        embedding: 3,
        activation: Activation::Tanh,
        cost,
        steps: 1,
        annealing: Annealing { start: 0.5, end: 0.5, ..Annealing::default() },
        sinkhorn: 300,
        conjugate: 30,
        ..AlignSettings::default()
    };
    let (plan, align) = record_with(&settings, [&x, &y], 1, kind);
    let step = if kind.relaxed { align.relaxed_step.expect("is recorded") } else { align.step };
    let weights = plan.buffers()[align.weights.index()].initial.clone();
    let loss_at = |weights: &[f32]| {
        let mut plan = plan.clone();
        plan.set_initial(align.weights, weights);
        let mut cpu = CpuExecutor::prepare(plan).expect("fits");
        cpu.submit(step, 1).expect("plays");
        f64::from(cpu.stats().expect("reads").expect("a step").values[0])
    };
    const EVERY: usize = 7;
    const H: f32 = 2e-3;
    let numeric: Vec<f64> = (0..weights.len())
        .step_by(EVERY)
        .map(|i| {
            let shifted = |by: f32| {
                let mut weights = weights.clone();
                weights[i] += by;
                loss_at(&weights)
            };
            (shifted(H) - shifted(-H)) / (2.0 * f64::from(H))
        })
        .collect();
    let largest = numeric.iter().fold(0f64, |top, g| top.max(g.abs()));
    assert!(numeric.len() > 10 && largest > 1e-3, "a gradient worth checking: {largest}");
    for (name, device) in [("CPU", Device::Cpu), ("GPU", gpu().await)] {
        let mut executor = device.prepare(plan.clone()).await.expect("prepares");
        executor.submit(step, 1).expect("submits");
        let grad = executor.read(align.gradients).await.expect("reads");
        for (i, (numeric, g)) in numeric.iter().zip(grad.iter().step_by(EVERY)).enumerate() {
            let error = (numeric - f64::from(*g)).abs();
            assert!(error < tolerance * largest, "weight {} on the {name}: {g} against {numeric}", EVERY * i);
        }
    }
}

/// One test for each row: the marginals, the loss, whether all terms are added, the cost, and the error that is allowed,
/// relative to the largest entry.
macro_rules! step_gradients {
    ($($name:ident: $relaxed:expr, $loss:ident, $terms:expr, $cost:ident, $tolerance:expr;)+) => {
        $(block_on_test! {
            async fn $name() {
                let kind = Kind { loss: Loss::$loss, with_terms: $terms, relaxed: $relaxed };
                step_has_the_gradient_of_its_loss(kind, CostKind::$cost, $tolerance).await;
            }
        })+
    };
}

/// The marginals of a step.
const STRICT: bool = false;
const RELAXED: bool = true;

step_gradients! {
    the_gradient_of_a_step_with_the_classic_loss: STRICT, ClassicDense, false, Sqm, 0.005;
    the_gradient_of_a_step_with_the_classic_loss_of_low_rank: STRICT, ClassicLowRank, false, Sqm, 0.005;
    the_gradient_of_a_step_with_ranks: STRICT, RankDense, false, Sqm, 0.005;
    the_gradient_of_a_step_with_thin_ranks: STRICT, RankThin, false, Sqm, 0.005;
    the_gradient_of_a_step_with_the_frobenius_loss: STRICT, Frobenius, false, Sqm, 0.005;
    the_gradient_of_a_step_with_soft_ranks: STRICT, SoftRank, false, Sqm, 0.03;
    the_gradient_of_a_step_with_the_cosine_cost: STRICT, ClassicLowRank, false, Cosine, 0.005;
    the_gradient_of_a_step_with_all_terms: STRICT, ClassicLowRank, true, Sqm, 0.005;
    the_gradient_of_a_step_with_ranks_and_all_terms: STRICT, RankThin, true, Sqm, 0.005;
    the_gradient_of_a_step_with_the_frobenius_loss_all_terms_and_the_cosine_cost: STRICT, Frobenius, true, Cosine, 0.005;
    the_gradient_of_a_relaxed_step_with_the_classic_loss: RELAXED, ClassicDense, false, Sqm, 0.005;
    the_gradient_of_a_relaxed_step_with_the_classic_loss_of_low_rank: RELAXED, ClassicLowRank, false, Sqm, 0.005;
    the_gradient_of_a_relaxed_step_with_ranks: RELAXED, RankDense, false, Sqm, 0.005;
    the_gradient_of_a_relaxed_step_with_thin_ranks: RELAXED, RankThin, false, Sqm, 0.005;
    the_gradient_of_a_relaxed_step_with_the_cosine_cost: RELAXED, RankDense, false, Cosine, 0.005;
    the_gradient_of_a_relaxed_step_with_all_terms: RELAXED, ClassicDense, true, Sqm, 0.005;
    the_gradient_of_a_relaxed_step_with_ranks_and_all_terms: RELAXED, RankThin, true, Sqm, 0.005;
}

block_on_test! {
    async fn both_executors_train_alike() {
        let (x, y) = (cloud(33, 1), hidden(&cloud(33, 1), &shuffled(33, 2)));
        let settings = AlignSettings { hidden: 16, embedding: 4, steps: 25, ..AlignSettings::default() };
        let mut curves = Vec::new();
        for device in [Device::Cpu, gpu().await] {
            let (plan, align) = record(&settings, &x, &y, 2);
            // Encoders 6 + 10, cost 3 + 4, Sinkhorn 22, loss 4, implicit gradient 34, Adam 1, statistics 3.
            assert_eq!(plan.pass(align.step).stages.len(), 87);
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
    async fn both_executors_go_over_to_relaxed_marginals_alike() {
        let (x, y) = (cloud(33, 1), hidden(&cloud(33, 1), &shuffled(33, 2)));
        let settings = AlignSettings { hidden: 16, embedding: 4, steps: 25, ..AlignSettings::default() };
        let mut curves = Vec::new();
        for device in [Device::Cpu, gpu().await] {
            let kind = Kind { loss: Loss::RankDense, with_terms: false, relaxed: true };
            let (plan, align) = record_with(&settings, [&x, &y], 2, kind);
            let mut executor = device.prepare(plan).await.expect("prepares");
            let mut step = 0;
            while step < settings.steps {
                let (pass, until) = align.pass(step);
                assert_eq!((pass == align.step, until), (step < 20, if step < 20 { 20 } else { 25 }));
                executor.submit(pass, until - step).expect("submits");
                step = until;
            }
            executor.settle(0).await.expect("settles");
            curves.push(executor.stats().expect("statistics").expect("has steps").values);
        }
        assert_eq!(curves[0].len(), (2 * STATS * settings.steps) as usize);
        for (i, (c, g)) in curves[0].iter().zip(&curves[1]).enumerate() {
            assert!((c - g).abs() <= 1e-3 * c.abs() + 1e-4, "statistic {i}: {c} and {g}");
        }
        // The loss goes on where it stood, and the marginals miss what is now asked of them by next to nothing.
        let row = |step: usize| &curves[0][step * 2 * STATS as usize..][..2 * STATS as usize];
        for fit in [0, 2] {
            let [before, after] = [row(19)[fit], row(20)[fit]];
            assert!((after - before).abs() < 0.1 * before.abs(), "from {before} to {after}");
            assert!(row(24)[fit + 1] < 1e-3, "an error of {}", row(24)[fit + 1]);
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

        let infer = Infer::record(&Encoders::Networks { shapes: align.shapes, weights, cost: settings.cost }, [all_x.data(), all_y.data()], 0.05, Relaxation::STRICT);
        let mut cpu = CpuExecutor::prepare(infer.plan).expect("fits");
        cpu.submit(infer.embed, 1).expect("plays");
        cpu.submit(infer.transport, infer.falling + 30).expect("plays");
        let error = cpu.stats().expect("reads").expect("has steps").values.last().copied();
        assert!(error.is_some_and(|e| e < 1e-2), "marginal error {error:?}");
        let coupling = Dense::new(200, 200, cpu.read(infer.coupling.buf).await.expect("reads"));
        let read = Readout::new(&Matching::Held(coupling), &all_y, &mut NoWatch).await.expect("read");
        let truth: Vec<usize> = order.iter().copied().chain(100..200).collect();
        let pairs: Vec<_> = truth.iter().enumerate().map(|(j, &i)| (i, j)).collect();
        let score = |range: std::ops::Range<usize>| {
            let chosen: Vec<_> = pairs.iter().copied().filter(|(i, _)| range.contains(i)).collect();
            (foscttm(&read.projected, &all_y, &chosen), exact_matches(&read.partners[0].first(), &chosen))
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
