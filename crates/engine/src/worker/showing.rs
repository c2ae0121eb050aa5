//! Another candidate of the last alignment, shown in place of the one before.

use std::rc::Rc;

use super::aligning::{Refusal, Task, nothing_yet};
use super::live::Watched;
use super::scope::{now, post, rest};
use align::procedure::Failure as Fault;
use analysis::outcome::Study;
use analysis::subject::Looked;
use schema::Event;

/// Milliseconds between two looks at whether somebody else still looks at the study.
const LOOK_MS: i32 = 20;

/// What was seen of a candidate, which one it is, and the seconds it took.
type Seen = (Looked, usize, f64);

impl Task<'_> {
    /// Shows another candidate of the last alignment. Until it is there, and if it is given up, the one before stays.
    pub(super) async fn show(&self, candidate: u32) -> Result<(), Refusal> {
        let study = self.desk.borrow().study.clone().ok_or_else(nothing_yet)?;
        let chosen = (candidate as usize).min(study.alignment.candidates.len() - 1);
        let mut watched = Watched::new(self.runs, self.run);
        let start = now();
        let coupling = study.couple(self.device, chosen, &mut watched).await?;
        let looked = study.subject.look(coupling, &mut watched).await?;
        let own = Rc::as_ptr(&study);
        drop(study);
        let mut waiting = (looked, chosen, (now() - start) / 1000.0);
        // A comparison that was given up looks at it until it notices.
        let study = loop {
            match self.replace_looked(own, waiting)? {
                Ok(study) => break study,
                Err(back) => waiting = back,
            }
            rest(LOOK_MS).await;
            if !self.runs.wanted(self.run).await {
                return Err(Fault::Cancelled.into());
            }
        };
        let (outcome, bulk) = study.outcome(&mut watched).await?;
        post(self.run, Event::Aligned(Box::new(outcome)), bulk);
        Ok(())
    }

    /// Puts what was looked at into the study on the desk, unless somebody else is looking at it: then it comes back.
    fn replace_looked(&self, own: *const Study, new: Seen) -> Result<Result<Rc<Study>, Seen>, Refusal> {
        let mut desk = self.desk.borrow_mut();
        let on_desk = desk.study.as_mut().filter(|study| Rc::as_ptr(study) == own);
        // Another alignment may have taken its place.
        let held = on_desk.ok_or(Fault::Cancelled)?;
        let Some(study) = Rc::get_mut(held) else { return Ok(Err(new)) };
        (study.looked, study.shown, study.infer_s) = new;
        let study = held.clone();
        desk.applied = None;
        Ok(Ok(study))
    }
}
