//! Figures as they are shown: each with its name, its null and a sentence on what it says.

use crate::metrics::report::{Figure, Report};
use crate::protocol::FigureRow;

/// All figures of a report, and the score by which candidates are ranked.
pub fn figures(report: &Report, score: f64, paired: bool, labelled: bool) -> Vec<FigureRow> {
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
            let about = "The share of points that the plan holds for closer than the true partner.";
            add("foscttm", "FOSCTTM", mean(known.foscttm), true, true, about);
            add("foscttm-xy", "FOSCTTM, from the first", known.foscttm[0], true, true, about);
            add("foscttm-yx", "FOSCTTM, from the second", known.foscttm[1], true, true, about);
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
            let about = "How often the five strongest partners vote for the right label.";
            add("label-transfer", "Label transfer", mean(known.labels), false, true, about);
            add("label-transfer-xy", "Label transfer, to the first", known.labels[0], false, true, about);
            add("label-transfer-yx", "Label transfer, to the second", known.labels[1], false, true, about);
        }
    }
    let score = Figure { value: score, null: 0.0 };
    add(
        "spearman",
        "Rank agreement",
        score,
        false,
        false,
        "How well matched distances agree in order (plan Spearman), over several measures. By this candidates are ranked; it needs no truth.",
    );
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
        "Beside the plan that knows nothing; ½ is one partner for each point.",
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
