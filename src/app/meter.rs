//! Watches the page's own work: every redraw, and the frames while a run is on. Looking costs next to nothing, so it
//! is always on; the diagnostics page shows the figures.

use std::cell::RefCell;

use leptos::prelude::*;

use super::state::{Phase, State};
use super::tally::{Gaps, Tally};

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drawing {
    Chart,
    Points,
}

/// All that was seen since the page was opened, or since it was forgotten.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Seen {
    pub(crate) charts: Tally,
    pub(crate) points: Tally,
    pub(crate) frames: Gaps,
}

thread_local! {
    static SEEN: RefCell<Seen> = RefCell::default();
}

pub(crate) fn now() -> f64 {
    window().performance().map_or(0.0, |clock| clock.now())
}

/// Draws, and takes the time of it.
pub(crate) fn timed<T>(what: Drawing, draw: impl FnOnce() -> T) -> T {
    let start = now();
    let drawn = draw();
    let took = now() - start;
    SEEN.with_borrow_mut(|seen| match what {
        Drawing::Chart => seen.charts.add(took),
        Drawing::Points => seen.points.add(took),
    });
    drawn
}

pub(crate) fn seen() -> Seen {
    SEEN.with_borrow(Clone::clone)
}

pub(crate) fn forget() {
    SEEN.take();
}

/// Counts frames from now on, whenever a run is on.
pub(crate) fn watch_frames(state: State) {
    let working = Memo::new(move |_| matches!(state.run.phase.get(), Phase::Loading | Phase::Training));
    Effect::new(move || {
        if working.get() {
            request_animation_frame(move || tick(working));
        } else {
            SEEN.with_borrow_mut(|seen| seen.frames.rest());
        }
    });
}

fn tick(working: Memo<bool>) {
    if working.get_untracked() {
        SEEN.with_borrow_mut(|seen| seen.frames.frame(now()));
        request_animation_frame(move || tick(working));
    }
}
