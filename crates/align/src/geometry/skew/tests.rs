use super::*;
use crate::geometry::Dense;
use crate::watch::{Count, NoWatch, unwatched};
use serde_json::Value;

/// Float64 results of an independent implementation.
fn fixture() -> Value {
    serde_json::from_str(include_str!("../../../../../tests/fixtures/skew.json")).expect("valid JSON")
}

fn numbers(value: &Value) -> Vec<f32> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().expect("a number") as f32],
    }
}

fn moments(points: &Dense, k: usize) -> Moments {
    unwatched(Moments::new(points, k, &mut NoWatch)).expect("nobody cancels")
}

fn near(got: &[f32], want: &[f32], tolerance: f32, what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    let off = got.iter().zip(want).map(|(g, w)| (g - w).abs()).fold(0f32, f32::max);
    assert!(off < tolerance, "{what}: off by {off}");
}

#[test]
fn moments_and_ascent_match_float64() {
    let case = fixture();
    let side = |name: &str, rows: usize| Dense::new(rows, 4, numbers(&case[name]));
    let (x, y) = (moments(&side("x", 60), 4), moments(&side("y", 50), 4));
    for (name, own) in [("x", &x), ("y", &y)] {
        let unit = |values: Vec<f32>| {
            let size = values.iter().map(|v| v * v).sum::<f32>().sqrt();
            values.into_iter().map(|v| v / size).collect::<Vec<f32>>()
        };
        let (c, t) = own.leading(4, 4);
        near(&c, &unit(numbers(&case[format!("c{name}")])), 1e-6, "second moments");
        near(&t, &unit(numbers(&case[format!("t{name}")])), 1e-6, "third moments");
    }
    let ascent = Ascent::new(&x, &y, 4);
    let after = |steps: usize| {
        // As many as fill all lanes and begin a second group.
        let start = Rotation { map: numbers(&case["w0"]), objective: 0.0 };
        let mut all = vec![start; 11];
        unwatched(ascent.climb(&mut all, steps, &mut NoWatch)).expect("nobody cancels");
        let apart = |one: &Rotation| (one.objective - all[0].objective).abs();
        let most = all.iter().map(apart).fold(0f32, f32::max);
        assert!(most < 1e-4, "a lane is apart by {most}");
        all.swap_remove(10)
    };
    for (steps, map, objective) in [(0, "w0", "f0"), (1, "w1", "f1"), (40, "w40", "f40")] {
        let got = after(steps);
        near(&[got.objective], &numbers(&case[objective]), 2e-5, objective);
        // Where the objective is flat the rotation still moves a little.
        near(&got.map, &numbers(&case[map]), if steps == 40 { 5e-3 } else { 1e-4 }, map);
    }
}

/// Three groups of different sizes, in every direction other widths.
fn groups(n: usize, d: usize, seed: u64) -> Dense {
    let mut rng = Rng::new(seed);
    let centres: Vec<f32> = (0..3 * d).map(|e| 2.0 * rng.uniform(-1.0, 1.0) / (1 + e % d) as f32).collect();
    let mut rows = Rng::new(seed ^ 1);
    Dense::from_fn(n, d, |i, j| {
        let group = [0, 0, 0, 0, 0, 1, 1, 1, 2, 2][i % 10];
        centres[group * d + j] + 0.3 / (1.0 + 0.2 * j as f32) * rows.uniform(-1.0, 1.0)
    })
}

fn turned(points: &Dense, map: &[f32]) -> Dense {
    let d = points.cols();
    Dense::from_fn(points.rows(), d, |i, j| (0..d).map(|l| points.at(i, l) * map[l * d + j]).sum())
}

/// Coordinates each of which leans to one side, some more than others.
fn leaning(n: usize, d: usize, seed: u64) -> Dense {
    let mut rng = Rng::new(seed);
    Dense::from_fn(n, d, |_, j| rng.uniform(0.0, 1.0).powi(2 + j as i32 % 3) / (1.0 + 0.3 * j as f32))
}

/// On its principal axes, as linear maps see a side.
fn on_axes(points: &Dense) -> Dense {
    let mut centred = points.clone();
    crate::geometry::normalise::Normalisation::Centre.apply(&mut centred);
    let axes = crate::geometry::spectral::principal_axes(&centred);
    crate::geometry::products::product(&centred, &axes)
}

#[test]
fn a_rotation_is_found_and_so_is_a_reflection() {
    let d = 8;
    let x = leaning(900, d, 3);
    for mirror in [1.0, -1.0] {
        let mut map = haar(d, &mut Rng::new(12));
        map[..d].iter_mut().for_each(|v| *v *= mirror);
        let (x, y) = (on_axes(&x), on_axes(&turned(&x, &map)));
        let found = unwatched(FINE.search(&moments(&x, MOST), &moments(&y, MOST), 5, &mut NoWatch));
        let found = found.expect("nobody cancels");
        assert!(found.windows(2).all(|pair| pair[0].objective >= pair[1].objective), "best first");
        let mapped = turned(&x, &found[0].map);
        let inner = |a: &Dense, b: &Dense| a.data().iter().zip(b.data()).map(|(a, b)| a * b).sum::<f32>();
        let reached = inner(&mapped, &y) / (inner(&x, &x) * inner(&y, &y)).sqrt();
        assert!(reached > 0.95, "mirrored by {mirror}: its own points correlate {reached}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_and_every_level_can_be_cancelled() {
    const SHORT: Ladder = Ladder { levels: &[level(4, 40), level(6, 20), level(9, 10)], starts: 64 };
    let (x, y) = (moments(&groups(300, 12, 3), MOST), moments(&groups(250, 12, 9), MOST));
    let search = |seed| unwatched(SHORT.search(&x, &y, seed, &mut NoWatch)).expect("nobody cancels");
    let maps = |found: Vec<Rotation>| found.into_iter().map(|one| one.map).collect::<Vec<_>>();
    let first = maps(search(7));
    assert!(first == maps(search(7)) && first != maps(search(8)));
    let looks = Count::looks(async |watch| SHORT.search(&x, &y, 7, watch).await);
    assert!(looks >= 3, "{looks} looks for three levels");
}

#[test]
fn a_cloud_without_skewness_says_so() {
    let mut rng = Rng::new(4);
    let gaussian = Dense::from_fn(2000, 16, |_, j| normal(&mut rng) as f32 / (1.0 + j as f32 / 4.0));
    let half = |points: &Dense| unwatched(split_half(points, 16, 1, &mut NoWatch)).expect("nobody cancels");
    assert!(half(&gaussian).abs() < 0.1, "{}", half(&gaussian));
    assert!(half(&groups(2000, 16, 3)) > 0.8);
}
