//! Plain words about a run: what looks wrong, and what would mend it.

use formats::Step;

use super::evidence::of_evidence;
pub use super::evidence::verdict;
use super::figures::Agreement;
use super::options::defaults;
use crate::geometry::Dense;
use crate::geometry::graph::{EdgeWeight, Graph};
use crate::geometry::panel::{Distance, Measure};
use crate::metrics::report::Report;
use crate::procedure::{Alignment, Sides};
use crate::protocol::{AlignOptions, Finding, Side};

/// A plan that keeps this share of the independent plan's entropy matches nothing with anything in particular.
const UNIFORM: f64 = 0.93;
/// Marginals that are missed by more than this are not met.
const MISSED: f64 = 0.02;
/// Columns whose deviations differ by more than this factor are on different scales.
const SCALES: f64 = 300.0;
/// Distances whose deviation is below this share of their mean are almost all the same.
const FLAT: f64 = 0.06;
/// Neighbours in the graph whose parts are counted.
const NEIGHBOURS: usize = 10;

/// Candidates whose matches lie this far from the best's, in rank, say something else; unrelated ones are half.
const APART: f64 = 0.3;
/// An ε this small leaves a point one partner, whatever the data say.
const SHARP: f32 = 0.0125;
/// Half of the independent plan's entropy is one partner for each point; a plan this near to it has no doubts left.
const CERTAIN: f64 = 0.52;
/// A rank correlation below this is hardly one.
const HARDLY: f64 = 0.15;
/// Principal components that a side is reduced to.
const COMPONENTS: usize = 20;

/// What can be done about a finding with one click.
pub(super) enum Fix {
    None,
    Settings(fn(&mut AlignOptions)),
    /// On the columns of one side.
    Columns(Side, Step),
}

/// Collects findings.
pub(super) struct Findings<'a> {
    options: &'a AlignOptions,
    found: Vec<Finding>,
}

impl Findings<'_> {
    pub(super) fn say(&mut self, serious: bool, what: String, advice: &str, fix: Fix) {
        let (options, step) = match fix {
            Fix::None => (None, None),
            Fix::Settings(change) => {
                let mut options = Box::new(self.options.clone());
                change(&mut options);
                (Some(options), None)
            }
            Fix::Columns(side, step) => (None, Some((side, step))),
        };
        self.found.push(Finding { what, fix: advice.to_owned(), options, step, serious });
    }
}

/// What there is to be looked at.
pub struct Seen<'a> {
    pub sides: &'a Sides,
    pub alignment: &'a Alignment,
    pub agreement: Agreement,
    pub report: &'a Report,
    /// Whether true pairs and labels are known.
    pub known: [bool; 2],
    /// The typical share of a point's mass that its first partner holds.
    pub confidence: f32,
    pub distances: [&'a Dense; 2],
    pub options: &'a AlignOptions,
}

/// All findings, the serious ones first.
pub fn findings(seen: &Seen<'_>) -> Vec<Finding> {
    let Seen { sides, alignment, report, distances, options, .. } = *seen;
    let mut findings = Findings { options, found: Vec::new() };
    of_evidence(&mut findings, seen);
    of_candidates(&mut findings, alignment);
    of_plan(&mut findings, report);
    // Columns mean nothing where the distances came along.
    let measured = sides.default_panel() != [Measure::same(Distance::Given)];
    for side in Side::BOTH {
        let at = side.index();
        of_side(&mut findings, side, measured.then_some(sides.points()[at]), distances[at]);
    }
    let mut found = findings.found;
    found.sort_by_key(|finding| !finding.serious);
    found
}

/// Findings about new points that trained encoders were applied to: there is nothing but their plan.
pub fn findings_of_new(agreement: f64, report: &Report, options: &AlignOptions) -> Vec<Finding> {
    let mut findings = Findings { options, found: Vec::new() };
    if agreement < HARDLY {
        findings.say(
            true,
            format!("Matched distances of the new points hardly agree (rank correlation {agreement:.2})."),
            "Perhaps they are not of the kind that the encoders were trained on: compare their columns, units and ranges with those of training.",
            Fix::None,
        );
    }
    of_plan(&mut findings, report);
    // Settings of a run that is over mend nothing here.
    findings.found.iter_mut().for_each(|finding| finding.options = None);
    findings.found
}

fn of_candidates(findings: &mut Findings<'_>, alignment: &Alignment) {
    if alignment.rival.is_some() {
        findings.say(
            true,
            "Two clearly different alignments fit nearly as well: the data look symmetric.".into(),
            "Compare both below. A few known pairs, labels that you trust, or shared features decide between them.",
            Fix::None,
        );
    }
    let best = alignment.best();
    if best.score < HARDLY {
        findings.say(
            true,
            format!("Matched distances hardly agree (rank correlation {:.2}).", best.score),
            "Perhaps the two data sets have no common structure, or another distance shows it: try some by hand.",
            Fix::None,
        );
    }
    let others = alignment.candidates.len() - 1;
    let astray = alignment.candidates.iter().filter(|candidate| candidate.difference > APART).count();
    if 2 * astray > others {
        findings.say(
            false,
            format!(
                "Restarts disagree: {astray} of {others} other fits came to a clearly different alignment."
            ),
            "More fits make it likelier that the best is among them.",
            Fix::Settings(|options| options.fits = (2 * options.fits).min(16)),
        );
    }
}

fn of_plan(findings: &mut Findings<'_>, report: &Report) {
    let (entropy, missed) = (report.relative_entropy.value, report.marginal_error.value);
    let small = findings.options.eps < SHARP;
    if entropy > UNIFORM {
        findings.say(
            true,
            format!(
                "The plan is nearly uniform ({:.0} % of the entropy of knowing nothing): matches mean little.",
                100.0 * entropy
            ),
            "Use a smaller ε for the transport.",
            Fix::Settings(|options| options.eps /= 2.0),
        );
    }
    if small && (entropy < CERTAIN || missed > MISSED) {
        findings.say(
            missed > MISSED,
            format!(
                "ε is very small ({}): every point is given one partner, however unsure that is.",
                findings.options.eps
            ),
            "A larger ε lets confidence tell sure matches from guesses, and the transport settle.",
            Fix::Settings(|options| options.eps = defaults().eps),
        );
    } else if missed > MISSED {
        findings.say(
            true,
            format!(
                "The plan misses its marginals by {missed:.3}: some points are matched too often, others hardly at all."
            ),
            "The transport has not settled in the iterations it was given. It does so sooner with a larger ε.",
            Fix::Settings(|options| options.eps *= 2.0),
        );
    }
}

fn of_side(findings: &mut Findings<'_>, side: Side, points: Option<&Dense>, distances: &Dense) {
    let name = side.letter().to_uppercase();
    let columns = |step: Step| points.map_or(Fix::None, |_| Fix::Columns(side, step));
    if let Some(ratio) = points.and_then(scale_ratio).filter(|ratio| *ratio > SCALES) {
        findings.say(
            false,
            format!("The columns of {name} are on very different scales (a factor of {ratio:.0})."),
            "The largest drown the others. Standardise its columns.",
            columns(Step::ZScore),
        );
    }
    let share = variation(distances);
    if share < FLAT {
        findings.say(
            false,
            format!("All distances within {name} are almost the same (they vary by {:.1} %).", 100.0 * share),
            "Fewer columns help: reduce it to its principal components.",
            columns(Step::Pca(COMPONENTS)),
        );
    }
    let parts = part_sizes(&Graph::nearest(distances, NEIGHBOURS, EdgeWeight::Step));
    if parts.len() > 1 {
        let sizes: Vec<String> = parts.iter().take(5).map(usize::to_string).collect();
        findings.say(
            false,
            format!(
                "The neighbour graph of {name} falls into {} parts (of {}{} points).",
                parts.len(),
                sizes.join(", "),
                if parts.len() > 5 { ", …" } else { "" }
            ),
            "Separate groups can be matched in any order. Geodesic distances join them by their shortest bridges.",
            Fix::Settings(|options| {
                (options.distance_x, options.distance_y) = ("geodesic".into(), "geodesic".into());
            }),
        );
    }
}

/// How many points each part of a graph has, the largest first.
fn part_sizes(graph: &Graph) -> Vec<usize> {
    let mut sizes = Vec::new();
    for part in graph.parts() {
        let part = part as usize;
        if sizes.len() <= part {
            sizes.resize(part + 1, 0);
        }
        sizes[part] += 1;
    }
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes
}

/// The largest deviation of a column beside the smallest that is not zero.
fn scale_ratio(points: &Dense) -> Option<f64> {
    let (n, d) = (points.rows() as f64, points.cols());
    let (mut sums, mut squares) = (vec![0f64; d], vec![0f64; d]);
    for i in 0..points.rows() {
        for (j, v) in points.row(i).iter().enumerate() {
            sums[j] += f64::from(*v);
            squares[j] += f64::from(*v).powi(2);
        }
    }
    let deviations = sums.iter().zip(&squares).map(|(s, q)| (q / n - (s / n).powi(2)).max(0.0).sqrt());
    let mut varied: Vec<f64> = deviations.filter(|d| *d > 1e-9).collect();
    varied.sort_by(f64::total_cmp);
    // Not the extremes: a single odd column is no finding.
    let at = |share: f64| varied.get((share * (varied.len().max(1) - 1) as f64).round() as usize).copied();
    Some(at(0.95)? / at(0.05)?)
}

/// The deviation of distances between different points, as a share of their mean.
fn variation(distances: &Dense) -> f64 {
    let n = distances.rows();
    let (mut sum, mut square) = (0f64, 0f64);
    for i in 0..n {
        for (j, d) in distances.row(i).iter().enumerate() {
            if i != j {
                sum += f64::from(*d);
                square += f64::from(*d).powi(2);
            }
        }
    }
    let count = (n * n.max(1) - n).max(1) as f64;
    let mean = sum / count;
    if mean > 0.0 { ((square / count - mean * mean).max(0.0)).sqrt() / mean } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::report::{Figure, Known};
    use crate::procedure::{Candidate, Origin};
    use crate::rng::Rng;
    use crate::solver::cost::CostKind;
    use crate::solver::infer::Encoders;

    #[test]
    fn scales_and_flat_distances_are_noticed() {
        let points = Dense::from_fn(20, 3, |i, j| (i as f32 * 0.37).sin() * [1.0, 1.0, 5000.0][j]);
        assert!(scale_ratio(&points).is_some_and(|r| (r / 5000.0 - 1.0).abs() < 0.01));
        assert_eq!(scale_ratio(&Dense::from_fn(5, 2, |_, _| 1.0)), None, "constant columns say nothing");
        let flat =
            Dense::from_fn(10, 10, |i, j| if i == j { 0.0 } else { 1.0 + 0.01 * ((i + j) % 3) as f32 });
        assert!(variation(&flat) < FLAT);
        let line = Dense::from_fn(10, 10, |i, j| (i as f32 - j as f32).abs());
        assert!(variation(&line) > 0.5);
    }

    fn candidate(score: f64, difference: f64) -> Candidate {
        let encoders = Encoders::Embedded { dim: 2, cost: CostKind::Sqm };
        let (spearman, matches) = (vec![score], Vec::new());
        Candidate { encoders, origin: Origin::Saved, spearman, score, difference, matches, error: 0.0 }
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
        report: Report,
        options: AlignOptions,
        agreement: Agreement,
        confidence: f32,
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
                report: report(0.7, 0.001),
                options: defaults(),
                agreement,
                confidence: 0.5,
                known: [false; 2],
            }
        }

        fn found(self) -> Vec<Finding> {
            let y = Dense::new(40, 3, Rng::new(4).fill(120, -1.0, 1.0));
            let [dx, dy] = [&self.x, &y].map(|side| Distance::Euclidean.matrix(side).expect("of points"));
            let sides = Sides::new(self.x, y).expect("usable");
            let alignment = Alignment { candidates: self.candidates, rival: None };
            findings(&Seen {
                sides: &sides,
                alignment: &alignment,
                agreement: self.agreement,
                report: &self.report,
                known: self.known,
                confidence: self.confidence,
                distances: [&dx, &dy],
                options: &self.options,
            })
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
        let missed =
            Case { report: report(0.7, 0.3), ..Case::healthy() }.only("misses its marginals by 0.300");
        assert_eq!(changed(&missed).eps, 2.0 * eps);
    }

    #[test]
    fn what_is_no_better_than_chance_is_said() {
        let agreement = Agreement { value: 0.9, chance: Some(0.89) };
        let chance = Case { agreement, ..Case::healthy() }.only("Unrelated data of this shape");
        assert!(chance.serious);
        let unsure = Case { confidence: 0.04, ..Case::healthy() }.only("holds 4 % of its point's mass");
        assert!(!unsure.serious);
        Case { confidence: 0.0004, ..Case::healthy() }.only("holds less than 1 % of its");
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
    fn new_points_that_do_not_fit_are_noticed() {
        assert_eq!(findings_of_new(0.9, &report(0.7, 0.001), &defaults()), []);
        let found = findings_of_new(0.04, &report(0.96, 0.001), &defaults());
        assert!(
            found[0].what.contains("new points hardly agree") && found[1].what.contains("nearly uniform")
        );
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
}
