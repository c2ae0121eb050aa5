//! What ranks are for: digits whose second side sees every point's distances through a monotone function of its
//! own, a power and a scale. The order within each row is all that is left, and it is enough for rank-gw; losses
//! that compare the distances themselves do not recover the digits. `SEEDS` asks for more than two seeds.
#![cfg(not(target_arch = "wasm32"))]

use align::geometry::Dense;
use align::geometry::distance::{Metric, pairwise};
use align::geometry::features::{Features, Preparation};
use align::geometry::ranks::mid_ranks;
use align::metrics::truth::exact_matches;
use align::procedure::{Form, LossChoice, objective};
use align::solver::align::{Align, AlignSettings, Problem, Terms};
use align::solver::sinkhorn::uniform;
use compute::exec::{CpuExecutor, Executor};
use compute::plan::{Mat, Plan};
use compute::rng::Rng;
use formats::{Bytes, Choices, NoWatch};
use pollster::block_on;

const POINTS: usize = 200;

/// The first digits of the sample.
fn digits() -> Dense {
    let path = format!("{}/www/samples/digits/x.npy", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).expect("a sample");
    let loaded = block_on(formats::read(&Bytes::new(&path, &bytes), &Choices::default(), &mut NoWatch));
    let table = loaded.expect("readable").table;
    Dense::from_fn(POINTS, table.cols, |i, j| table.values[i * table.cols + j])
}

/// A random rotation: random columns, each less what it shares with those before it (in float64, twice).
fn rotation(d: usize, rng: &mut Rng) -> Dense {
    let mut axes: Vec<Vec<f64>> = Vec::new();
    while axes.len() < d {
        let mut axis: Vec<f64> = rng.fill(d, -1.0, 1.0).into_iter().map(f64::from).collect();
        for other in axes.iter().chain(&axes) {
            let shared: f64 = axis.iter().zip(other).map(|(a, b)| a * b).sum();
            axis.iter_mut().zip(other).for_each(|(a, b)| *a -= shared * b);
        }
        let length = axis.iter().map(|a| a * a).sum::<f64>().sqrt();
        if length > 1e-3 {
            axes.push(axis.into_iter().map(|a| a / length).collect());
        }
    }
    Dense::from_fn(d, d, |i, j| axes[j][i] as f32)
}

/// The same digits twice. Both sides have the same distances; the second is permuted and turned, so that neither
/// the order nor the features give anything away.
struct Twice {
    inputs: [Dense; 2],
    distances: [Dense; 2],
    pairs: Vec<(usize, usize)>,
}

fn twice(seed: u64) -> Twice {
    let mut rng = Rng::new(seed);
    let x = digits();
    let d = x.cols();
    let order = rng.sample(POINTS, POINTS);
    let turn = rotation(d, &mut rng);
    let y = Dense::from_fn(POINTS, d, |i, j| (0..d).map(|k| x.at(order[i], k) * turn.at(k, j)).sum());
    let within = pairwise(&x, Metric::Cosine);
    let permuted = Dense::from_fn(POINTS, POINTS, |i, j| within.at(order[i], order[j]));
    let inputs = [&x, &y].map(|side| Features::fit(side, Preparation::Unit).apply(side));
    let pairs = order.into_iter().enumerate().map(|(j, i)| (i, j)).collect();
    Twice { inputs, distances: [within, permuted], pairs }
}

/// How the rows of a warped matrix are scaled.
#[derive(Clone, Copy, PartialEq)]
enum Scale {
    /// All have the same mean.
    Same,
    /// Each has a mean of its own, 1 to 10.
    Own,
}

/// `D_ij^p` with a p of its own for every row, 0.3 to 3, and scaled.
fn warped(distances: &Dense, scale: Scale, seed: u64) -> Dense {
    let mut rng = Rng::new(seed ^ 0x7761_7270);
    let mut warped = distances.clone();
    for i in 0..warped.rows() {
        let (power, own) = (0.3 * 10f32.powf(rng.unit()), 10f32.powf(rng.unit()));
        let row = warped.row_mut(i);
        row.iter_mut().for_each(|v| *v = v.powf(power));
        let mean = row.iter().sum::<f32>() / row.len() as f32;
        let factor = if scale == Scale::Own { own } else { 1.0 } / mean;
        row.iter_mut().for_each(|v| *v *= factor);
    }
    warped
}

/// The mean of a matrix and its transpose, for the losses on distances, which take symmetric ones. It is kind to
/// them: the classic loss between a symmetric DX and any DY depends on this mean only, and the Frobenius loss is
/// spared the other part, which no plan can match.
fn symmetrised(matrix: &Dense) -> Dense {
    Dense::from_fn(matrix.rows(), matrix.cols(), |i, j| 0.5 * (matrix.at(i, j) + matrix.at(j, i)))
}

/// Trains encoders with the default settings; the share of digits that the last plan gives to themselves.
fn recovered(twice: &Twice, y_distances: &Dense, loss: LossChoice, seed: u64) -> f64 {
    let settings = AlignSettings { seed, ..AlignSettings::default() };
    let mut plan = Plan::new();
    let [x, y] = twice.inputs.each_ref().map(|side| {
        let mat: Mat = plan.mat("inputs", side.rows() as u32, side.cols() as u32);
        plan.set_initial(mat.buf, side.data());
        mat
    });
    let dense = |side: &Dense| [side.clone()];
    let sides = [dense(&twice.distances[0]), dense(y_distances)];
    let objective = objective(&mut plan, loss, [&sides[0], &sides[1]], Form::Cheapest);
    let align = Align::record(
        &mut plan,
        &settings,
        &Problem { x, y, objective, terms: Terms::default(), sums: None },
    );
    let mut cpu = CpuExecutor::prepare(plan).expect("fits");
    cpu.submit(align.step, settings.steps).expect("plays");
    let coupling = Dense::new(POINTS, POINTS, block_on(cpu.read(align.plan.buf)).expect("reads"));
    let largest = |row: &[f32]| (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b])).expect("a column");
    let matches: Vec<usize> = (0..POINTS).map(|i| largest(coupling.row(i))).collect();
    exact_matches(&matches, &twice.pairs)
}

fn seeds() -> std::ops::RangeInclusive<u64> {
    1..=std::env::var("SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(2)
}

#[test]
fn a_warp_of_every_row_by_itself_leaves_the_ranks_as_they_are_and_nothing_else() {
    let Twice { distances: [_, plain], .. } = twice(1);
    let ranks = |d: &Dense| mid_ranks(d, &uniform(POINTS as u32));
    let apart = |a: &Dense, b: &Dense| {
        a.data().iter().zip(b.data()).fold(0f32, |most, (a, b)| most.max((a - b).abs()))
    };
    for scale in [Scale::Same, Scale::Own] {
        let warped = warped(&plain, scale, 1);
        // Distances that differ only in their last bits may be tied by a root.
        assert!(apart(&ranks(&plain), &ranks(&warped)) <= 2.0 / POINTS as f32);
        assert!(apart(&warped, &symmetrised(&warped)) > 0.5, "not symmetric any more");
        assert!(apart(&ranks(&plain), &ranks(&symmetrised(&warped))) > 0.2, "and no mean undoes it");
    }
}

#[test]
fn ranks_see_through_a_warp_of_every_row_and_distances_do_not() {
    use LossChoice::{Classic, Frobenius, RankGw};
    for seed in seeds() {
        let twice = twice(seed);
        let [same, own] = [Scale::Same, Scale::Own].map(|scale| warped(&twice.distances[1], scale, seed));
        let run = |loss, distances: &Dense| recovered(&twice, distances, loss, seed);
        let ranks = [&same, &own].map(|warped| run(RankGw, warped));
        let classic = [&same, &own].map(|warped| run(Classic, &symmetrised(warped)));
        let frobenius = run(Frobenius, &symmetrised(&own));
        eprintln!(
            "seed {seed}: rank-gw {ranks:.3?}, classic {classic:.3?} [same scale, own scales]; Frobenius {frobenius:.3}"
        );
        assert!(ranks.iter().all(|exact| *exact >= 0.95), "seed {seed}: rank-gw {ranks:?}");
        // Bending alone does not defeat the classic loss, as long as all rows keep one scale.
        assert!(classic[0] >= 0.95, "seed {seed}: classic, same scale {classic:?}");
        assert!(classic[1] < 0.5, "seed {seed}: classic, own scales {classic:?}");
        // In one of five seeds it finds 0.7 of them, in the others nearly none.
        assert!(frobenius < 0.95, "seed {seed}: Frobenius {frobenius}");
    }
}
