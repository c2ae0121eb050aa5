//! A finished run as it is shown: points in the plane, matches with their confidence, figures beside their nulls.

use std::collections::HashMap;

use super::findings::findings;
use super::recall::Saved;
use super::rows::Rows;
use super::view::{flat, together};
use crate::geometry::Dense;
use crate::geometry::distance::halved;
use crate::metrics::plan::barycentric;
use crate::metrics::report::{Figure, Report, Truth, Within, closer_shares};
use crate::procedure::{Alignment, Candidate, Coupling, Origin, Settings, Sides, Start};
use crate::protocol::{AlignOptions, CandidateRow, FigureRow, LabelColumn, MatchRow, Outcome};
use crate::solver::sinkhorn::uniform;

/// Neighbours that vote on a label.
const VOTES: usize = 5;
/// Elements along an edge of the plan's picture, at most.
const PICTURE: usize = 120;

/// An alignment of two data sets, and everything that is known about it.
pub struct Study {
    pub sides: Sides,
    pub rows: [Rows; 2],
    /// True pairs, for scoring only.
    pub truth: Vec<(usize, usize)>,
    pub options: AlignOptions,
    pub settings: Settings,
    pub alignment: Alignment,
    /// Which candidate is looked at, and its plan between all points.
    pub shown: usize,
    pub coupling: Coupling,
    /// The encoders, where they were trained in another run.
    pub saved: Option<Saved>,
    pub train_s: f64,
    pub infer_s: f64,
}

impl Study {
    pub fn candidate(&self) -> &Candidate {
        &self.alignment.candidates[self.shown.min(self.alignment.candidates.len() - 1)]
    }

    /// The outcome and its bulk data.
    pub fn outcome(&self) -> Result<(Outcome, Vec<Vec<f32>>), String> {
        let candidates = self.rows_of_candidates();
        let shown = Shown {
            sides: &self.sides,
            rows: &self.rows,
            truth: &self.truth,
            settings: &self.settings,
            coupling: &self.coupling,
        };
        let (report, distances) = shown.report()?;
        let findings =
            findings(&self.sides, &self.alignment, &report, [&distances[0], &distances[1]], &self.options);
        let (mut outcome, bulk) = shown.outcome(&report, self.candidate().score);
        outcome.candidates = candidates;
        outcome.shown = self.shown as u32;
        outcome.rival = self.alignment.rival.map(|rival| rival as u32);
        outcome.findings = findings;
        outcome.trained_before = self.saved.is_some();
        outcome.train_s = self.train_s;
        outcome.infer_s = self.infer_s;
        Ok((outcome, bulk))
    }

    fn rows_of_candidates(&self) -> Vec<CandidateRow> {
        let row = |candidate: &Candidate| CandidateRow {
            encoder: candidate.origin.encoder().to_owned(),
            origin: origin(candidate.origin),
            score: candidate.score,
            difference: candidate.difference,
        };
        self.alignment.candidates.iter().map(row).collect()
    }
}

/// Where a candidate comes from, in words.
fn origin(origin: Origin) -> String {
    match origin {
        Origin::Linear { start: Start::Fused } => "a linear map, guided by signatures".into(),
        Origin::Linear { start: Start::Signature } => "a linear map, started from signatures".into(),
        Origin::Linear { start: Start::Noise } => "a linear map, started from noise".into(),
        Origin::Linear { start: Start::Network } => "a linear map, refined from networks".into(),
        Origin::Saved => "encoders that were trained before".into(),
        Origin::Network { measure, loss, subsample } => {
            format!(
                "networks on {} distances, {} loss, subsample {}",
                measure.name(),
                loss.name(),
                subsample + 1
            )
        }
    }
}

/// A plan between two data sets, as it is looked at.
pub struct Shown<'a> {
    pub sides: &'a Sides,
    pub rows: &'a [Rows; 2],
    pub truth: &'a [(usize, usize)],
    pub settings: &'a Settings,
    pub coupling: &'a Coupling,
}

impl Shown<'_> {
    /// The figures, and the distances they were taken from.
    pub fn report(&self) -> Result<(Report, [Dense; 2]), String> {
        let measure = self.settings.panel(self.sides)[0];
        // Figures over all pairs of pairs: on all rows, up to 2000 a side.
        let rows = self.sides.judged(0);
        let within = |side: usize, distance| {
            self.sides.within(side, distance, &rows[side]).map_err(|failure| failure.to_string())
        };
        let distances = [within(0, measure.x)?, within(1, measure.y)?];
        let [dx, dy] = distances.each_ref().map(halved);
        let [a, b] = self.sides.points().map(|side| uniform(side.rows() as u32));
        let [lx, ly] = self.codes();
        let codes = [lx, ly].map(|codes| codes.iter().map(|c| *c as u32).collect::<Vec<u32>>());
        let truth = Truth { pairs: self.truth, labels: [&codes[0], &codes[1]], votes: VOTES };
        let within = Within { rows: [&rows[0], &rows[1]], distances: [&dx, &dy] };
        let knows = !self.truth.is_empty() || self.labelled();
        Ok((Report::new(&self.coupling.plan, [&a, &b], &within, knows.then_some(&truth)), distances))
    }

    fn labelled(&self) -> bool {
        self.rows.iter().all(|rows| rows.labels.is_some())
    }

    /// Label codes of both sides, the same for the same name; without labels all the same.
    fn codes(&self) -> [Vec<f32>; 2] {
        let mut names: HashMap<&str, f32> = HashMap::new();
        [0, 1].map(|side| {
            let count = self.sides.points()[side].rows();
            let rows = &self.rows[side];
            (0..count)
                .map(|i| {
                    let label = rows.label(i);
                    if rows.labels.is_some() && label.is_empty() {
                        return -1.0;
                    }
                    let next = names.len() as f32;
                    *names.entry(label).or_insert(next)
                })
                .collect()
        })
    }

    /// Names of all labels by their codes.
    fn label_columns(&self) -> [LabelColumn; 2] {
        let mut names: Vec<String> = Vec::new();
        let mut seen: HashMap<&str, ()> = HashMap::new();
        for side in [0, 1] {
            for i in 0..self.sides.points()[side].rows() {
                let label = self.rows[side].label(i);
                let missing = self.rows[side].labels.is_some() && label.is_empty();
                if !missing && seen.insert(label, ()).is_none() {
                    names.push(label.to_owned());
                }
            }
        }
        self.rows.each_ref().map(|rows| LabelColumn {
            name: rows.labels.as_ref().map(|labels| labels.name.clone()).unwrap_or_default(),
            names: if rows.labels.is_some() { names.clone() } else { Vec::new() },
        })
    }

    /// The outcome with everything but candidates and findings, and its bulk data.
    pub fn outcome(&self, report: &Report, score: f64) -> (Outcome, Vec<Vec<f32>>) {
        let plan = &self.coupling.plan;
        let [x, y] = self.sides.points();
        // X is shown where the plan sends it among Y's points, in the space where they were compared.
        let there = self.coupling.embedded.as_ref().map_or(y, |embedded| &embedded[1]);
        let sent = barycentric(plan, there);
        let aligned = together(&[&sent, there]);
        let backward = Dense::from_fn(plan.cols(), plan.rows(), |i, j| plan.at(j, i));
        let (match_x, confidence_x) = strongest(plan);
        let (match_y, confidence_y) = strongest(&backward);
        let picture = picture(plan, [&aligned[0], &aligned[1]]);
        let side = (picture.len() as f64).sqrt().round() as u32;
        let mut closer: Vec<f32> = closer_shares(plan, self.truth).iter().map(|v| *v as f32).collect();
        closer.sort_by(f32::total_cmp);
        let codes = if self.labelled() { self.codes() } else { [Vec::new(), Vec::new()] };
        let [codes_x, codes_y] = codes;
        let figures = figures(report, score, !self.truth.is_empty(), self.labelled());
        let outcome = Outcome {
            n: plan.rows() as u32,
            m: plan.cols() as u32,
            candidates: Vec::new(),
            shown: 0,
            rival: None,
            figures,
            findings: Vec::new(),
            labels: self.label_columns(),
            picture: side,
            train_s: 0.0,
            infer_s: 0.0,
            new_points: false,
            part: None,
            trained_before: false,
        };
        let whole = |values: Vec<usize>| values.into_iter().map(|v| v as f32).collect::<Vec<f32>>();
        let bulk = vec![
            aligned[0].data().to_vec(),
            aligned[1].data().to_vec(),
            flat(x).data().to_vec(),
            flat(y).data().to_vec(),
            whole(match_x),
            whole(match_y),
            confidence_x,
            confidence_y,
            codes_x,
            codes_y,
            picture,
            closer,
        ];
        (outcome, bulk)
    }
}

/// For each row the strongest column and its share of the row.
fn strongest(plan: &Dense) -> (Vec<usize>, Vec<f32>) {
    (0..plan.rows()).map(|i| two_strongest(plan.row(i))).map(|([first, _], share)| (first, share)).unzip()
}

/// The two strongest columns of a row, and the share of the first.
pub fn two_strongest(row: &[f32]) -> ([usize; 2], f32) {
    let mut top = [(0, f32::MIN), (0, f32::MIN)];
    for (j, &p) in row.iter().enumerate() {
        if p > top[0].1 {
            top = [(j, p), top[0]];
        } else if p > top[1].1 {
            top[1] = (j, p);
        }
    }
    let mass: f32 = row.iter().sum();
    ([top[0].0, top[1].0], if mass > 0.0 { top[0].1 / mass } else { 0.0 })
}

/// The plan as a picture: rows and columns in the order of the aligned view's first coordinate, gathered into squares;
/// 1 is the largest.
fn picture(plan: &Dense, [x, y]: [&Dense; 2]) -> Vec<f32> {
    let side = PICTURE.min(plan.rows()).min(plan.cols()).max(1);
    let places = |points: &Dense| {
        let mut order: Vec<usize> = (0..points.rows()).collect();
        order.sort_by(|a, b| points.at(*a, 0).total_cmp(&points.at(*b, 0)));
        let mut place = vec![0; points.rows()];
        for (at, row) in order.into_iter().enumerate() {
            place[row] = at * side / points.rows();
        }
        place
    };
    let (rows, cols) = (places(x), places(y));
    let mut sums = vec![0f32; side * side];
    for (i, row) in rows.iter().enumerate() {
        plan.row(i).iter().zip(&cols).for_each(|(p, col)| sums[row * side + col] += p);
    }
    let most = sums.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    sums.iter_mut().for_each(|v| *v /= most);
    sums
}

fn figures(report: &Report, score: f64, paired: bool, labelled: bool) -> Vec<FigureRow> {
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

/// Rows of the table of matches whose ids or labels contain the words: all that fit, and those from `from` on.
pub fn matches(
    plan: &Dense,
    rows: &[Rows; 2],
    words: &str,
    from: usize,
    count: usize,
) -> (usize, Vec<MatchRow>) {
    let words = words.trim().to_lowercase();
    let mut total = 0;
    let mut found = Vec::new();
    for i in 0..plan.rows() {
        let ([first, second], confidence) = two_strongest(plan.row(i));
        let row = MatchRow {
            x: i as u32,
            x_id: rows[0].id(i),
            x_label: rows[0].label(i).to_owned(),
            y: first as u32,
            y_id: rows[1].id(first),
            y_label: rows[1].label(first).to_owned(),
            confidence,
            second: second as u32,
            second_id: rows[1].id(second),
        };
        let texts = [&row.x_id, &row.x_label, &row.y_id, &row.y_label];
        if words.is_empty() || texts.iter().any(|text| text.to_lowercase().contains(&words)) {
            if total >= from && found.len() < count {
                found.push(row);
            }
            total += 1;
        }
    }
    (total, found)
}
