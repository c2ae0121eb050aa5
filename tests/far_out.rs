//! Points far out have their share of the plan like all others, whichever way it is found, and what is told is so.
#![cfg(not(target_arch = "wasm32"))]

use align::geometry::Dense;
use align::metrics::readout::Readout;
use align::procedure::{NoControl, Way, streamed, transport_by};
use align::scale::{Clouds, Implicit, Matching, NoWatch};
use align::solver::cost::CostKind;
use align::solver::infer::Encoders;
use align::solver::marginals::Relaxation;
use compute::exec::Device;
use compute::rng::Rng;
use pollster::block_on;

const TOLERANCE: f64 = 1e-3;
/// So many points that the mass of one may be missing within the tolerance.
const POINTS: usize = 2200;

/// A cloud whose first points are this many times farther out.
fn with_outliers(count: usize, far: f32, rng: &mut Rng) -> Dense {
    Dense::from_fn(POINTS, 4, |i, _| rng.uniform(-1.0, 1.0) * if i < count { far } else { 1.0 })
}

/// What the columns hold, entry by entry in float64.
fn columns(plan: &Implicit) -> Vec<f64> {
    let mut sums = vec![0.0; plan.cols()];
    for (i, f) in plan.f.iter().enumerate() {
        for (j, sum) in sums.iter_mut().enumerate() {
            let pairs = plan.clouds.x.row(i).iter().zip(plan.clouds.y.row(j));
            let cost: f64 = pairs.map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum();
            *sum += ((f64::from(*f) + f64::from(plan.g[j]) - cost) / f64::from(plan.eps)).exp();
        }
    }
    sums
}

fn check(name: &str, sums: &[f64], told: f32, plan: &Matching, there: &Dense) {
    let weight = 1.0 / sums.len() as f64;
    let missed: f64 = sums.iter().map(|sum| (sum - weight).abs()).sum();
    let least = sums.iter().copied().fold(f64::MAX, f64::min) / weight;
    assert!(f64::from(told) <= TOLERANCE, "{name}: {told:.1e} was told");
    assert!((missed - f64::from(told)).abs() < 1e-4, "{name}: {missed:.1e} is missing, told {told:.1e}");
    assert!(least > 0.1, "{name}: a column has {least:.1e} of its weight");
    let read = block_on(Readout::new(plan, there, &mut NoWatch)).expect("nobody cancels");
    for side in [0, 1] {
        let alone = (0..POINTS).filter(|&i| read.partners[side].get(i).0.is_empty()).count();
        assert_eq!(alone, 0, "{name}: points of side {side} without a partner");
    }
}

#[test]
fn points_far_out_are_not_left_out() {
    for (name, [of_x, of_y], far, eps) in
        [("one", [0, 1], 1000.0, 0.05), ("one, sharply", [0, 1], 300.0, 0.01), ("some", [2, 3], 100.0, 0.05)]
    {
        let mut rng = Rng::new(21);
        let (x, y) = (with_outliers(of_x, far, &mut rng), with_outliers(of_y, far, &mut rng));
        let clouds = Clouds::new([&x, &y], CostKind::Sqm);
        let tolerance = TOLERANCE as f32;
        let solved = block_on(streamed(
            &Device::Cpu,
            clouds,
            eps,
            Relaxation::STRICT,
            tolerance,
            None,
            &mut NoControl,
        ));
        let solved = solved.expect("solves");
        let sums = columns(&solved.plan);
        let plan = Matching::Computed(solved.plan);
        check(&format!("{name}, tile by tile"), &sums, solved.error, &plan, &y);

        let encoders = Encoders::Embedded { dim: 4, cost: CostKind::Sqm };
        let (way, device, control) = (Way::Held, Device::Cpu, &mut NoControl);
        let held =
            block_on(transport_by(way, &device, &encoders, [&x, &y], eps, Relaxation::STRICT, control))
                .expect("solves");
        let whole = held.plan.whole();
        let column = |j: usize| (0..POINTS).map(|i| f64::from(whole.at(i, j))).sum::<f64>();
        let sums: Vec<f64> = (0..POINTS).map(column).collect();
        check(&format!("{name}, held"), &sums, held.error, &held.plan, &y);
    }
}
