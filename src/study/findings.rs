//! Plain words about a run: what looks wrong, and what would mend it.

use crate::geometry::Dense;
use crate::geometry::graph::{EdgeWeight, Graph};
use crate::metrics::report::Report;
use crate::procedure::{Alignment, Sides};
use crate::protocol::{AlignOptions, Finding};

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

/// All findings, the serious ones first.
pub fn findings(
    sides: &Sides,
    alignment: &Alignment,
    report: &Report,
    distances: [&Dense; 2],
    options: &AlignOptions,
) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut say = |serious, what: String, fix: &str, change: Option<fn(&mut AlignOptions)>| {
        let options = change.map(|change| {
            let mut options = Box::new(options.clone());
            change(&mut options);
            options
        });
        found.push(Finding { what, fix: fix.to_owned(), options, serious });
    };
    if alignment.rival.is_some() {
        say(
            true,
            "Two clearly different alignments fit nearly as well: the data look symmetric.".into(),
            "Compare both below. A few known pairs, labels that you trust, or shared features decide between them.",
            None,
        );
    }
    if report.relative_entropy.value > UNIFORM {
        say(
            true,
            format!(
                "The plan is nearly uniform ({:.0} % of the entropy of knowing nothing): matches mean little.",
                100.0 * report.relative_entropy.value
            ),
            "Use a smaller ε for the transport.",
            Some(|options| options.eps /= 2.0),
        );
    }
    if report.marginal_error.value > MISSED {
        say(
            true,
            format!(
                "The plan misses its marginals by {:.3}: some points are matched too often, others hardly at all.",
                report.marginal_error.value
            ),
            "ε is too small for the iterations it was given. Use a larger ε for the transport.",
            Some(|options| options.eps *= 2.0),
        );
    }
    let best = alignment.best();
    if best.score < 0.15 {
        say(
            true,
            format!("Matched distances hardly agree (rank correlation {:.2}).", best.score),
            "Perhaps the two data sets have no common structure, or another distance shows it: try some by hand.",
            None,
        );
    }
    for (side, name) in [(0, "first"), (1, "second")] {
        let points = sides.points()[side];
        if let Some(ratio) = scale_ratio(points).filter(|ratio| *ratio > SCALES) {
            say(
                false,
                format!(
                    "The columns of the {name} data set are on very different scales (a factor of {ratio:.0})."
                ),
                "Standardise its columns in its data card, or measure it by the standardised distance.",
                None,
            );
        }
        let d = distances[side];
        let share = variation(d);
        if share < FLAT {
            say(
                false,
                format!(
                    "All distances within the {name} data set are almost the same (they vary by {:.1} %).",
                    100.0 * share
                ),
                "Fewer columns help: reduce it by principal components first, or choose another distance.",
                None,
            );
        }
        let parts = part_sizes(&Graph::nearest(d, NEIGHBOURS, EdgeWeight::Step));
        if parts.len() > 1 {
            let sizes: Vec<String> = parts.iter().take(5).map(usize::to_string).collect();
            say(
                false,
                format!(
                    "The neighbour graph of the {name} data set falls into {} parts (of {}{} points).",
                    parts.len(),
                    sizes.join(", "),
                    if parts.len() > 5 { ", …" } else { "" }
                ),
                "Separate groups can be matched in any order. Geodesic distances join them by their shortest bridges.",
                None,
            );
        }
    }
    found.sort_by_key(|finding| !finding.serious);
    found
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
}
