//! Whether this is a moment in which the page may be loaded anew, and what that would cost.

use leptos::prelude::*;

use super::State;

impl State {
    /// Whether anything is under way that somebody waits for.
    pub(crate) fn busy(&self) -> bool {
        let results = &self.results;
        let others = [results.showing, results.comparing, results.applying, results.exporting];
        let demo = [self.demo.phase, self.demo.check];
        self.files.promised()
            || [self.run.phase].iter().chain(&others).chain(&demo).any(|phase| phase.get().busy())
    }

    /// Whether a training would have to be done again, because it is not kept.
    pub(crate) fn is_unkept(&self) -> bool {
        self.results.trained.with(Option::is_some) && self.run.trains.get() && !self.is_safe()
    }

    /// Whether files of the visitor's own would have to be loaded again, because they are not kept.
    pub(crate) fn would_lose(&self) -> bool {
        (self.has_own() || self.files.own.with(Option::is_some)) && !self.is_safe()
    }
}
