//! A view by keyboard: Enter goes from the view to its points, arrows from point to point, and each is said aloud.

use std::sync::Arc;

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::Place;
use super::hands::Hands;
use super::linked::Linked;
use super::scene::Scene;
use super::walk::{Point, Points, Way};
use super::words::words;
use crate::app::state::{Shown, State};
use schema::Side;

/// What can be done, in words.
pub(super) const HELP: &str = "Plus and minus zoom, 0 shows everything, arrows move. Enter goes to the points: \
     arrows then go from point to point, Page Up and Page Down from row to row, Enter chooses, Escape ends it.";

/// The keyboard on one view.
#[derive(Clone, Copy)]
pub(super) struct Keys {
    /// The point it is at; none while keys move the view.
    pub(super) at: RwSignal<Option<Point>>,
    /// What was said last. Only what the keyboard does is said: a pointer would never be silent.
    pub(super) said: RwSignal<String>,
    pub(super) scene: StoredValue<Scene, LocalStorage>,
    pub(super) hands: Hands,
    pub(super) linked: Linked,
    pub(super) state: State,
    /// Where the tooltip is, and what it names.
    pub(super) pointer: RwSignal<Option<(Place, Point)>>,
}

impl Keys {
    /// A key was pressed while a view of this size had the focus.
    pub(super) fn key(&self, event: &KeyboardEvent, size: Place) {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return; // The browser's own.
        }
        // On a button of the view Enter presses it.
        if event.target() != event.current_target() {
            return self.hands.key(event);
        }
        match (event.key().as_str(), self.at.get_untracked()) {
            ("Enter", None) => self.enter(size),
            ("Enter" | " ", Some(point)) => self.choose(point),
            ("Escape", Some(_)) => {
                // A selection stays; the next Escape ends it.
                event.stop_propagation();
                self.leave("Back at the view.");
            }
            ("PageDown" | "PageUp", Some(point)) => {
                let back = event.key() == "PageUp";
                self.go(self.with_points(|points, frame| points.row(frame, point, back)), size);
            }
            (key, Some(point)) if Way::of_key(key).is_some() => {
                let Some(way) = Way::of_key(key) else { return };
                self.go(self.with_points(|points, frame| points.next(frame, point, way)), size);
            }
            _ => return self.hands.key(event),
        }
        event.prevent_default();
    }

    /// The points as they are drawn now.
    fn with_points<T>(&self, look: impl FnOnce(&Points, &super::Frame) -> Option<T>) -> Option<T> {
        self.scene.with_value(|scene| {
            // Only the points of a result have names.
            scene.cloud.shown()?;
            let points = Points(Side::BOTH.map(|side| scene.cloud.points(side)));
            look(&points, scene.frame.as_ref()?)
        })
    }

    /// Goes to the point that is pointed at already, else to the one nearest to the middle.
    fn enter(&self, size: Place) {
        let ratio = window().device_pixel_ratio();
        let middle = (size.0 * ratio / 2.0, size.1 * ratio / 2.0);
        let hovered = self.linked.hover.get_untracked();
        let start = self.with_points(|points, frame| {
            hovered
                .filter(|point| points.place(frame, *point).is_some())
                .or_else(|| points.nearest(frame, middle))
        });
        match start {
            Some(_) => self.go(start, size),
            None => self.said.set("There are no points to go to yet.".into()),
        }
    }

    fn go(&self, point: Option<Point>, size: Place) {
        let Some(point) = point else { return self.said.set("There is no point farther that way.".into()) };
        let ratio = window().device_pixel_ratio();
        let place = self.with_points(|points, frame| points.place(frame, point));
        let Some(mut place) = place.map(|(x, y)| (x / ratio, y / ratio)) else { return };
        let inside = (0.0..size.0).contains(&place.0) && (0.0..size.1).contains(&place.1);
        if !inside {
            // The view follows, so that what is said can be seen.
            let by = (0.5 - place.0 / size.0.max(1.0), 0.5 - place.1 / size.1.max(1.0));
            self.hands.zoom.update(|zoom| *zoom = zoom.moved(by));
            place = (size.0 / 2.0, size.1 / 2.0);
        }
        self.at.set(Some(point));
        self.linked.hover.set(Some(point));
        self.pointer.set(Some((place, point)));
        let told = self.scene.with_value(|scene| {
            scene.cloud.shown().map(|shown| untrack(|| words(self.state.results, shown, point.0, point.1)))
        });
        if let Some((one, other)) = told {
            self.said.set(match other {
                Some(other) => format!("{one}, {other}"),
                None => one,
            });
        }
    }

    /// Makes it part of a pair, or selects it with its match.
    fn choose(&self, (side, row): Point) {
        if self.state.pairs.making.get_untracked() {
            return self.state.choose_point(side, row);
        }
        let chosen = self.scene.with_value(|scene| scene.cloud.shown().map(|shown| pair(shown, (side, row))));
        if let Some(chosen) = chosen {
            self.linked.selection.set(Some(Arc::new(chosen)));
            self.said.set("Selected, with its match.".into());
        }
    }

    /// Keys move the view again.
    pub(super) fn leave(&self, words: &str) {
        let Some(point) = self.at.get_untracked() else { return };
        self.at.set(None);
        self.said.set(words.into());
        self.pointer.set(None);
        if self.linked.hover.get_untracked() == Some(point) {
            self.linked.hover.set(None);
        }
    }
}

/// A point and its match, and nothing else.
fn pair(shown: &Shown, (side, row): Point) -> [Vec<bool>; 2] {
    let mut chosen = [shown.outcome.n, shown.outcome.m].map(|count| vec![false; count as usize]);
    for (side, row) in [(side.index(), Some(row)), (1 - side.index(), shown.partner(side, row))] {
        if let Some(place) = row.and_then(|row| chosen[side].get_mut(row)) {
            *place = true;
        }
    }
    chosen
}
