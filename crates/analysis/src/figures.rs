//! Figures as they are shown: each with its name, its null and a sentence on what it says.

use align::metrics::exactness::Exactness;
use align::metrics::report::{Figure, Report};
use schema::FigureRow;

/// How well matched distances agree in order, over the panel, and how well they would without any relation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    pub value: f64,
    /// As [`procedure::chance`](align::procedure::chance) finds it; none where it was not looked for.
    pub chance: Option<f64>,
}

/// What is known of the rows beside the points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beside {
    /// True pairs.
    pub pairs: usize,
    /// Whether both sides have labels.
    pub labelled: bool,
}

/// All figures of a report, the score by which candidates are ranked, and how exact the plan is where that is a question.
pub fn figures(
    report: &Report,
    agreement: Agreement,
    exactness: Option<Exactness>,
    beside: Beside,
) -> Vec<FigureRow> {
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
        if beside.pairs > 0 {
            let counted = known.closer.len();
            let drawn = if counted < beside.pairs {
                format!(" Counted for {counted} of the {} true pairs, evenly drawn.", beside.pairs)
            } else {
                String::new()
            };
            let about = format!(
                "The share of points that the plan ranks above the true partner (fraction of samples closer than the true match).{drawn}"
            );
            add("foscttm", "FOSCTTM", mean(known.foscttm), true, true, &about);
            add("foscttm-xy", "FOSCTTM, X → Y", known.foscttm[0], true, true, &about);
            add("foscttm-yx", "FOSCTTM, Y → X", known.foscttm[1], true, true, &about);
            add(
                "exact-match",
                "Exact matches",
                known.exact,
                false,
                true,
                "The share of true partners that are the first choice.",
            );
        }
        if beside.labelled {
            let about = "How often the five strongest partners on the other side, one vote each, elect the right label.";
            add("label-transfer", "Label transfer", mean(known.labels), false, true, about);
            // No arrow: partners of a row of X are rows of Y, so its label goes the other way than its match.
            add("label-transfer-xy", "Label transfer, for rows of X", known.labels[0], false, true, about);
            add("label-transfer-yx", "Label transfer, for rows of Y", known.labels[1], false, true, about);
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
        "How far the plan is from giving each point its share; a group without a partner keeps less.",
    );
    if let Some(Exactness { points, same, mean, largest }) = exactness {
        let about = format!(
            "The plan was found from coarse to fine. Checked against the exact update on {points} points: the strongest partner is the same for {:.1} %, and masses change by {} on average and by {} at most.",
            100.0 * same,
            percent(mean),
            percent(largest)
        );
        add(
            "exactness",
            "Agreement with the exact plan",
            Figure { value: same, null: 0.0 },
            false,
            false,
            &about,
        );
    }
    rows
}

/// A change of a logarithm as a share.
fn percent(change: f64) -> String {
    let share = 100.0 * change.exp_m1();
    if share < 1000.0 { format!("{share:.1} %") } else { "more than ten times".into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use align::metrics::report::Known;

    fn told(pairs: usize, counted: usize, exactness: Option<Exactness>) -> Vec<FigureRow> {
        let figure = Figure { value: 0.1, null: 0.5 };
        let report = Report {
            gw_loss: figure,
            spearman: figure,
            relative_entropy: figure,
            marginal_error: figure,
            known: Some(Known {
                foscttm: [figure; 2],
                closer: vec![[0.1; 2]; counted],
                labels: [figure; 2],
                exact: figure,
            }),
        };
        figures(&report, Agreement { value: 0.5, chance: None }, exactness, Beside { pairs, labelled: false })
    }

    fn about(rows: &[FigureRow], key: &str) -> Option<String> {
        rows.iter().find(|row| row.key == key).map(|row| row.about.clone())
    }

    #[test]
    fn what_was_counted_on_some_pairs_says_so() {
        let some = about(&told(45_000, 5000, None), "foscttm").expect("with pairs");
        assert!(some.contains("5000 of the 45000 true pairs"), "{some}");
        let all = about(&told(5000, 5000, None), "foscttm").expect("with pairs");
        assert!(!all.contains("drawn"), "{all}");
    }

    #[test]
    fn a_plan_on_a_shorter_way_is_told_with_how_exact_it_is() {
        assert_eq!(about(&told(1, 1, None), "exactness"), None);
        let exactness = Exactness { points: 500, same: 0.996, mean: 0.002, largest: 0.05 };
        let about = about(&told(1, 1, Some(exactness)), "exactness").expect("told");
        for words in ["on 500 points", "the same for 99.6 %", "by 0.2 % on average", "by 5.1 % at most"] {
            assert!(about.contains(words), "{about}");
        }
    }
}
