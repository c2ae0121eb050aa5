//! Which run each activity of the page is waiting for; events of any other run are stale.

use crate::protocol::RunId;

/// The things the page has the worker do. Each has at most one current run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    Open,
    Demo,
    SelfCheck,
}

const ACTIVITIES: usize = 3;

/// Hands out runs and remembers the current one of each activity.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    last: u32,
    current: [Option<RunId>; ACTIVITIES],
}

impl Ledger {
    /// A new run for the activity, and the run it replaces.
    pub fn begin(&mut self, activity: Activity) -> (RunId, Option<RunId>) {
        self.last += 1;
        let run = RunId(self.last);
        (run, self.current[activity as usize].replace(run))
    }

    pub fn current(&self, activity: Activity) -> Option<RunId> {
        self.current[activity as usize]
    }

    /// The activity whose current run this is; `None` means that the event is stale.
    pub fn activity_of(&self, run: RunId) -> Option<Activity> {
        [Activity::Open, Activity::Demo, Activity::SelfCheck]
            .into_iter()
            .find(|activity| self.current(*activity) == Some(run))
    }

    /// Forgets all runs: the worker that had them is gone.
    pub fn clear(&mut self) {
        self.current = Default::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn nothing_survives_the_worker_and_runs_are_never_reused() {
        let mut ledger = Ledger::default();
        let (first, _) = ledger.begin(Activity::Open);
        ledger.clear();
        assert_eq!(ledger.activity_of(first), None);
        assert_eq!(ledger.activity_of(RunId::WORKER), None);
        assert_ne!(ledger.begin(Activity::Open).0, first);
    }
}
