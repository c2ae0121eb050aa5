//! What hands do to a view: draw a rectangle, move it, pinch it, turn a wheel, press keys.

use leptos::ev::{KeyboardEvent, MouseEvent, PointerEvent, WheelEvent};
use leptos::prelude::*;

use super::zoom::{STEP, Zoom};
use super::{Place, Rect};

/// A drag shorter than this is a click, in CSS pixels; fingers are less steady.
const CLICK: f64 = 4.0;
const TAP: f64 = 10.0;
/// How much a wheel zooms for each pixel it would scroll, and the pixels that count at a time: a notch of a wheel is
/// a hundred, a touchpad sends a few.
const WHEEL: f64 = 0.008;
const NOTCH: f64 = 50.0;
/// Pixels in a line, for wheels that count lines.
const LINE: f64 = 16.0;
/// A press of an arrow key, as a share of the view.
const NUDGE: f64 = 0.1;

/// How a gesture ended.
pub(super) enum Done {
    Nothing,
    /// A click or a tap.
    Click(Place),
    /// A rectangle was drawn.
    Drawn(Rect),
}

/// The hands on one view.
#[derive(Clone, Copy)]
pub(super) struct Hands {
    pub(super) zoom: RwSignal<Zoom>,
    /// Whether a drag moves the view; otherwise it draws a rectangle.
    pub(super) moves: RwSignal<bool>,
    /// The rectangle that is being drawn, from and to.
    pub(super) drawn: RwSignal<Option<(Place, Place)>>,
    /// Where the view is held.
    grip: StoredValue<Option<Place>>,
    /// Where it was pressed; nothing once that cannot become a click.
    pressed: StoredValue<Option<Place>>,
    fingers: StoredValue<Vec<(i32, Place)>>,
}

pub(super) fn place(event: &MouseEvent) -> Place {
    (f64::from(event.offset_x()), f64::from(event.offset_y()))
}

fn is_touch(event: &PointerEvent) -> bool {
    event.pointer_type() == "touch"
}

fn share(at: Place, size: Place) -> Place {
    (at.0 / size.0.max(1.0), at.1 / size.1.max(1.0))
}

fn apart(a: Place, b: Place) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

impl Hands {
    pub(super) fn new() -> Self {
        Self {
            zoom: RwSignal::default(),
            moves: RwSignal::new(false),
            drawn: RwSignal::new(None),
            grip: StoredValue::new(None),
            pressed: StoredValue::new(None),
            fingers: StoredValue::default(),
        }
    }

    /// A button or a finger goes down. Returns whether the view should keep the pointer beyond its edge.
    pub(super) fn down(&self, event: &PointerEvent) -> bool {
        let at = place(event);
        if is_touch(event) {
            self.fingers.update_value(|fingers| fingers.push((event.pointer_id(), at)));
            // One finger scrolls the page unless it is to move the view; two always pinch.
            let alone = self.fingers.with_value(|fingers| fingers.len() == 1);
            self.pressed.set_value(alone.then_some(at));
            self.grip.set_value((alone && self.moves.get_untracked()).then_some(at));
            return false;
        }
        let moves = self.moves.get_untracked() || event.shift_key();
        match event.button() {
            0 if !moves => self.drawn.set(Some((at, at))),
            0 | 1 => {
                // The middle button would scroll by itself.
                event.prevent_default();
                self.grip.set_value(Some(at));
                self.pressed.set_value((event.button() == 0).then_some(at));
            }
            _ => return false,
        }
        true
    }

    /// The pointer moves over a view of this size. Returns whether that was a gesture.
    pub(super) fn over(&self, event: &PointerEvent, size: Place) -> bool {
        let at = place(event);
        if is_touch(event) {
            let before = self.fingers.get_value();
            self.fingers.update_value(|fingers| {
                fingers.iter_mut().filter(|finger| finger.0 == event.pointer_id()).for_each(|f| f.1 = at);
            });
            if let ([(_, a), (_, b)], [(_, c), (_, d)]) = (&before[..], &self.fingers.get_value()[..]) {
                self.pinch([*a, *b], [*c, *d], size);
                return true;
            }
        }
        if let Some(last) = self.grip.get_value() {
            self.grip.set_value(Some(at));
            let by = share((at.0 - last.0, at.1 - last.1), size);
            self.zoom.update(|zoom| *zoom = zoom.moved(by));
            return true;
        }
        if let Some((from, _)) = self.drawn.get_untracked() {
            self.drawn.set(Some((from, at)));
            return true;
        }
        is_touch(event)
    }

    fn pinch(&self, before: [Place; 2], now: [Place; 2], size: Place) {
        let middle = |[a, b]: [Place; 2]| ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0);
        let (from, to) = (middle(before), middle(now));
        let by = apart(now[0], now[1]) / apart(before[0], before[1]).max(1.0);
        let moved = share((to.0 - from.0, to.1 - from.1), size);
        self.zoom.update(|zoom| *zoom = zoom.about(share(from, size), by).moved(moved));
    }

    /// A button or a finger goes up.
    pub(super) fn up(&self, event: &PointerEvent) -> Done {
        let at = place(event);
        self.fingers.update_value(|fingers| fingers.retain(|finger| finger.0 != event.pointer_id()));
        if let Some((from, to)) = self.drawn.get_untracked() {
            self.drawn.set(None);
            let rect = Rect::between(from, to);
            return if rect.extent() > CLICK { Done::Drawn(rect) } else { Done::Click(at) };
        }
        self.grip.set_value(None);
        let pressed = self.pressed.get_value();
        self.pressed.set_value(None);
        let still = if is_touch(event) { TAP } else { CLICK };
        match pressed {
            Some(from) if apart(from, at) <= still => Done::Click(at),
            _ => Done::Nothing,
        }
    }

    /// The browser has taken the pointer away, to scroll for example.
    pub(super) fn lost(&self, event: &PointerEvent) {
        self.fingers.update_value(|fingers| fingers.retain(|finger| finger.0 != event.pointer_id()));
        self.grip.set_value(None);
        self.pressed.set_value(None);
        self.drawn.set(None);
    }

    /// A wheel zooms with Ctrl or ⌘, as touchpads send it when pinched; otherwise it scrolls the page.
    pub(super) fn wheel(&self, event: &WheelEvent, size: Place) {
        if !event.ctrl_key() && !event.meta_key() {
            return;
        }
        event.prevent_default();
        let pixels = if event.delta_mode() == 0 { event.delta_y() } else { event.delta_y() * LINE };
        let by = (-pixels.clamp(-NOTCH, NOTCH) * WHEEL).exp();
        self.zoom.update(|zoom| *zoom = zoom.about(share(place(event), size), by));
    }

    pub(super) fn double(&self, event: &MouseEvent, size: Place) {
        let by = if event.shift_key() { 1.0 / STEP / STEP } else { STEP * STEP };
        self.zoom.update(|zoom| *zoom = zoom.about(share(place(event), size), by));
    }

    /// Nearer or farther, about the middle.
    pub(super) fn step(&self, by: f64) {
        self.zoom.update(|zoom| *zoom = zoom.about((0.5, 0.5), by));
    }

    pub(super) fn whole(&self) {
        self.zoom.set(Zoom::default());
    }

    pub(super) fn key(&self, event: &KeyboardEvent) {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return; // The browser's own.
        }
        let nudge = |by: Place| self.zoom.update(|zoom| *zoom = zoom.moved(by));
        match event.key().as_str() {
            "+" | "=" => self.step(STEP),
            "-" | "_" => self.step(1.0 / STEP),
            "0" => self.whole(),
            "ArrowLeft" => nudge((NUDGE, 0.0)),
            "ArrowRight" => nudge((-NUDGE, 0.0)),
            "ArrowUp" => nudge((0.0, NUDGE)),
            "ArrowDown" => nudge((0.0, -NUDGE)),
            _ => return,
        }
        event.prevent_default();
    }
}
