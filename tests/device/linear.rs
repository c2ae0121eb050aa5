//! The linear mode: singular values are right, both executors agree, and a hidden rotation is found.

use crate::common::{block_on_test, gpu};
use align::geometry::Dense;
use align::geometry::eigen::symmetric_eigen;
use align::geometry::normalise::Normalisation;
use align::geometry::products::product;
use align::geometry::signature::{likeness, signatures};
use align::geometry::spectral::gram;
use align::solver::linear::{Linear, Problem, STATS, Stage, refine_schedule, start_schedule};
use align::watch::{NoWatch, unwatched};
use compute::exec::{Device, Executor};
use compute::kernels::jacobi::{self, Jacobi};
use compute::plan::{Mat, Plan};
use compute::rng::Rng;

const BATCH: usize = 2;

fn put(plan: &mut Plan, stack: &[&Dense; BATCH]) -> Mat {
    let mat = plan.mats("input", BATCH as u32, stack[0].rows() as u32, stack[0].cols() as u32);
    plan.set_initial(mat.buf, &stack.map(Dense::data).concat());
    mat
}

fn transposed(a: &Dense) -> Dense {
    Dense::from_fn(a.cols(), a.rows(), |i, j| a.at(j, i))
}

fn random(rows: usize, cols: usize, seed: u64) -> Dense {
    Dense::new(rows, cols, Rng::new(seed).fill(rows * cols, -1.0, 1.0))
}

/// A random matrix with orthonormal rows; `rows ≤ cols`.
fn orthonormal(rows: usize, cols: usize, seed: u64) -> Dense {
    let (_, vectors) = symmetric_eigen(gram(&random(2 * cols, cols, seed)), cols);
    Dense::from_fn(rows, cols, |i, j| vectors[j * cols + i] as f32)
}

/// How far the columns are from orthonormal, at worst.
fn skew(columns: &Dense) -> f64 {
    let k = columns.cols();
    let identity = |e: usize| f64::from(u8::from(e.is_multiple_of(k + 1)));
    gram(columns).iter().enumerate().fold(0.0, |worst: f64, (e, g)| worst.max((g - identity(e)).abs()))
}

block_on_test! {
    async fn jacobi_finds_the_singular_values_and_their_powers() {
        const POWER: f32 = 0.4;
        for (rows, cols) in [(1, 1), (7, 7), (20, 11), (12, 5)] {
            let inputs = [random(rows, cols, 1), {
                // Of half the rank, and large.
                let thin = (cols / 2).max(1);
                let flat = product(&random(rows, thin, 2), &random(thin, cols, 3));
                Dense::from_fn(rows, cols, |i, j| 50.0 * flat.at(i, j))
            }];
            let mut plan = Plan::new();
            let a = put(&mut plan, &inputs.each_ref());
            let identity = Dense::from_fn(cols, cols, |i, j| f32::from(u8::from(i == j)));
            let v = put(&mut plan, &[&identity; BATCH]);
            let out = plan.mats("powered", BATCH as u32, rows as u32, cols as u32);
            let clock = plan.set_schedule(2, &[9.0, POWER]);
            let pass = plan.begin_pass("jacobi");
            jacobi::record(&mut plan, &Jacobi { a, v, out, sweeps: 8, clock, power_column: 1 });
            for (name, device) in [("CPU", Device::Cpu), ("GPU", gpu().await)] {
                let mut executor = device.prepare(plan.clone()).await.expect("prepares");
                executor.submit(pass, 1).expect("submits");
                let mut read = Vec::new();
                for mat in [a, v, out] {
                    read.push((executor.read(mat.buf).await.expect("reads"), mat));
                }
                for (fit, input) in inputs.iter().enumerate() {
                    let what = format!("{rows}×{cols}, fit {fit} on the {name}");
                    let [turned, v, powered] = [0, 1, 2].map(|i| {
                        let (data, mat) = &read[i];
                        let len = mat.len() as usize;
                        Dense::new(mat.rows as usize, mat.cols as usize, data[fit * len..][..len].to_vec())
                    });
                    let (squares, _) = symmetric_eigen(gram(input), cols);
                    let want: Vec<f64> = squares.iter().map(|s| s.max(0.0).sqrt()).collect();
                    let sizes = |columns: &Dense| {
                        let squares = gram(columns);
                        let mut sizes: Vec<f64> = (0..cols).map(|j| squares[j * cols + j].sqrt()).collect();
                        sizes.sort_by(|a, b| b.total_cmp(a));
                        sizes
                    };
                    for (got, want_s) in sizes(&turned).iter().zip(&want) {
                        assert!((got - want_s).abs() < 2e-5 * want[0], "{what}: {got} instead of {want_s}");
                    }
                    // A direction that is absent stays so, whatever the power.
                    for (got, want_s) in sizes(&powered).iter().zip(&want) {
                        let there = *want_s > 1e-5 * want[0];
                        let want_s = if there { (want_s / want[0]).powf(POWER.into()) } else { 0.0 };
                        assert!((got - want_s).abs() < 1e-3, "{what}: {got} instead of the power {want_s}");
                    }
                    assert!(skew(&v) < 1e-4, "{what}: rotations, {}", skew(&v));
                    let rebuilt = product(&turned, &transposed(&v));
                    for (got, want_m) in rebuilt.data().iter().zip(input.data()) {
                        assert!(f64::from((got - want_m).abs()) < 1e-4 * want[0], "{what}: {got} instead of {want_m}");
                    }
                }
            }
        }
    }
}

const POINTS: usize = 60;
const DIMS: usize = 5;

/// Unit vectors without symmetry, of different extent along every axis.
fn cloud(seed: u64) -> Dense {
    let mut rng = Rng::new(seed);
    let mut cloud = Dense::from_fn(POINTS, DIMS, |_, j| {
        let u = rng.uniform(-1.0, 1.0);
        (u + 0.6 * u * u) / (1.0 + j as f32) + 0.1
    });
    Normalisation::L2Rows.apply(&mut cloud);
    cloud
}

fn shuffled(seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..POINTS).collect();
    let mut rng = Rng::new(seed);
    (1..POINTS).rev().for_each(|i| order.swap(i, rng.below(i + 1)));
    order
}

/// A cloud seen in `dims` dimensions of either side, turned, and on the second side in another order.
struct Hidden {
    x: Dense,
    y: Dense,
    guide: Dense,
    order: Vec<usize>,
}

impl Hidden {
    fn new([dx, dy]: [usize; 2], seed: u64) -> Self {
        let (cloud, order) = (cloud(seed), shuffled(seed + 1));
        let moved = Dense::from_fn(POINTS, DIMS, |i, j| cloud.at(order[i], j));
        let x = product(&cloud, &orthonormal(DIMS, dx, seed + 2));
        let y = product(&moved, &orthonormal(DIMS, dy, seed + 3));
        let [sx, sy] =
            [&x, &y].map(|side| unwatched(signatures(side, 1, &mut NoWatch)).expect("not given up"));
        let guide = likeness(&sx, &sy);
        Self { x, y, guide, order }
    }
}

/// Records a run of a stack; the second fit does not listen to its guide after the start.
fn record(hidden: &[Hidden; BATCH], stages: &[Stage]) -> (Plan, Linear) {
    let mut plan = Plan::new();
    let x = put(&mut plan, &hidden.each_ref().map(|h| &h.x));
    let y = put(&mut plan, &hidden.each_ref().map(|h| &h.y));
    let guide = put(&mut plan, &hidden.each_ref().map(|h| &h.guide));
    let weights = [1.0, 0.0].map(|w| Dense::new(1, 1, vec![w]));
    let weight = put(&mut plan, &weights.each_ref());
    let linear = Linear::record(&mut plan, stages, &Problem { x, y, guide, weight });
    (plan, linear)
}

block_on_test! {
    async fn both_executors_anneal_alike() {
        for dims in [[5, 5], [5, 7], [7, 5]] {
            let hidden = [1, 20].map(|seed| Hidden::new(dims, seed));
            let (plan, linear) = record(&hidden, &start_schedule(100));
            let mut results = Vec::new();
            for device in [Device::Cpu, gpu().await] {
                let mut executor = device.prepare(plan.clone()).await.expect("prepares");
                executor.submit(linear.start, 1).expect("submits");
                executor.submit(linear.step, 12).expect("submits");
                executor.settle(0).await.expect("settles");
                let stats = executor.stats().expect("statistics").expect("has steps").values;
                assert_eq!(stats.len(), 13 * BATCH * STATS as usize);
                let map = executor.read(linear.map.buf).await.expect("reads");
                let coupling = executor.read(linear.coupling.buf).await.expect("reads");
                let coupling = coupling.iter().map(|p| POINTS as f32 * p).collect();
                results.push([("statistic", stats), ("map", map), ("coupling", coupling)]);
            }
            for ((name, cpu), (_, gpu)) in results[0].iter().zip(&results[1]) {
                for (i, (c, g)) in cpu.iter().zip(gpu).enumerate() {
                    assert!((c - g).abs() <= 1e-3 * c.abs() + 1e-3, "{dims:?}, {name} {i}: {c} and {g}");
                }
            }
        }
    }
}

/// The largest column of each row.
fn matches(rows: &[f32], cols: usize) -> Vec<usize> {
    rows.chunks_exact(cols)
        .map(|row| (0..cols).max_by(|&a, &b| row[a].total_cmp(&row[b])).expect("has columns"))
        .collect()
}

/// The map is orthogonal and brings every point next to itself; so does the plan, but for close neighbours.
fn assert_found(hidden: &Hidden, map: &[f32], coupling: &[f32], what: &str) {
    let (dx, dy) = (hidden.x.cols(), hidden.y.cols());
    let map = Dense::new(dx, dy, map.to_vec());
    let columns = if dx < dy { transposed(&map) } else { map.clone() };
    assert!(skew(&columns) < 1e-4, "{what}: the map is off by {}", skew(&columns));
    let alike = product(&product(&hidden.x, &map), &transposed(&hidden.y));
    let right = |scores: &[f32]| {
        matches(scores, POINTS).iter().enumerate().filter(|&(i, &j)| hidden.order[j] == i).count()
    };
    assert_eq!(right(alike.data()), POINTS, "{what}: matches by the map");
    assert!(right(coupling) >= POINTS - 6, "{what}: {} matches by the plan", right(coupling));
}

block_on_test! {
    async fn a_hidden_rotation_is_found() {
        for dims in [[5, 5], [5, 7], [7, 5]] {
            let hidden = [1, 20].map(|seed| Hidden::new(dims, seed));
            let stages = start_schedule(50);
            let (plan, linear) = record(&hidden, &stages);
            for (name, device) in [("CPU", Device::Cpu), ("GPU", gpu().await)] {
                let mut executor = device.prepare(plan.clone()).await.expect("prepares");
                executor.submit(linear.start, 1).expect("submits");
                executor.submit(linear.step, stages.len() as u32 - 1).expect("submits");
                let map = executor.read(linear.map.buf).await.expect("reads");
                let coupling = executor.read(linear.coupling.buf).await.expect("reads");
                let [map_len, plan_len] = [linear.map, linear.coupling].map(|mat| mat.len() as usize);
                for (fit, hidden) in hidden.iter().enumerate() {
                    let what = format!("{dims:?}, fit {fit} on the {name}");
                    let (map, coupling) = (&map[fit * map_len..][..map_len], &coupling[fit * plan_len..][..plan_len]);
                    assert_found(hidden, map, coupling, &what);
                }
            }
        }
    }
}

block_on_test! {
    async fn a_refinement_goes_on_from_a_map_that_is_nearly_right() {
        let hidden = [1, 20].map(|seed| Hidden::new([5, 5], seed));
        let stages = refine_schedule(20);
        let (mut plan, linear) = record(&hidden, &stages);
        let noise = random(DIMS, DIMS, 9);
        let near: Vec<f32> = hidden
            .iter()
            .flat_map(|h| {
                let back = Dense::from_fn(POINTS, DIMS, |i, j| {
                    let j_of = h.order.iter().position(|&o| o == i).expect("a permutation");
                    h.y.at(j_of, j)
                });
                let cross = product(&transposed(&h.x), &back);
                // XᵀY is not orthogonal, but points the right way.
                let scale = cross.data().iter().fold(0f32, |top, v| top.max(v.abs()));
                let near = Dense::from_fn(DIMS, DIMS, |i, j| cross.at(i, j) / scale + 0.05 * noise.at(i, j));
                near.data().to_vec()
            })
            .collect();
        plan.set_initial(linear.map.buf, &near);
        for (name, device) in [("CPU", Device::Cpu), ("GPU", gpu().await)] {
            let mut executor = device.prepare(plan.clone()).await.expect("prepares");
            executor.submit(linear.resume, 1).expect("submits");
            executor.submit(linear.step, stages.len() as u32 - 1).expect("submits");
            let map = executor.read(linear.map.buf).await.expect("reads");
            let coupling = executor.read(linear.coupling.buf).await.expect("reads");
            for (fit, hidden) in hidden.iter().enumerate() {
                let (map, coupling) = (&map[25 * fit..][..25], &coupling[POINTS * POINTS * fit..][..POINTS * POINTS]);
                assert_found(hidden, map, coupling, &format!("fit {fit} on the {name}"));
            }
        }
    }
}
