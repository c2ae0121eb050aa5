//! One procedure on one draw of a data set, and the row that is kept of it.

use std::time::Instant;

use align::geometry::Dense;
use align::geometry::panel::Measure;
use align::procedure::{self, Alignment, Candidate, FreshFits, NoControl, Origin, Settings};
use compute::exec::Device;
use pollster::block_on;
use serde_json::{Map, Value, json};

use super::bar::Bar;
use super::calibration::Reliability;
use super::case::{Case, Draw};
use super::data::Data;
use super::score::{Score, score};

/// What is the same for all rows.
pub struct Run {
    pub device: Device,
    pub executor: &'static str,
    pub method: &'static str,
    pub settings: Settings,
    /// How rows and guidance are drawn, but for the seed.
    pub draw: Draw,
    pub show: bool,
}

/// What came out of one procedure.
struct Outcome {
    encoder: &'static str,
    loss: &'static str,
    measure: Measure,
    score: Score,
    /// The label-free scores of what was chosen.
    scores: Vec<(&'static str, f64)>,
    /// What else the data allow, and how far the choice is ahead of what is clearly different.
    alternatives: Vec<Value>,
    margin: Option<f64>,
    /// How well the third moments of two halves of either side agree.
    skewness: Option<[f64; 2]>,
    train_s: f64,
    infer_s: f64,
    /// Seconds that fresh fits took.
    confidence_s: f64,
    steps: u32,
}

/// The scores of a candidate that need no truth.
fn scores(candidate: &Candidate) -> Vec<(&'static str, f64)> {
    candidate.scores.named().into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn object(scores: &[(&'static str, f64)]) -> Value {
    Value::Object(
        scores.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect::<Map<_, _>>(),
    )
}

impl Run {
    /// One complete procedure, scored.
    pub fn one(&self, set: &str, data: &Data, seed: u64) -> Result<Value, String> {
        let settings = Settings { seed, ..self.settings.clone() };
        let bar = Bar::new(format!("{set} seed {seed}"));
        let case =
            data.case(&Draw { seed, ..self.draw }).map_err(|why| format!("{set}, seed {seed}: {why}"))?;
        let alone = self.method == "entropic-gw";
        let done =
            if alone { self.baseline(&case, &settings)? } else { self.learned(&case, &settings, bar)? };
        let Outcome {
            encoder,
            loss,
            measure,
            score,
            scores,
            alternatives,
            margin,
            skewness,
            train_s,
            infer_s,
            confidence_s,
            steps,
        } = done;
        let [n, m] = case.sides.points().map(Dense::rows);
        let way = |both: &Option<[f64; 2]>, side: usize| both.map(|both| both[side]);
        let plan_spearman = scores.iter().find(|(name, _)| *name == "plan_spearman").map(|(_, value)| value);
        let guide = case.guide.iter().flatten().filter(|l| **l != align::metrics::report::UNKNOWN).count();
        Ok(json!({
            "set": set,
            "variant": self.draw.variant.map(super::variant::Variant::name),
            "method": self.method,
            "encoder": encoder,
            "distance": measure.name(),
            "loss": loss,
            "seed": seed,
            "n": n,
            "m": m,
            "pairs": case.pairs.len(),
            "guiding_pairs": case.sides.known().len(),
            "guiding_labels": guide,
            "foscttm_xy": way(&score.foscttm, 0),
            "foscttm_yx": way(&score.foscttm, 1),
            "label_transfer_xy": way(&score.label_transfer, 0),
            "label_transfer_yx": way(&score.label_transfer, 1),
            "exact_match": score.exact,
            "gw_loss": score.gw_loss,
            "null_gw_loss": score.null_gw_loss,
            "plan_spearman": plan_spearman,
            "scores": object(&scores),
            "no_partner_auc": score.no_partner_auc[0],
            "no_partner_auc_y": score.no_partner_auc[1],
            "confidence_reliability": score.reliability.as_ref().map(Reliability::json),
            "alternatives": alternatives,
            "margin": margin,
            "skewness": skewness,
            "train_s": train_s,
            "infer_s": infer_s,
            "confidence_s": confidence_s,
            "steps": steps,
            "executor": self.executor,
        }))
    }

    fn learned(&self, case: &Case, settings: &Settings, mut bar: Bar) -> Result<Outcome, String> {
        let start = Instant::now();
        let alignment = block_on(procedure::align(&self.device, &case.sides, settings, &mut bar))
            .map_err(|error| error.to_string())?;
        let train_s = start.elapsed().as_secs_f64();
        let panel = settings.panel(&case.sides);
        let mut scored = |candidate: &Candidate, fits: Option<&FreshFits>| {
            let start = Instant::now();
            let mut coupling =
                block_on(procedure::infer(&self.device, &case.sides, candidate, settings, &mut bar))
                    .map_err(|error| error.to_string())?;
            if let Some(fits) = fits {
                let sure =
                    fits.confidence(&self.device, &case.sides, settings, candidate, &coupling, &mut bar);
                coupling.confidence = Some(block_on(sure).map_err(|error| error.to_string())?);
            }
            let measure = match candidate.origin {
                Origin::Network { measure, .. } => measure,
                Origin::Linear { .. } | Origin::Saved => panel[0],
            };
            let seconds = start.elapsed().as_secs_f64();
            bar.clear();
            Ok::<_, String>((score(case, &coupling, measure)?, measure, seconds))
        };
        let best = alignment.best();
        let start = Instant::now();
        let fits = block_on(FreshFits::new(&self.device, &case.sides, settings, &alignment, &mut NoControl))
            .map_err(|error| error.to_string())?;
        let confidence_s = start.elapsed().as_secs_f64();
        let (score, measure, infer_s) = scored(best, fits.as_ref())?;
        let mut alternatives = Vec::new();
        if self.show {
            show(&alignment, best, &score);
            if let Some(reliability) = &score.reliability {
                eprintln!("    confidence {confidence_s:.1} s {}", reliability.json());
            }
        }
        for (place, candidate) in alignment.candidates.iter().enumerate().skip(1) {
            let different = alignment.alternatives.contains(&place);
            if !different && !self.show {
                continue;
            }
            let (score, _, _) = scored(candidate, None)?;
            if self.show {
                show(&alignment, candidate, &score);
            }
            if different {
                alternatives.push(json!({
                    "encoder": candidate.origin.encoder(),
                    "origin": format!("{:?}", candidate.origin),
                    "scores": object(&scores(candidate)),
                    "foscttm_xy": score.foscttm.map(|both| both[0]),
                    "foscttm_yx": score.foscttm.map(|both| both[1]),
                    "difference": candidate.difference,
                    "rival": alignment.rival == Some(place),
                }));
            }
        }
        if self.show {
            eprintln!("    {}", bar.phases());
        }
        let (loss, steps) = match best.origin {
            Origin::Network { loss, .. } => (loss.name(), settings.train.steps),
            Origin::Linear { .. } | Origin::Saved => ("schatten", procedure::LINEAR_STEPS),
        };
        let (encoder, scores) = (best.origin.encoder(), scores(best));
        let (margin, skewness) = (alignment.margin, alignment.skewness);
        Ok(Outcome {
            encoder,
            loss,
            measure,
            score,
            scores,
            alternatives,
            margin,
            skewness,
            train_s,
            infer_s,
            confidence_s,
            steps,
        })
    }

    fn baseline(&self, case: &Case, settings: &Settings) -> Result<Outcome, String> {
        let start = Instant::now();
        let (coupling, steps) =
            block_on(procedure::entropic_gw(&self.device, &case.sides, settings, &mut NoControl))
                .map_err(|error| error.to_string())?;
        let train_s = start.elapsed().as_secs_f64();
        let measure = settings.panel(&case.sides)[0];
        let score = score(case, &coupling, measure)?;
        let spearman = block_on(procedure::plan_spearman(&case.sides, settings, &coupling, &mut NoControl))
            .map_err(|error| error.to_string())?;
        Ok(Outcome {
            encoder: "none",
            loss: "classic",
            measure,
            score,
            scores: vec![("plan_spearman", spearman)],
            alternatives: Vec::new(),
            margin: None,
            skewness: None,
            train_s,
            infer_s: 0.0,
            confidence_s: 0.0,
            steps,
        })
    }
}

/// A candidate on a line: by what it is ranked, its scores, and what they are worth.
fn show(alignment: &Alignment, candidate: &Candidate, score: &Score) {
    let named: Vec<String> =
        scores(candidate).iter().map(|(name, value)| format!("{name} {value:.4}")).collect();
    let each: Vec<String> = candidate.spearman.iter().map(|r| format!("{r:.4}")).collect();
    let both = |both: Option<[f64; 2]>| both.unwrap_or([f64::NAN; 2]);
    let ([xy, yx], [lx, ly]) = (both(score.foscttm), both(score.label_transfer));
    let rival = alignment.rival.is_some_and(|rival| std::ptr::eq(&alignment.candidates[rival], candidate));
    eprintln!(
        "    {:.4} {} [{}] FOSCTTM {xy:.4} {yx:.4} labels {lx:.3} {ly:.3} difference {:.3}{} {:?}",
        candidate.score,
        named.join(" "),
        each.join(" "),
        candidate.difference,
        if rival { " (rival)" } else { "" },
        candidate.origin
    );
}
