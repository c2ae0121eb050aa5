//! Whether an alignment knows what it does not know: does its confidence say which matches are right, and does it see
//! which rows have no partner.

use align::metrics::readout::Readout;
use align::metrics::report::UNKNOWN;
use align::procedure::Coupling;
use serde_json::{Value, json};

use super::case::Case;

/// How sure each row of X is of its match: as fresh fits tell, or else the share of its mass that goes to its first
/// partner.
pub fn confidence(coupling: &Coupling, readout: &Readout) -> Vec<f64> {
    let sure = coupling.confidence.as_ref().map_or_else(|| readout.share(0), |both| both[0].clone());
    sure.into_iter().map(f64::from).collect()
}

/// How much speaks for a row having no partner: that it keeps little of its mass, averaged over its neighbours where that
/// was found out. In thousandths: less is rounding noise of a plan whose rows all have to have the same mass.
pub fn no_partner(coupling: &Coupling, readout: &Readout, side: usize) -> Vec<f64> {
    let kept: Vec<f64> = match &coupling.retained {
        Some(both) => both[side].mass.iter().map(|mass| f64::from(*mass)).collect(),
        None => readout.sums[side].iter().map(|sum| sum * readout.sums[side].len() as f64).collect(),
    };
    kept.into_iter().map(|kept| -(1e3 * kept).round()).collect()
}

/// How well scores tell rows without a partner from those with one; none where either kind is missing.
pub fn no_partner_auc(scores: &[f64], partnered: &[Option<bool>]) -> Option<f64> {
    auc(scores.iter().zip(partnered).filter_map(|(score, partner)| Some((*score, !(*partner)?))))
}

/// The area under the ROC curve: how often a score of those that are meant exceeds one of the others. Ties count half.
pub fn auc(scored: impl Iterator<Item = (f64, bool)>) -> Option<f64> {
    let mut all: Vec<(f64, bool)> = scored.collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let meant = all.iter().filter(|(_, meant)| *meant).count();
    let others = all.len() - meant;
    let mut below = 0;
    let mut area = 0.0;
    for tied in all.chunk_by(|a, b| a.0 == b.0) {
        let high = tied.iter().filter(|(_, meant)| *meant).count();
        let low = tied.len() - high;
        area += high as f64 * (below as f64 + 0.5 * low as f64);
        below += low;
    }
    (meant > 0 && others > 0).then(|| area / (meant as f64 * others as f64))
}

/// Where the bins of confidence end.
const BINS: [f64; 7] = [0.0, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0];

/// How many matches of X's rows are right, by their confidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Reliability {
    /// What "right" means: the partner has the same label, or is the true one.
    pub by: &'static str,
    /// Rows and right ones of each bin.
    pub bins: Vec<(usize, usize)>,
    pub auc: Option<f64>,
}

impl Reliability {
    /// By labels where both sides have them, by pairs otherwise. A row whose kind or partner the other side does not have is
    /// never right.
    pub fn new(case: &Case, confidence: &[f64], matches: &[Option<usize>]) -> Option<Self> {
        let [lx, ly] = &case.labels;
        let by = if case.labelled { "label" } else { "pair" };
        let mut partner = vec![None; matches.len()];
        case.pairs.iter().for_each(|&(i, j)| partner[i] = Some(j));
        let judged: Vec<(f64, bool)> = (0..matches.len())
            .filter_map(|i| {
                let right = if case.labelled {
                    let counts = lx[i] != UNKNOWN && !case.given[0][i];
                    counts.then(|| matches[i].is_some_and(|j| ly[j] == lx[i]))
                } else {
                    case.partnered[0][i].map(|_| partner[i].is_some() && matches[i] == partner[i])
                };
                Some((confidence[i], right?))
            })
            .collect();
        if judged.is_empty() {
            return None;
        }
        let mut bins = vec![(0, 0); BINS.len() - 1];
        for (confidence, right) in &judged {
            let bin = BINS[1..BINS.len() - 1].iter().filter(|end| confidence >= *end).count();
            bins[bin].0 += 1;
            bins[bin].1 += usize::from(*right);
        }
        Some(Self { by, bins, auc: auc(judged.into_iter()) })
    }

    pub fn json(&self) -> Value {
        let bins: Vec<Value> = BINS
            .windows(2)
            .zip(&self.bins)
            .map(|(ends, &(count, right))| {
                let share = (count > 0).then(|| right as f64 / count as f64);
                json!({ "from": ends[0], "to": ends[1], "count": count, "right": share })
            })
            .collect();
        json!({ "by": self.by, "auc": self.auc, "bins": bins })
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::Draw;
    use super::super::data::tests::Folder;
    use super::*;

    #[test]
    fn the_area_counts_ties_as_half() {
        let area = |scored: &[(f64, bool)]| auc(scored.iter().copied());
        assert_eq!(area(&[(0.1, false), (0.2, false), (0.3, true)]), Some(1.0));
        assert_eq!(area(&[(0.1, true), (0.2, false), (0.2, false)]), Some(0.0));
        assert_eq!(area(&[(0.5, true), (0.5, false)]), Some(0.5));
        assert_eq!(area(&[(0.1, false), (0.2, true), (0.2, false), (0.3, true)]), Some(0.875));
        assert_eq!((area(&[(0.1, true)]), area(&[])), (None, None));
    }

    #[test]
    fn rows_whose_partner_is_not_known_say_nothing_about_it() {
        let partnered = [Some(true), Some(false), None, Some(true)];
        assert_eq!(no_partner_auc(&[0.0, 3.0, 9.0, 1.0], &partnered), Some(1.0));
        assert_eq!(no_partner_auc(&[0.0, 1.0], &[Some(true), Some(true)]), None);
    }

    #[test]
    fn reliability_counts_the_right_ones_in_every_bin() {
        let files = [("truth.txt", "0\n1\n2\n-1\n-1\n"), ("labels_x.txt", "a\na\nb\nc\n\n")];
        let with_labels = [files[0], files[1], ("labels_y.txt", "a\na\nb\nb\n")];
        let case = |files: &[(&str, &str)]| {
            let data = Folder::new([5, 4], files).read().expect("read");
            data.case(&Draw { seed: 1, most: 99, ..Draw::default() }).expect("drawn")
        };
        let sure = [0.1, 0.2, 0.9, 1.0, 0.95];
        // Rows are shuffled, so confidences and matches are put in the order of X by its partners.
        let paired = case(&files);
        let mut partner = vec![None; 5];
        paired.pairs.iter().for_each(|&(i, j)| partner[i] = Some(j));
        let got = Reliability::new(&paired, &sure, &partner).expect("judged");
        assert_eq!((got.by, got.bins.iter().map(|b| b.0).sum::<usize>()), ("pair", 5));
        assert_eq!(got.bins.iter().map(|b| b.1).sum::<usize>(), 3, "rows without a partner are never right");
        assert_eq!(got.bins.iter().map(|b| b.0).collect::<Vec<_>>(), [1, 1, 0, 0, 1, 2]);
        let labelled = case(&with_labels);
        let got = Reliability::new(&labelled, &sure, &[Some(0); 5]).expect("judged");
        assert_eq!((got.by, got.bins.iter().map(|b| b.0).sum::<usize>()), ("label", 4), "one has no label");
        let first = labelled.labels[1][0];
        let right = labelled.labels[0].iter().filter(|label| **label == first).count();
        assert_eq!(got.bins.iter().map(|b| b.1).sum::<usize>(), right);
        assert_eq!(got.json()["bins"][2]["right"], Value::Null);
    }
}
