//! Geometry and metrics against float64 fixtures made with scipy, scikit-learn and numpy.
#![cfg(not(target_arch = "wasm32"))]

mod fixtures;

use align::geometry::distance::{Metric, pairwise};
use align::geometry::geodesic::geodesics;
use align::geometry::graph::{EdgeWeight, Graph};
use align::geometry::{Dense, ranks::mid_ranks};
use align::metrics::readout::Readout;
use align::metrics::{plan, truth};
use align::scale::{Matching, NoWatch};
use fixtures::{assert_close, fixture, floats, matrix, numbers};
use pollster::block_on;

#[test]
fn geodesics_match_scipy() {
    for (name, metric, weight) in [
        ("geodesic_distance", Metric::Euclidean, EdgeWeight::Distance),
        ("geodesic_connectivity", Metric::Euclidean, EdgeWeight::Step),
        // k counted the point itself there; ours does not.
        ("geodesic_scot_corr", Metric::Correlation, EdgeWeight::Step),
    ] {
        let case = fixture(name);
        let distances = pairwise(&matrix(&case["X"]), metric);
        let graph = Graph::nearest(&distances, 3, weight);
        let want = numbers(&case["D"]);
        match geodesics(&graph) {
            Ok(got) => assert_close(got.data(), &want, 1e-5, name),
            Err(parts) => {
                // Unreachable is −1 in the fixture: the same pairs must lie in different parts.
                let part = graph.parts();
                assert!(parts.sizes.len() > 1);
                for (e, d) in want.iter().enumerate() {
                    let (i, j) = (e / part.len(), e % part.len());
                    assert_eq!(*d < 0.0, part[i] != part[j], "{name}: {i} and {j}");
                }
            }
        }
    }
}

#[test]
fn ranks_spearman_and_loss_match_numpy() {
    for name in ["uniform_6x6", "weighted_7x5", "ties_6x8"] {
        let case = &fixture("rank_gw")[name];
        let [a, b] = ["a", "b"].map(|key| floats(&case[key]));
        let x = mid_ranks(&matrix(&case["D_X"]), &a);
        let y = mid_ranks(&matrix(&case["D_Y"]), &b);
        assert_close(x.data(), &numbers(&case["R_X"]), 1e-6, name);
        assert_close(y.data(), &numbers(&case["R_Y"]), 1e-6, name);
        let warped = mid_ranks(&matrix(&case["D_Y_warped"]), &b);
        assert_close(warped.data(), &numbers(&case["R_Y"]), 1e-6, "a monotone warp of each row");
        let pi = matrix(&case["Pi"]);
        let figure = |key: &str| case[key].as_f64().expect("a number");
        assert!((plan::spearman(&x, &y, &pi) - figure("plan_spearman")).abs() < 1e-5, "{name}");
        assert!((plan::gw_loss(&x, &y, &pi) - figure("loss")).abs() < 1e-5, "{name}");
        let null = plan::gw_loss(&x, &y, &plan::independent(&pi));
        assert!((null - figure("loss_uniform_plan")).abs() < 1e-5, "{name}");
    }
}

#[test]
fn classic_loss_matches_its_four_fold_sum() {
    let case = fixture("gw_loss");
    let [x, y, pi] = ["DX", "DY", "Pi"].map(|key| matrix(&case[key]));
    let want = case["gw_classic"].as_f64().expect("a number");
    assert!((plan::gw_loss(&x, &y, &pi) - want).abs() < 1e-5);
}

#[test]
fn foscttm_matches_the_papers_definition() {
    let case = fixture("foscttm");
    let [x, y] = ["U", "V"].map(|key| matrix(&case[key]));
    let pairs: Vec<_> = (0..x.rows()).map(|i| (i, i)).collect();
    let got = truth::foscttm(&x, &y, &pairs);
    let mean = |key: &str| numbers(&case[key]).iter().sum::<f64>() / x.rows() as f64;
    assert!((got.xy - mean("p")).abs() < 1e-9 && (got.yx - mean("q")).abs() < 1e-9, "{got:?}");
}

#[test]
fn barycentric_projection_matches_numpy() {
    let case = fixture("barycentric");
    let plan = Matching::Held(matrix(&case["Pi"]));
    let read = block_on(Readout::new(&plan, &matrix(&case["Y"]), &mut NoWatch)).expect("read");
    assert_close(read.projected.data(), &numbers(&case["Xhat"]), 1e-6, "projection");
}

#[test]
fn foscttm_of_random_clouds_is_a_half() {
    let mut rng = compute::rng::Rng::new(11);
    let mut cloud = || Dense::new(400, 3, rng.fill(1200, -1.0, 1.0));
    let (x, y) = (cloud(), cloud());
    let pairs: Vec<_> = (0..400).map(|i| (i, i)).collect();
    let got = truth::foscttm(&x, &y, &pairs);
    assert!((got.xy - 0.5).abs() < 0.05 && (got.yx - 0.5).abs() < 0.05, "{got:?}");
}
