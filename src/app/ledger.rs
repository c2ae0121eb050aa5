//! Which run each activity of the page is waiting for; events of any other run are stale.

use std::collections::HashMap;

use schema::{RunId, Slot};

/// The things the page has the worker do. Each has at most one current run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activity {
    Open,
    Demo,
    SelfCheck,
    /// Whatever happens to one slot: reading a file into it, or emptying it.
    Load(Slot),
    Align,
    /// What the next alignment would take.
    Estimate,
    Show,
    Compare,
    /// Whether new rows can follow those of training.
    NewRows,
    Apply,
    /// A page of the table of matches.
    Matches,
    /// The ids of points, for the tooltips.
    Ids,
    Export,
}

impl Activity {
    /// Whether coming to its end shows that the worker and its device are well.
    pub fn computes(self) -> bool {
        matches!(self, Self::Demo | Self::SelfCheck | Self::Align | Self::Show | Self::Compare | Self::Apply)
    }
}

/// Hands out runs and remembers the current one of each activity.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    last: u32,
    current: HashMap<Activity, RunId>,
}

impl Ledger {
    /// A new run for the activity, and the run it replaces.
    pub fn begin(&mut self, activity: Activity) -> (RunId, Option<RunId>) {
        self.last += 1;
        let run = RunId(self.last);
        (run, self.current.insert(activity, run))
    }

    pub fn current(&self, activity: Activity) -> Option<RunId> {
        self.current.get(&activity).copied()
    }

    /// The activity whose current run this is; `None` means that the event is stale.
    pub fn activity_of(&self, run: RunId) -> Option<Activity> {
        self.current.iter().find(|(_, current)| **current == run).map(|(activity, _)| *activity)
    }

    /// Gives an activity up: whatever its run still says is stale. Returns the run.
    pub fn drop_run(&mut self, activity: Activity) -> Option<RunId> {
        self.current.remove(&activity)
    }

    /// Forgets all runs: the worker that had them is gone.
    pub fn clear(&mut self) {
        self.current.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::Side;

    #[test]
    fn a_replaced_run_is_stale() {
        let mut ledger = Ledger::default();
        let (first, none) = ledger.begin(Activity::Demo);
        assert_eq!(none, None);
        let (check, _) = ledger.begin(Activity::SelfCheck);
        let (second, replaced) = ledger.begin(Activity::Demo);
        assert_eq!(replaced, Some(first));
        assert_eq!(ledger.activity_of(first), None);
        assert_eq!(ledger.activity_of(second), Some(Activity::Demo));
        assert_eq!(ledger.activity_of(check), Some(Activity::SelfCheck));
    }

    #[test]
    fn every_slot_reads_by_itself() {
        let mut ledger = Ledger::default();
        let (x, _) = ledger.begin(Activity::Load(Slot::Features(Side::X)));
        let (y, replaced) = ledger.begin(Activity::Load(Slot::Features(Side::Y)));
        assert_eq!(replaced, None);
        let (labels, _) = ledger.begin(Activity::Load(Slot::Labels(Side::X)));
        assert_eq!(ledger.activity_of(x), Some(Activity::Load(Slot::Features(Side::X))));
        assert_eq!(ledger.activity_of(y), Some(Activity::Load(Slot::Features(Side::Y))));
        assert_eq!(ledger.activity_of(labels), Some(Activity::Load(Slot::Labels(Side::X))));
    }

    #[test]
    fn a_run_that_was_given_up_is_stale_and_the_others_are_not() {
        let mut ledger = Ledger::default();
        let (run, _) = ledger.begin(Activity::Align);
        let (table, _) = ledger.begin(Activity::Matches);
        assert_eq!(ledger.drop_run(Activity::Align), Some(run));
        assert_eq!(ledger.drop_run(Activity::Align), None);
        assert_eq!(ledger.activity_of(run), None);
        assert_eq!(ledger.activity_of(table), Some(Activity::Matches));
    }

    #[test]
    fn nothing_survives_the_worker_and_runs_are_never_reused() {
        let mut ledger = Ledger::default();
        let (first, _) = ledger.begin(Activity::Open);
        ledger.clear();
        assert_eq!(ledger.activity_of(first), None);
        assert_eq!(ledger.activity_of(RunId::WORKER), None);
        assert_ne!(ledger.begin(Activity::Open).0, first);
    }
}
