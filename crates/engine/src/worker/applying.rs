//! Trained encoders applied to rows they have never seen. Nothing is trained here, and nothing is said as if it were.

use std::rc::Rc;

use formats::write::model::Model;

use super::aligning::{Applied, PREPARING, Refusal, Task, nothing_yet};
use super::desk::{Desk, Prepared};
use super::live::Watched;
use super::scope::{now, post};
use align::procedure::{self, Failure as Fault, Settings, Sides, Watching};
use analysis::figures::Agreement;
use analysis::findings::findings_of_new;
use analysis::model;
use analysis::new_rows::{self, Fit};
use analysis::prepare::Raw;
use analysis::rows::{Rows, classed};
use analysis::subject::Subject;
use schema::{Event, NewRows, Outcome, Side, Slot};

/// The phase in which points are embedded.
const EMBEDDING: &str = "embedding";

/// A side as it is embedded.
struct Followed {
    raw: Raw,
    rows: Rows,
    /// Which rows of the table these are, where some were left out.
    kept: Option<Vec<usize>>,
}

impl Task<'_> {
    /// Applies the model, loaded or just trained, to the new points; a side without new points keeps its old ones.
    pub(super) async fn apply(&self) -> Result<(), Refusal> {
        let model = self.model().ok_or_else(|| {
            Refusal::Words("There is no model yet. Align two data sets first, or load a saved model.".into())
        })?;
        self.room_to_apply(&model)?;
        let used = self.desk.borrow().beside_training();
        let (sides, truth) = {
            let desk = self.desk.borrow();
            let side = |side: Side| -> Result<Followed, Refusal> {
                let (slot, prepared) = taken(&desk, side).ok_or_else(nothing_yet)?;
                let fit = follow(&model, side, prepared).map_err(|words| named(side, &words))?;
                let (points, kept) = fit.rows(&prepared.table);
                let remainders = fit.remainders(&prepared.table, kept.as_deref());
                let raw = Raw { points, remainders };
                let rows = desk.rows(slot, side);
                let rows = kept.as_ref().map_or_else(|| rows.clone(), |kept| rows.picked(kept));
                Ok(Followed { raw, rows, kept })
            };
            let sides = [side(Side::X)?, side(Side::Y)?];
            // Pairs are between new rows; where a side keeps its old ones, they say nothing.
            let new = Side::BOTH.iter().all(|side| desk.table(Slot::New(*side)).is_some());
            (sides, if new { desk.pairs(Slot::NewTruth).to_vec() } else { Vec::new() })
        };
        let kept = sides.each_ref().map(|side| side.kept.as_deref());
        let truth = new_rows::moved(truth, kept);
        let [Followed { raw: x, rows: rx, .. }, Followed { raw: y, rows: ry, .. }] = sides;
        let (raw, rows) = ([x, y], classed([rx, ry]));
        let start = now();
        let mut watched = Watched::new(self.runs, self.run);
        let mut embedded = Vec::new();
        for side in Side::BOTH {
            let watch = &mut Watching::new(&mut watched, EMBEDDING);
            let places = model::embed_raw(&model, side.index(), raw[side.index()].clone(), watch).await?;
            if let Some(row) = new_rows::lost(&places) {
                let id = rows[side.index()].name(row);
                return Err(named(
                    side,
                    &format!(
                        "The values of {id} are too far from those of training to be embedded. Check that row, or leave it out."
                    ),
                ));
            }
            embedded.push(places);
        }
        let encoders = model::embedded(&model)?;
        let eps = model.about.eps;
        let settings = Settings { eps, ..self.settings() };
        let [ex, ey] = [&embedded[0], &embedded[1]];
        let relaxation = model::relaxed(&model, &settings);
        let coupling =
            procedure::matched(self.device, &encoders, [ex, ey], &settings, relaxation, &mut watched)
                .await
                .map_err(unmatched)?;
        // Where differences would be lost, rows are measured after what is subtracted from them.
        let [x, y] = raw;
        let (x, y) = (x.begun(&model.sides[0]).1, y.begun(&model.sides[1]).1);
        let sides = Sides::watched(x, y, &mut Watching::new(&mut watched, PREPARING)).await?;
        let value = procedure::plan_spearman(&sides, &settings, &coupling, &mut watched).await?;
        let subject = Subject { sides, rows, truth, settings };
        let looked = subject.look(coupling, &mut watched).await?;
        let (outcome, bulk) =
            looked.outcome(&subject, Agreement { value, chance: None }, &mut watched).await?;
        let mut findings = findings_of_new(value, &looked.report, &self.options());
        findings.extend(outcome.findings);
        let outcome = Outcome { findings, infer_s: (now() - start) / 1000.0, new_points: true, ..outcome };
        self.desk.borrow_mut().applied = Some(Rc::new(Applied { subject, looked, model, used }));
        post(self.run, Event::Aligned(Box::new(outcome)), bulk);
        Ok(())
    }

    fn room_to_apply(&self, model: &Model) -> Result<(), Refusal> {
        let dim = model::embedded(model)?.outputs();
        let tables = {
            let desk = self.desk.borrow();
            Side::BOTH.map(|side| taken(&desk, side).map(|(_, own)| (own.table.rows, own.table.cols)))
        };
        // A side that is missing is told elsewhere.
        let [Some(x), Some(y)] = tables else { return Ok(()) };
        self.room_to_match([x.0, y.0], [x.1, y.1], dim)
    }

    /// Tells whether the new rows can follow those of training, and how.
    pub(super) fn look_at_new_rows(&self) -> Result<(), Refusal> {
        let model = self.model();
        let desk = self.desk.borrow();
        let any = Side::BOTH.iter().any(|side| desk.table(Slot::New(*side)).is_some());
        let sides = Side::BOTH.map(|side| match (&model, taken(&desk, side)) {
            (Some(model), Some((_, prepared))) if any => match follow(model, side, prepared) {
                Ok(fit) => NewRows { said: fit.said, refused: None },
                Err(words) => NewRows { said: Vec::new(), refused: Some(words) },
            },
            (Some(_), None) if any => NewRows {
                said: Vec::new(),
                refused: Some("This side has no rows yet, neither new ones nor those of training.".into()),
            },
            _ => NewRows::default(),
        });
        post(self.run, Event::NewRows(sides), Vec::new());
        Ok(())
    }
}

/// What a side is taken from: its new rows, or those that are loaded for training.
fn taken(desk: &Desk, side: Side) -> Option<(Slot, &Prepared)> {
    [Slot::New(side), Slot::Features(side)].into_iter().find_map(|slot| Some((slot, desk.table(slot)?)))
}

/// The chain is part of the model: rows start from the table as it is.
fn follow(model: &Model, side: Side, prepared: &Prepared) -> Result<Fit, String> {
    new_rows::fit(&model.sides[side.index()], &prepared.table, prepared.missing)
}

fn named(side: Side, words: &str) -> Refusal {
    Refusal::Words(format!("Rows of {}: {words}", side.letter().to_uppercase()))
}

/// A transport without any training that breaks down.
pub(super) fn unmatched(fault: Fault) -> Refusal {
    match fault {
        Fault::Diverged { .. } => Refusal::Words(
            "The rows could not be matched: the encoders put some of them too far from everything they know. \
             Check that the columns hold the same quantities, in the same units, as in training."
                .into(),
        ),
        other => Refusal::Fault(other),
    }
}
