//! Plain words about a run: what looks wrong, and what would mend it.

use formats::Step;

use super::evidence::of_evidence;
pub use super::evidence::verdict;
use super::figures::Agreement;
use super::options::defaults;
use align::geometry::Dense;
use align::geometry::graph::{EdgeWeight, Graph};
use align::geometry::panel::{Distance, Measure};
use align::metrics::report::Report;
use align::procedure::{Alignment, LeftOut, Sides, is_skewed};
use align::scale::{Cancelled, Watch};
use schema::{AlignOptions, Finding, Side};

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
    pub share: f32,
    /// The typical confidence of the rows of X that have a partner, where it was measured.
    pub stability: Option<f32>,
    pub distances: [&'a Dense; 2],
    pub options: &'a AlignOptions,
}

/// All findings, the serious ones first.
pub async fn findings(seen: &Seen<'_>, watch: &mut impl Watch) -> Result<Vec<Finding>, Cancelled> {
    let Seen { sides, alignment, report, distances, options, .. } = *seen;
    let mut findings = Findings { options, found: Vec::new() };
    of_evidence(&mut findings, seen);
    of_candidates(&mut findings, alignment);
    of_plan(&mut findings, report);
    // Columns mean nothing where the distances came along.
    let measured = sides.default_panel() != [Measure::same(Distance::Given)];
    for side in Side::BOTH {
        let at = side.index();
        of_small_values(&mut findings, side, sides.below_normal(at));
        let points = measured.then_some(sides.points()[at]);
        of_side(&mut findings, side, points, distances[at], watch).await?;
    }
    let mut found = findings.found;
    found.sort_by_key(|finding| !finding.serious);
    Ok(found)
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
            "A clearly different alignment fits nearly as well, or better by one of the scores. Shape alone does not decide.".into(),
            "Compare both below. A few known pairs, labels that you trust, or shared features decide between them.",
            Fix::None,
        );
    }
    of_groups(findings, alignment);
    if alignment.skewness.is_some_and(|skewness| !is_skewed(skewness)) {
        findings.say(
            false,
            "The shape of one side is nearly symmetric. Starts that need an uneven shape (third moments) were skipped.".into(),
            "Nothing to do. Mirrored alignments are likelier on such data: known pairs decide.",
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
    // Linear maps are many different ones by design; fits of networks should agree.
    let kind = best.origin.encoder();
    let fits = || alignment.candidates[1..].iter().filter(|candidate| candidate.origin.encoder() == kind);
    let (others, astray) = (fits().count(), fits().filter(|candidate| candidate.difference > APART).count());
    if kind == "mlp" && others < 2 {
        findings.say(
            false,
            "Too few networks were trained to see whether another run agrees.".into(),
            "More fits show it, and give every match a confidence.",
            Fix::Settings(|options| options.fits = (options.fits + 2).min(16)),
        );
    }
    if kind != "linear" && 2 * astray > others {
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

/// A group that the other side may lack: left out by the alignment, or by one that is offered beside it.
fn of_groups(findings: &mut Findings<'_>, alignment: &Alignment) {
    let group = |left: LeftOut| {
        let [own, other] = if left.side == 0 { ["X", "Y"] } else { ["Y", "X"] };
        (format!("a group of {} rows of {own}", left.rows), other)
    };
    if let Some(left) = alignment.best().origin.left_out() {
        let (group, other) = group(left);
        findings.say(
            false,
            format!("This alignment leaves out {group}. Without it the rest fits better."),
            &format!("{other} may lack this group. Do not rely on matches of its rows."),
            Fix::None,
        );
        return;
    }
    let offered = alignment.alternatives.iter().find_map(|&at| alignment.candidates[at].origin.left_out());
    if let Some(left) = offered {
        let (group, other) = group(left);
        findings.say(
            false,
            format!("Without {group}, the rest fits better in another way."),
            &format!("{other} may lack this group. Compare that alignment below."),
            Fix::None,
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
            "A larger ε lets shares tell clear matches from close ones, and the transport settle.",
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

/// Any unit will do, down to where the numbers themselves end.
fn of_small_values(findings: &mut Findings<'_>, side: Side, count: usize) {
    if count > 0 {
        findings.say(
            false,
            format!(
                "Values of {} below the smallest normal number ({:.1e}): {count}. Their last digits are lost.",
                side.letter().to_uppercase(),
                f32::MIN_POSITIVE
            ),
            "Use a smaller unit: multiply the data by 1e30, for example.",
            Fix::None,
        );
    }
}

async fn of_side(
    findings: &mut Findings<'_>,
    side: Side,
    points: Option<&Dense>,
    distances: &Dense,
    watch: &mut impl Watch,
) -> Result<(), Cancelled> {
    let name = side.letter().to_uppercase();
    let columns = |step: Step| points.map_or(Fix::None, |_| Fix::Columns(side, step));
    let ratio = match points {
        Some(points) => scale_ratio(points, watch).await?,
        None => None,
    };
    if let Some(ratio) = ratio.filter(|ratio| *ratio > SCALES) {
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
    let graph = Graph::nearest_watched(distances, NEIGHBOURS, EdgeWeight::Step, watch).await?;
    let parts = part_sizes(&graph);
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
    Ok(())
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

/// Values that are gone through between two looks at who is watching.
const PATIENCE: usize = 1 << 23;

/// The largest deviation of a column beside the smallest that is not zero.
async fn scale_ratio(points: &Dense, watch: &mut impl Watch) -> Result<Option<f64>, Cancelled> {
    let (n, d) = (points.rows() as f64, points.cols());
    let (mut sums, mut squares) = (vec![0f64; d], vec![0f64; d]);
    let every = PATIENCE / d.max(1) + 1;
    for i in 0..points.rows() {
        for (j, v) in points.row(i).iter().enumerate() {
            sums[j] += f64::from(*v);
            squares[j] += f64::from(*v).powi(2);
        }
        if (i + 1) % every == 0 {
            watch.step((i + 1) as f64 / n).await?;
        }
    }
    let deviations = sums.iter().zip(&squares).map(|(s, q)| (q / n - (s / n).powi(2)).max(0.0).sqrt());
    let mut varied: Vec<f64> = deviations.filter(|d| *d > 1e-9).collect();
    varied.sort_by(f64::total_cmp);
    // Not the extremes: a single odd column is no finding.
    let at = |share: f64| varied.get((share * (varied.len().max(1) - 1) as f64).round() as usize).copied();
    Ok(at(0.95).zip(at(0.05)).map(|(high, low)| high / low))
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
mod tests;
