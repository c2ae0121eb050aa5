//! What speaks for an alignment and what against it: scores beside what chance would score.

use super::figures::Agreement;
use super::findings::{Findings, Fix, Seen};
use align::procedure::Alignment;

/// A rank agreement that is not this much above that of unrelated data shows nothing.
const MARGIN: f64 = 0.03;
/// A figure of the truth has to be this much better than chance to count as better.
const BETTER: f64 = 0.03;
/// A FOSCTTM this far beyond chance is no accident: the alignment is turned round.
const REVERSED: f64 = 0.57;
/// Matches that typically get less of their rows' mass than this are not to be read one by one.
const UNSURE: f32 = 0.2;
/// Where the typical confidence is below this, new fits come to something else.
const UNSTABLE: f32 = 0.3;
/// With fewer points almost any matching fits.
const FEW: usize = 20;

/// What speaks for an alignment; nothing where nothing does, where as much speaks for another one, or where new fits come
/// to other matches. On 7 of 20 real pairs a wrong alignment fits the distances better than the right one: shape alone proves
/// nothing.
pub fn verdict(agreement: Agreement, alignment: &Alignment, stability: Option<f32>) -> Option<String> {
    let Agreement { value, chance } = agreement;
    let chance = chance.filter(|chance| value >= chance + MARGIN)?;
    if alignment.rival.is_some() || unstable(stability).is_some() {
        return None;
    }
    Some(format!(
        "The shapes of both sides agree ({value:.2}, unrelated data {chance:.2}). Shape alone cannot prove the matches: check some of them."
    ))
}

/// The typical confidence, where it is too low for single runs to be trusted.
fn unstable(stability: Option<f32>) -> Option<f32> {
    stability.filter(|stability| *stability < UNSTABLE)
}

/// What speaks against an alignment.
pub(super) fn of_evidence(findings: &mut Findings<'_>, seen: &Seen<'_>) {
    let Agreement { value, chance } = seen.agreement;
    if let Some(chance) = chance.filter(|chance| value < chance + MARGIN) {
        findings.say(
            true,
            format!("Unrelated data of this shape would agree as well: {value:.2} beside {chance:.2}. Nothing shows that this alignment means something."),
            "Check it with labels or true pairs. More columns, another distance or known pairs may decide it.",
            Fix::None,
        );
    }
    let [paired, labelled] = seen.known;
    let known = seen.report.known.as_ref();
    let mean = |figures: [align::metrics::report::Figure; 2]| {
        figures.iter().fold([0.0; 2], |[v, n], f| [v + 0.5 * f.value, n + 0.5 * f.null])
    };
    if let Some([value, null]) = known.filter(|_| paired).map(|known| mean(known.foscttm))
        && value > null - BETTER
    {
        let turned =
            if value > REVERSED { " It looks turned round: what should be near is far." } else { "" };
        findings.say(
            true,
            format!("By the true pairs this is no better than chance: FOSCTTM {value:.3}, by chance {null:.3}.{turned}"),
            "Look at the other alignments below. A few known pairs decide between them.",
            Fix::None,
        );
    }
    if let Some([value, null]) = known.filter(|_| labelled).map(|known| mean(known.labels))
        && value < null + BETTER
    {
        findings.say(
            true,
            format!("By the labels this is no better than chance: {value:.3} of them are transferred rightly, by chance {null:.3}."),
            "Look at the other alignments below. A few known pairs decide between them.",
            Fix::None,
        );
    }
    let fewest = seen.sides.points().map(|side| side.rows()).into_iter().min().unwrap_or(0);
    if fewest < FEW {
        findings.say(
            false,
            format!("There are only {fewest} points on one side: almost any matching of so few fits."),
            "More rows tell more.",
            Fix::None,
        );
    }
    if let Some(stability) = unstable(seen.stability) {
        findings.say(
            true,
            format!(
                "New fits on other rows find other matches: the typical confidence is {stability:.2} of 1."
            ),
            "Another seed may give another alignment. Known pairs or labels decide it.",
            Fix::None,
        );
    }
    if seen.share < UNSURE {
        let share = match 100.0 * seen.share {
            percent if percent < 1.0 => "less than 1 %".to_owned(),
            percent => format!("{percent:.0} %"),
        };
        findings.say(
            false,
            format!("Single matches are unsure: the typical one holds {share} of its point's mass."),
            "Read groups rather than points, or only the matches at the top of the table. A smaller ε makes matches sharper, not truer.",
            Fix::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_beats_chance_speaks_for_it() {
        let said = |value, chance, rival, stability| {
            let alignment = Alignment {
                candidates: Vec::new(),
                rival,
                alternatives: Vec::new(),
                skewness: None,
                margin: None,
            };
            verdict(Agreement { value, chance }, &alignment, stability)
        };
        for stability in [None, Some(0.3), Some(0.9)] {
            let words = said(0.77, Some(0.30), None, stability).expect("it beats chance");
            assert!(words.contains("0.77, unrelated data 0.30"), "{words}");
        }
        assert_eq!(said(0.51, Some(0.50), None, None), None);
        assert_eq!(said(0.9, None, None, None), None, "nothing to compare with");
        assert_eq!(said(0.77, Some(0.30), Some(1), None), None, "as much speaks for another");
        assert_eq!(said(0.77, Some(0.30), None, Some(0.29)), None, "new fits come to something else");
    }
}
