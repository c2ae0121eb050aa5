//! A sample's own encoders, applied to it: a finished alignment at once, without the training.

use std::rc::Rc;

use super::aligning::{Refusal, Task, nothing_yet};
use super::applying::unmatched;
use super::desk;
use super::live::Watched;
use super::scope::{now, post};
use super::source::BlobSource;
use analysis::model;
use analysis::prepare::Raw;
use analysis::recall::{Data, recall};
use analysis::rows::{Rows, classed};
use schema::{AlignOptions, Event, FileRef, Side, Slot};

impl Task<'_> {
    /// Aligns what is loaded by encoders that were trained before.
    pub(super) async fn recall(&self, model: &FileRef) -> Result<(), Refusal> {
        let model = desk::model(&BlobSource::open(model).await?).await?;
        let (rows, truth) = self.beside();
        let used = self.desk.borrow_mut().inputs.begin();
        let [x, y] = {
            let desk = self.desk.borrow();
            Side::BOTH.map(|side| desk.table(Slot::Features(side)).map(|t| (t.table.rows, t.table.cols)))
        };
        let (x, y) = (x.ok_or_else(nothing_yet)?, y.ok_or_else(nothing_yet)?);
        self.room_to_match([x.0, y.0], [x.1, y.1], model::embedded(&model)?.outputs())?;
        let tables = {
            let desk = self.desk.borrow();
            let table =
                |side| desk.table(Slot::Features(side)).map(|t| Raw::from(&t.table)).ok_or_else(nothing_yet);
            [table(Side::X)?, table(Side::Y)?]
        };
        let mut watched = Watched::new(self.runs, self.run);
        let sides = self.sides(&AlignOptions::default(), &[], &mut watched).await?;
        let start = now();
        let mut study = recall(self.device, Data { sides, rows, truth, tables }, model, &mut watched)
            .await
            .map_err(unmatched)?;
        study.infer_s = (now() - start) / 1000.0;
        let (outcome, bulk) = study.outcome(&mut watched).await?;
        let mut desk = self.desk.borrow_mut();
        desk.study = Some(Rc::new(study));
        desk.used = used;
        // Pairs made by hand were those of another run.
        desk.made = Vec::new();
        desk.applied = None;
        post(self.run, Event::Aligned(Box::new(outcome)), bulk);
        Ok(())
    }

    /// What is known beside the points: ids and labels of both sides' rows, and the true pairs.
    pub(super) fn beside(&self) -> ([Rows; 2], Vec<(usize, usize)>) {
        let desk = self.desk.borrow();
        let rows = classed(Side::BOTH.map(|side| desk.rows(Slot::Features(side), side)));
        (rows, desk.pairs(Slot::Truth).to_vec())
    }
}
