use super::*;
use align::metrics::report::{Figure, Known};
use align::procedure::{Candidate, LeftOut, LossChoice, Origin, Scores, Start};
use align::scale::{Count, NoWatch, unwatched};
use align::solver::cost::CostKind;
use align::solver::infer::Encoders;
use compute::rng::Rng;

#[test]
fn scales_and_flat_distances_are_noticed() {
    let points = Dense::from_fn(20, 3, |i, j| (i as f32 * 0.37).sin() * [1.0, 1.0, 5000.0][j]);
    let ratio = |points: &Dense| unwatched(scale_ratio(points, &mut NoWatch)).expect("nobody gives it up");
    assert!(ratio(&points).is_some_and(|r| (r / 5000.0 - 1.0).abs() < 0.01));
    assert_eq!(ratio(&Dense::from_fn(5, 2, |_, _| 1.0)), None, "constant columns say nothing");
    let many = Dense::new(30_000, 600, vec![1.0; 18_000_000]);
    assert_eq!(Count::looks(async |watch| scale_ratio(&many, watch).await), 2);
    let flat = Dense::from_fn(10, 10, |i, j| if i == j { 0.0 } else { 1.0 + 0.01 * ((i + j) % 3) as f32 });
    assert!(variation(&flat) < FLAT);
    let line = Dense::from_fn(10, 10, |i, j| (i as f32 - j as f32).abs());
    assert!(variation(&line) > 0.5);
}

fn candidate(score: f64, difference: f64) -> Candidate {
    let encoders = Encoders::Embedded { dim: 2, cost: CostKind::Sqm };
    let (spearman, matches) = (vec![score], Vec::new());
    let scores = Scores { spearman: score, ..Scores::default() };
    Candidate {
        encoders,
        origin: Origin::Saved,
        spearman,
        score,
        fitted: score,
        expressed: false,
        scores,
        difference,
        matches,
        error: 0.0,
    }
}

fn report(entropy: f64, missed: f64) -> Report {
    let figure = |value| Figure { value, null: 1.0 };
    Report {
        gw_loss: figure(0.1),
        spearman: figure(0.9),
        relative_entropy: figure(entropy),
        marginal_error: figure(missed),
        known: None,
    }
}

/// Findings of a healthy run, but for what is changed.
struct Case {
    x: Dense,
    candidates: Vec<Candidate>,
    alternatives: Vec<usize>,
    report: Report,
    options: AlignOptions,
    agreement: Agreement,
    share: f32,
    stability: Option<f32>,
    known: [bool; 2],
}

impl Case {
    fn healthy() -> Self {
        let x = Dense::new(40, 3, Rng::new(3).fill(120, -1.0, 1.0));
        let candidates = vec![candidate(0.9, 0.0), candidate(0.8, 0.05), candidate(0.8, 0.4)];
        let agreement = Agreement { value: 0.9, chance: Some(0.4) };
        Self {
            x,
            candidates,
            alternatives: Vec::new(),
            report: report(0.7, 0.001),
            options: defaults(),
            agreement,
            share: 0.5,
            stability: Some(0.8),
            known: [false; 2],
        }
    }

    fn found(self) -> Vec<Finding> {
        let y = Dense::new(40, 3, Rng::new(4).fill(120, -1.0, 1.0));
        let sides = Sides::new(self.x, y).expect("usable");
        let [dx, dy] = sides.points().map(|side| Distance::Euclidean.matrix(side).expect("of points"));
        let (candidates, alternatives) = (self.candidates, self.alternatives);
        let alignment = Alignment { candidates, rival: None, alternatives, skewness: None, margin: None };
        let seen = Seen {
            sides: &sides,
            alignment: &alignment,
            agreement: self.agreement,
            report: &self.report,
            known: self.known,
            share: self.share,
            stability: self.stability,
            distances: [&dx, &dy],
            options: &self.options,
        };
        unwatched(findings(&seen, &mut NoWatch)).expect("nobody gives it up")
    }

    /// The only finding, whose words contain these.
    fn only(self, words: &str) -> Finding {
        let mut found = self.found();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].what.contains(words), "{}", found[0].what);
        found.remove(0)
    }
}

fn changed(finding: &Finding) -> &AlignOptions {
    finding.options.as_deref().expect("a fix")
}

#[test]
fn a_healthy_run_has_no_findings() {
    assert_eq!(Case::healthy().found(), []);
}

#[test]
fn a_plan_that_is_too_soft_or_too_sharp_gets_another_eps() {
    let eps = defaults().eps;
    let soft = Case { report: report(0.97, 0.001), ..Case::healthy() }.only("nearly uniform");
    assert_eq!(changed(&soft).eps, eps / 2.0);
    let small = AlignOptions { eps: 0.001, ..defaults() };
    let sharp = Case { report: report(0.5, 0.001), options: small.clone(), ..Case::healthy() };
    let sharp = sharp.only("ε is very small");
    assert_eq!((changed(&sharp).eps, sharp.serious), (eps, false));
    let missed = Case { report: report(0.5, 0.3), options: small, ..Case::healthy() }.only("very small");
    assert!(missed.serious, "it also misses its marginals");
    let missed = Case { report: report(0.7, 0.3), ..Case::healthy() }.only("misses its marginals by 0.300");
    assert_eq!(changed(&missed).eps, 2.0 * eps);
}

#[test]
fn what_is_no_better_than_chance_is_said() {
    let agreement = Agreement { value: 0.9, chance: Some(0.89) };
    let chance = Case { agreement, ..Case::healthy() }.only("Unrelated data of this shape");
    assert!(chance.serious);
    let unsure = Case { share: 0.04, ..Case::healthy() }.only("holds 4 % of its point's mass");
    assert!(!unsure.serious);
    Case { share: 0.0004, ..Case::healthy() }.only("holds less than 1 % of its");
    let figures = |value: f64, null: f64| [Figure { value, null }; 2];
    let known = |foscttm: f64, labels: f64| {
        let exact = Figure { value: 0.1, null: 0.0 };
        let closer = Vec::new();
        Some(Known { foscttm: figures(foscttm, 0.5), closer, labels: figures(labels, 0.2), exact })
    };
    let case = |foscttm: f64, labels: f64, seen: [bool; 2]| {
        let report = Report { known: known(foscttm, labels), ..report(0.7, 0.001) };
        Case { report, known: seen, ..Case::healthy() }
    };
    assert_eq!(case(0.2, 0.8, [true, true]).found(), []);
    assert_eq!(case(0.6, 0.1, [false, false]).found(), [], "nothing is known");
    assert!(case(0.7, 0.8, [true, true]).only("By the true pairs").what.contains("turned round"));
    assert!(!case(0.5, 0.8, [true, true]).only("By the true pairs").what.contains("turned round"));
    assert!(case(0.2, 0.125, [true, true]).only("By the labels").serious);
}

#[test]
fn matches_that_fresh_fits_do_not_find_again_are_not_trusted() {
    let case = |stability: Option<f32>| Case { stability, ..Case::healthy() };
    let found = case(Some(0.21)).only("the typical confidence is 0.21 of 1.");
    assert!(found.serious);
    assert_eq!(found.fix, "Another seed may give another alignment. Known pairs or labels decide it.");
    case(Some(0.0)).only("the typical confidence is 0.00 of 1.");
    case(Some(0.29)).only("the typical confidence is 0.29 of 1.");
    assert_eq!(case(Some(0.3)).found(), []);
    assert_eq!(case(None).found(), [], "nobody made fresh fits");
}

#[test]
fn a_single_network_has_nothing_that_confirms_it() {
    let measure = Measure::same(Distance::Euclidean);
    let network = |subsample| Candidate {
        origin: Origin::Network { measure, loss: LossChoice::RankGw, subsample },
        ..candidate(0.9, 0.05)
    };
    let case = |fits| Case { candidates: (0..fits).map(network).collect(), ..Case::healthy() };
    let found = case(1).only("Too few networks");
    assert_eq!(changed(&found).fits, defaults().fits + 2);
    assert_eq!(case(3).found(), []);
}

#[test]
fn new_points_that_do_not_fit_are_noticed() {
    assert_eq!(findings_of_new(0.9, &report(0.7, 0.001), &defaults()), []);
    let found = findings_of_new(0.04, &report(0.96, 0.001), &defaults());
    assert!(found[0].what.contains("new points hardly agree") && found[1].what.contains("nearly uniform"));
    assert!(found.iter().all(|finding| finding.options.is_none()));
}

#[test]
fn restarts_that_disagree_ask_for_more() {
    let candidates = vec![candidate(0.9, 0.0), candidate(0.8, 0.45), candidate(0.8, 0.4)];
    let astray = Case { candidates, ..Case::healthy() }.only("2 of 2 other fits");
    assert_eq!(changed(&astray).fits, 2 * defaults().fits);
}

#[test]
fn columns_on_different_scales_are_standardised() {
    let mut case = Case::healthy();
    case.x = Dense::from_fn(40, 3, |i, j| case.x.at(i, j) * [1.0, 1.0, 5000.0][j]);
    assert_eq!(case.only("very different scales").step, Some((Side::X, Step::ZScore)));
}

#[test]
fn distances_that_are_all_alike_ask_for_fewer_columns() {
    let mut case = Case::healthy();
    case.x = Dense::new(40, 4000, Rng::new(5).fill(160_000, -1.0, 1.0));
    assert_eq!(case.only("almost the same").step, Some((Side::X, Step::Pca(COMPONENTS))));
}

#[test]
fn a_graph_in_parts_is_joined_by_geodesics() {
    let mut case = Case::healthy();
    case.x = Dense::from_fn(40, 3, |i, j| case.x.at(i, j) + if i < 15 { 50.0 } else { 0.0 });
    let parts = case.only("falls into 2 parts (of 25, 15 points)");
    assert_eq!(changed(&parts).distance_x, "geodesic");
    assert_eq!(changed(&parts).distance_y, "geodesic");
}

#[test]
fn a_group_that_is_left_out_is_named() {
    let without = |side| {
        let start = Start::Without(LeftOut { side, rows: 120 });
        Candidate { origin: Origin::Linear { start }, ..candidate(0.8, 0.4) }
    };
    let candidates = vec![candidate(0.9, 0.0), without(1)];
    let offered = Case { candidates, alternatives: vec![1], ..Case::healthy() };
    let offered = offered.only("Without a group of 120 rows of Y, the rest fits better");
    assert!(offered.options.is_none());
    assert!(offered.fix.starts_with("X may lack this group.") && !offered.serious);
    let candidates = vec![without(0), candidate(0.9, 0.4)];
    let taken = Case { candidates, alternatives: vec![1], ..Case::healthy() };
    let taken = taken.only("leaves out a group of 120 rows of X");
    assert!(taken.options.is_none() && taken.fix.starts_with("Y may lack"));
}

/// Data in any unit are healthy, but for values that 32 bits do not hold.
#[test]
fn a_unit_is_no_finding_and_values_that_are_too_small_are_named() {
    let times = |factor: f32| {
        let mut case = Case::healthy();
        case.x = Dense::from_fn(40, 3, |i, j| case.x.at(i, j) * factor);
        case
    };
    for factor in [1e-30, 1e20, 1e37] {
        assert_eq!(times(factor).found(), [], "{factor:e}");
    }
    let small = times(1e-37).x.data().iter().filter(|v| v.is_subnormal()).count();
    assert!((1..60).contains(&small));
    let named =
        times(1e-37).only(&format!("Values of X below the smallest normal number (1.2e-38): {small}."));
    assert!(!named.serious && named.fix.contains("1e30"));
}
