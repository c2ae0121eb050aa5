//! A finished run as it is shown: points in the plane, matches with their confidence, figures beside their nulls.

use super::estimate;
use super::figures::{Agreement, Beside, figures};
use super::findings::{Seen, findings, verdict};
use super::recall::Saved;
use super::rows::Rows;
use super::strangers::strangers;
use super::subject::{Looked, Subject};
use super::view::{Heat, flat, together_watched};
use align::geometry::Dense;
use align::procedure::{Alignment, Candidate, Control, Failure, FreshFits, Origin, Start, Watching};
use align::scale::{Cancelled, Matching, Watch};
use schema::{AlignOptions, CandidateRow, FigureRow, MatchRow, Outcome};

/// Elements along an edge of the plan's picture, at most.
const PICTURE: usize = 120;

/// An alignment of two data sets, and everything that is known about it.
pub struct Study {
    pub subject: Subject,
    /// The plan of the candidate that is looked at.
    pub looked: Looked,
    pub options: AlignOptions,
    pub alignment: Alignment,
    /// Which candidate is looked at.
    pub shown: usize,
    /// The rank agreement that unrelated data of this shape would reach, where that was found out.
    pub chance: Option<f64>,
    /// The fits by which the confidence of matches is measured; none where nothing was trained, or too few networks.
    pub fits: Option<FreshFits>,
    /// The encoders, where they were trained in another run.
    pub saved: Option<Saved>,
    /// None where nothing was trained, or not all of it in one go.
    pub train_s: Option<f64>,
    pub infer_s: f64,
}

impl Study {
    pub fn candidate(&self) -> &Candidate {
        &self.alignment.candidates[self.shown.min(self.alignment.candidates.len() - 1)]
    }

    /// The outcome and its bulk data.
    pub async fn outcome(&self, control: &mut impl Control) -> Result<(Outcome, Vec<Vec<f32>>), Failure> {
        let Looked { report, distances: [dx, dy], .. } = &self.looked;
        let (outcome, bulk) = self.looked.outcome(&self.subject, self.agreement(), control).await?;
        let of_labels = strangers(&self.subject.rows);
        let stability = self.looked.stability();
        let seen = Seen {
            sides: &self.subject.sides,
            alignment: &self.alignment,
            agreement: self.agreement(),
            report,
            known: [!self.subject.truth.is_empty(), self.subject.labelled()],
            share: self.looked.readout.typical_share(),
            stability,
            distances: [dx, dy],
            options: &self.options,
        };
        let of_run = findings(&seen, &mut Watching::new(control, "drawing the plan")).await?;
        let outcome = Outcome {
            candidates: self.rows_of_candidates(),
            shown: self.shown as u32,
            rival: self.alignment.rival.map(|rival| rival as u32),
            margin: self.alignment.margin,
            findings: of_labels.into_iter().chain(of_run).collect(),
            verdict: verdict(self.agreement(), &self.alignment, stability),
            trained_before: self.saved.is_some(),
            train_s: self.train_s,
            infer_s: self.infer_s,
            ..outcome
        };
        Ok((outcome, bulk))
    }

    /// The rank agreement of the candidate that is shown, beside that of unrelated data.
    pub fn agreement(&self) -> Agreement {
        Agreement { value: self.candidate().rank_agreement(), chance: self.chance }
    }

    /// The candidate that is looked at, for the record.
    pub fn chosen(&self) -> serde_json::Value {
        let candidate = self.candidate();
        serde_json::json!({
            "candidate": self.shown + 1,
            "of": self.alignment.candidates.len(),
            "encoder": candidate.origin.encoder(),
            "origin": origin(candidate.origin),
            "score": candidate.score,
            "way": estimate::named(self.looked.coupling.way).words(),
        })
    }

    fn rows_of_candidates(&self) -> Vec<CandidateRow> {
        let row = |(place, candidate): (usize, &Candidate)| CandidateRow {
            encoder: candidate.origin.encoder().to_owned(),
            origin: origin(candidate.origin),
            score: candidate.score,
            nuclear_norm: candidate.scores.nuclear_norm,
            third_moment: candidate.scores.third_moment,
            alternative: self.alignment.alternatives.contains(&place),
            difference: candidate.difference,
        };
        self.alignment.candidates.iter().enumerate().map(row).collect()
    }
}

/// Where a candidate comes from, in words.
fn origin(origin: Origin) -> String {
    match origin {
        Origin::Linear { start: Start::Skew } => "a linear map, started from third moments".into(),
        Origin::Linear { start: Start::Fused } => "a linear map, guided by signatures".into(),
        Origin::Linear { start: Start::Signature } => "a linear map, started from signatures".into(),
        Origin::Linear { start: Start::Noise } => "a linear map, started from noise".into(),
        Origin::Linear { start: Start::Network } => "a linear map, refined from networks".into(),
        Origin::Linear { start: Start::Without(left) } => {
            let side = ["X", "Y"][usize::from(left.side)];
            format!("a linear map, fitted without {} rows of {side}", left.rows)
        }
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

impl Looked {
    /// Its figures, with the rank agreement of its candidate.
    pub fn figures(&self, subject: &Subject, agreement: Agreement) -> Vec<FigureRow> {
        let beside = Beside { pairs: subject.truth.len(), labelled: subject.labelled() };
        figures(&self.report, agreement, self.exactness, beside)
    }

    /// The outcome with everything but candidates, findings and times, and its bulk data.
    pub async fn outcome(
        &self,
        subject: &Subject,
        agreement: Agreement,
        control: &mut impl Control,
    ) -> Result<(Outcome, Vec<Vec<f32>>), Failure> {
        let Self { readout, report, coupling, .. } = self;
        let [x, y] = subject.sides.points();
        // X is shown where the plan sends it among Y's points, in the space where they were compared.
        let watch = &mut Watching::new(control, "drawing the plan");
        let aligned = together_watched(&[&readout.projected, subject.there(coupling)], watch).await?;
        let flat = [flat(x, watch).await?, flat(y, watch).await?];
        let picture = picture(&coupling.plan, [&aligned[0], &aligned[1]], watch).await?;
        let side = (picture.len() as f64).sqrt().round() as u32;
        let shares = report.known.as_ref().map(|known| known.closer.as_slice()).unwrap_or_default();
        let mut closer: Vec<f32> = shares.iter().map(|[x, y]| (0.5 * (x + y)) as f32).collect();
        closer.sort_by(f32::total_cmp);
        let coded = subject.coded();
        let [codes_x, codes_y] = [(0, x), (1, y)].map(|(side, points)| coded.shown(side, 0..points.rows()));
        let outcome = Outcome {
            n: x.rows() as u32,
            m: y.rows() as u32,
            candidates: Vec::new(),
            shown: 0,
            rival: None,
            margin: None,
            figures: self.figures(subject, agreement),
            way: estimate::named(coupling.way),
            findings: strangers(&subject.rows).into_iter().collect(),
            verdict: None,
            labels: coded.columns,
            picture: side,
            train_s: None,
            infer_s: 0.0,
            new_points: false,
            part: None,
            trained_before: false,
            ending: None,
        };
        let first = |side: usize, count: usize| -> Vec<f32> {
            let partner = |point| readout.partners[side].strongest(point).map_or(-1.0, |other| other as f32);
            (0..count).map(partner).collect()
        };
        let both = coupling.retained.as_ref();
        let retained = |side: usize| both.map(|both| both[side].mass.clone()).unwrap_or_default();
        let alone = |side: usize| -> Vec<f32> {
            let Some(both) = both else { return Vec::new() };
            (0..both[side].mass.len()).map(|point| f32::from(u8::from(both[side].alone(point)))).collect()
        };
        let bulk = vec![
            aligned[0].data().to_vec(),
            aligned[1].data().to_vec(),
            flat[0].data().to_vec(),
            flat[1].data().to_vec(),
            first(0, x.rows()),
            first(1, y.rows()),
            self.confidence(0),
            self.confidence(1),
            codes_x,
            codes_y,
            picture,
            closer,
            retained(0),
            retained(1),
            alone(0),
            alone(1),
            self.share(0),
            self.share(1),
        ];
        Ok((outcome, bulk))
    }
}

/// The plan as a picture in the order of the aligned view; 1 is the largest.
async fn picture(
    plan: &Matching,
    aligned: [&Dense; 2],
    watch: &mut impl Watch,
) -> Result<Vec<f32>, Cancelled> {
    let mut heat = Heat::new(aligned, PICTURE);
    plan.visit(watch, |tile| heat.add(tile)).await?;
    let mut values = heat.values();
    let most = values.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    values.iter_mut().for_each(|v| *v /= most);
    Ok(values)
}

/// Rows of the table of matches whose ids or labels contain the words: all that fit, and those from `from` on.
pub fn matches(
    looked: &Looked,
    rows: &[Rows; 2],
    words: &str,
    from: usize,
    count: usize,
) -> (usize, Vec<MatchRow>) {
    let words = words.trim().to_lowercase();
    let mut total = 0;
    let mut found = Vec::new();
    let Looked { readout, coupling, .. } = looked;
    let (confidence, share) = (looked.confidence(0), looked.share(0));
    for (i, first) in readout.partners[0].first().into_iter().enumerate() {
        let second = readout.partners[0].second(i).unwrap_or(first);
        let row = MatchRow {
            x: i as u32,
            x_id: rows[0].id(i).to_owned(),
            x_label: rows[0].label(i).to_owned(),
            y: first as u32,
            y_id: rows[1].id(first).to_owned(),
            y_label: rows[1].label(first).to_owned(),
            confidence: confidence.get(i).copied(),
            share: share[i],
            second: second as u32,
            second_id: rows[1].id(second).to_owned(),
            alone: coupling.retained.as_ref().is_some_and(|[x, _]| x.alone(i)),
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
