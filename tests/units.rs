//! Units do not matter: the same data multiplied by a number give the same alignment, whatever the distance.
#![cfg(not(target_arch = "wasm32"))]

use align::geometry::Dense;
use align::geometry::panel::{Distance, Measure};
use align::procedure::{self, Alignment, NoControl, Settings, Sides, Start};
use align::solver::align::AlignSettings;
use compute::exec::Device;
use compute::rng::Rng;
use pollster::block_on;

/// Clusters of different sizes and places in five dimensions.
fn cloud(n: usize, seed: u64) -> Dense {
    let mut rng = Rng::new(seed);
    let centres = Dense::new(5, 5, rng.fill(25, -2.0, 2.0));
    Dense::from_fn(n, 5, |i, j| {
        let cluster = (i * i + i / 3) % 5;
        centres.at(cluster, j) + 0.25 * (1.0 + cluster as f32) * rng.uniform(-1.0, 1.0)
    })
}

/// A cloud and its mirror image, whose columns and rows are in another order.
fn both() -> [Dense; 2] {
    let x = cloud(60, 3);
    let order = Rng::new(5).sample(60, 60);
    let y = Dense::from_fn(60, 5, |i, j| -x.at(order[i], (j + 2) % 5));
    [x, y]
}

fn times(points: &Dense, factor: f32) -> Dense {
    Dense::from_fn(points.rows(), points.cols(), |i, j| points.at(i, j) * factor)
}

/// Both kinds of encoders, for a fraction of a second.
fn settings(distance: Distance) -> Settings {
    Settings {
        measures: vec![Measure::same(distance)],
        sample: 40,
        train: AlignSettings { hidden: 16, embedding: 4, steps: 40, ..AlignSettings::default() },
        starts: vec![Start::Fused],
        refined: 1,
        ..Settings::default()
    }
}

fn align(sides: &Sides, distance: Distance) -> Alignment {
    block_on(procedure::align(&Device::Cpu, sides, &settings(distance), &mut NoControl)).expect("aligns")
}

/// Scores and matches of all candidates.
fn said(alignment: &Alignment) -> Vec<(f64, Vec<usize>)> {
    alignment.candidates.iter().map(|candidate| (candidate.score, candidate.matches.clone())).collect()
}

fn multiplied(factors: [f32; 2]) -> Sides {
    let [x, y] = both();
    Sides::new(times(&x, factors[0]), times(&y, factors[1])).expect("usable")
}

#[test]
fn powers_of_two_change_not_a_bit() {
    for distance in Distance::ALL {
        let want = said(&align(&multiplied([1.0; 2]), distance));
        for powers in [[-100, 0], [0, 66], [66, -100]] {
            let got = said(&align(&multiplied(powers.map(|power| 2f32.powi(power))), distance));
            assert!(got == want, "{} times 2 to the {powers:?}", distance.name());
        }
    }
}

#[test]
fn any_other_unit_gives_the_same_alignment() {
    for distance in Distance::ALL {
        let want = align(&multiplied([1.0; 2]), distance);
        let want = want.best();
        for factor in [1e-30, 1e20, 1e37] {
            for factors in [[factor, 1.0], [1.0, factor], [factor, factor]] {
                let got = align(&multiplied(factors), distance);
                let got = got.best();
                let what = format!("{} times {factors:?}", distance.name());
                // A product in 32 bits is rounded, so that not every bit can be the same.
                let apart = (got.score - want.score).abs();
                assert!(apart < 0.01, "{what}: {} instead of {}", got.score, want.score);
                let same = got.matches.iter().zip(&want.matches).filter(|(a, b)| a == b).count();
                assert!(same >= 54, "{what}: {same} of 60 matches are the same");
            }
        }
    }
}

#[test]
fn the_unit_of_given_distances_does_not_matter_either() {
    let [x, y] = both();
    let near = |points: &Dense| Distance::Euclidean.matrix(points).expect("of points");
    let (dx, dy) = (near(&x), near(&y));
    let given = |fx: f32, fy: f32| {
        let sides = Sides::with_distances(x.clone(), y.clone(), times(&dx, fx), times(&dy, fy));
        said(&align(&sides.expect("usable"), Distance::Given))
    };
    let want = given(1.0, 1.0);
    assert!(given(2f32.powi(-100), 2f32.powi(66)) == want);
    for factor in [1e-30, 1e20, 1e37] {
        let got = given(factor, factor);
        assert!((got[0].0 - want[0].0).abs() < 0.01, "{factor:e}: {} instead of {}", got[0].0, want[0].0);
    }
}
