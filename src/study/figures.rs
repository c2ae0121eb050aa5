//! Figures as they are shown: each with its name, its null and a sentence on what it says.

use crate::metrics::report::{Figure, Report};
use crate::protocol::FigureRow;

/// How well matched distances agree in order, over the panel, and how well they would without any relation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    pub value: f64,
    /// As [`procedure::chance`](crate::procedure::chance) finds it; none where it was not looked for.
    pub chance: Option<f64>,
}

/// All figures of a report, and the score by which candidates are ranked.
pub fn figures(report: &Report, agreement: Agreement, paired: bool, labelled: bool) -> Vec<FigureRow> {
    let mut rows = Vec::new();
    let mut add = |key: &str, name: &str, figure: Figure, lower: bool, known: bool, about: &str| {
        rows.push(FigureRow {
            key: key.to_owned(),
            name: name.to_owned(),
            value: figure.value,
            null: figure.null,
            lower_is_better: lower,
            about: about.to_owned(),
            known,
        });
    };
    let mean =
        |[a, b]: [Figure; 2]| Figure { value: 0.5 * (a.value + b.value), null: 0.5 * (a.null + b.null) };
    if let Some(known) = &report.known {
        if paired {
            let about = "The share of points that the plan ranks above the true partner (fraction of samples closer than the true match).";
            add("foscttm", "FOSCTTM", mean(known.foscttm), true, true, about);
            add("foscttm-xy", "FOSCTTM, X → Y", known.foscttm[0], true, true, about);
            add("foscttm-yx", "FOSCTTM, Y → X", known.foscttm[1], true, true, about);
            add(
                "exact-match",
                "Exact matches",
                known.exact,
                false,
                true,
                "The share of true partners that are the first choice.",
            );
        }
        if labelled {
            let about = "How often the five strongest partners, one vote each, elect the right label.";
            add("label-transfer", "Label transfer", mean(known.labels), false, true, about);
            add("label-transfer-xy", "Label transfer, Y → X", known.labels[0], false, true, about);
            add("label-transfer-yx", "Label transfer, X → Y", known.labels[1], false, true, about);
        }
    }
    let score = Figure { value: agreement.value, null: agreement.chance.unwrap_or(0.0) };
    let beside = if agreement.chance.is_some() {
        "Chance is what the same search reaches on unrelated data of this shape."
    } else {
        "Chance is that of a plan that matches everything with everything."
    };
    let about_score = format!(
        "How well matched distances agree in order (plan Spearman), over several measures; it needs no truth. {beside}"
    );
    add("spearman", "Rank agreement", score, false, false, &about_score);
    add(
        "gw-loss",
        "Gromov-Wasserstein loss",
        report.gw_loss,
        true,
        false,
        "How much matched distances differ.",
    );
    add(
        "entropy",
        "Plan entropy",
        report.relative_entropy,
        true,
        false,
        "1 is a plan that matches everything with everything, ½ one partner for each point.",
    );
    add(
        "marginal-error",
        "Marginal error",
        report.marginal_error,
        true,
        false,
        "How far the plan is from giving each point its share.",
    );
    rows
}
