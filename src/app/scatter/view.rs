//! One view: a canvas with the points, drawn when they change, and a canvas above it for what follows the pointer.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::ev::{FocusEvent, KeyboardEvent, MouseEvent, PointerEvent, WheelEvent};
use leptos::html::Canvas;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::cloud::Cloud;
use super::hands::{Done, Hands};
use super::keys::{HELP, Keys};
use super::linked::Linked;
use super::overlay::Over;
use super::scene::Scene;
use super::walk::Point;
use super::words::words;
use super::zoom::STEP;
use super::{Place, Rect};
use crate::app::canvas::{Redraw, fit_to_screen, on_frame};
use crate::app::meter::{Drawing, timed};
use crate::app::state::State;

/// How far from a point the pointer may be, in CSS pixels; a finger is less exact.
const REACH: f64 = 12.0;
const FINGER: f64 = 22.0;

#[component]
pub(crate) fn Scatter(
    #[prop(into)] cloud: Signal<Cloud, LocalStorage>,
    linked: Linked,
    state: State,
    redraw: Redraw,
    testid: &'static str,
    /// What it is called.
    #[prop(into)]
    title: Signal<String>,
    /// What is to be seen, for those who do not see it.
    #[prop(into)]
    about: Signal<String>,
) -> impl IntoView {
    let base = NodeRef::<Canvas>::new();
    let above = NodeRef::<Canvas>::new();
    let scene = StoredValue::new_local(Scene::new(Cloud::Nothing));
    let hands = Hands::new();
    // Where the tooltip is, and what it names.
    let pointer = RwSignal::new(None::<(Place, Point)>);
    let keys =
        Keys { at: RwSignal::new(None), said: RwSignal::default(), scene, hands, linked, state, pointer };
    follow_result(cloud, hands, keys);

    on_frame(
        move || {
            redraw.track();
            cloud.track();
            hands.zoom.track();
            linked.colouring.track();
            linked.selection.track();
            base.track();
        },
        move || {
            let Some(canvas) = base.get_untracked() else { return };
            let Some(ratio) = fit_to_screen(&canvas) else { return };
            let (cloud, zoom) = (cloud.get_untracked(), hands.zoom.get_untracked());
            linked.zooms.update_value(|zooms| {
                zooms.insert(testid, zoom);
            });
            scene.update_value(|scene| {
                if !scene.cloud.is(&cloud) {
                    *scene = Scene::new(cloud);
                }
                timed(Drawing::Points, || scene.draw(&canvas, &zoom, linked, ratio));
            });
        },
    );
    on_frame(
        move || {
            redraw.track();
            cloud.track();
            hands.zoom.track();
            linked.hover.track();
            linked.lines.track();
            linked.selection.track();
            hands.drawn.track();
            state.pairs.list.track();
            state.pairs.half.track();
            above.track();
        },
        move || {
            let Some(canvas) = above.get_untracked() else { return };
            let Some(ratio) = fit_to_screen(&canvas) else { return };
            let rect = hands.drawn.get_untracked().map(|(from, to)| Rect::between(from, to));
            let known = untrack(|| state.can_pair()).then_some(state.pairs);
            scene.with_value(|scene| Over { linked, known, rect }.draw(&canvas, scene, ratio));
        },
    );

    let size = move || {
        let canvas = above.get_untracked();
        canvas.map_or((1.0, 1.0), |c| (f64::from(c.client_width()), f64::from(c.client_height())))
    };
    let find = move |at: Place, reach: f64| {
        let ratio = window().device_pixel_ratio();
        let mut found = None;
        scene.update_value(|scene| found = scene.nearest((at.0 * ratio, at.1 * ratio), reach * ratio));
        found
    };
    let point_at = move |at: Place, found: Option<Point>| {
        pointer.set(found.map(|found| (at, found)));
        if linked.hover.get_untracked() != found {
            linked.hover.set(found);
        }
    };
    let over = move |event: PointerEvent| {
        if !hands.over(&event, size()) {
            let at = super::hands::place(&event);
            point_at(at, find(at, REACH));
        }
    };
    let down = move |event: PointerEvent| {
        if let (true, Some(canvas)) = (hands.down(&event), above.get_untracked()) {
            // Without it a drag that leaves the canvas would not end.
            let _ = canvas.set_pointer_capture(event.pointer_id());
        }
    };
    let up = move |event: PointerEvent| {
        let touch = event.pointer_type() == "touch";
        match hands.up(&event) {
            Done::Nothing => {}
            Done::Click(at) => {
                // There is no hovering finger: a tap names the point, until another tap.
                let found = find(at, if touch { FINGER } else { REACH });
                if touch {
                    point_at(at, found);
                }
                match found {
                    Some((side, row)) if state.pairs.making.get_untracked() => state.choose_point(side, row),
                    _ if touch => {}
                    _ => linked.selection.set(None),
                }
            }
            Done::Drawn(rect) => {
                let ratio = window().device_pixel_ratio();
                linked.selection.set(scene.with_value(|scene| {
                    scene.frame.as_ref().and_then(|frame| scene.cloud.select(frame, &rect.scaled(ratio)))
                }));
            }
        }
    };
    let left = move |event: PointerEvent| {
        if event.pointer_type() != "touch" {
            pointer.set(None);
            linked.hover.set(None);
        }
    };
    let tip = move || {
        // Something else may have been pointed at since, in another view or in the table.
        let ((x, y), (side, row)) = pointer.get().filter(|(_, named)| linked.hover.get() == Some(*named))?;
        let (one, other) =
            cloud.with(|cloud| cloud.shown().map(|shown| words(state.results, shown, side, row)))?;
        let [left, top, transform] = super::tip::place((x, y), size());
        Some(view! {
            <div class="tip" style:left=left style:top=top style:transform=transform data-testid="tooltip">
                <strong>{one}</strong>
                {other.map(|other| view! { <span>{other}</span> })}
            </div>
        })
    };
    // Gone from the view, and not only to one of its buttons.
    let blurred = move |event: FocusEvent| {
        let inside = event.related_target().zip(event.current_target()).is_some_and(|(to, view)| {
            let (to, view) = (to.dyn_into::<web_sys::Node>(), view.dyn_into::<web_sys::Node>());
            matches!((to, view), (Ok(to), Ok(view)) if view.contains(Some(&to)))
        });
        if !inside {
            keys.leave("");
        }
    };
    let times = move || format!("{:.3}", hands.zoom.get().times);
    let middle = move || hands.zoom.with(|zoom| format!("{:.4} {:.4}", zoom.centre.0, zoom.centre.1));
    view! {
        <div
            class="scatter"
            class:moves=hands.moves
            class:pairs=state.pairs.making
            // Its keys are its own: a screen reader hands them on.
            role="application"
            tabindex="0"
            aria-label=title
            aria-roledescription="view of points"
            aria-describedby=format!("about-{testid} keys-{testid}")
            data-view=testid
            on:keydown=move |event: KeyboardEvent| keys.key(&event, size())
            on:focusout=blurred
        >
            <canvas
                class="points"
                node_ref=base
                role="img"
                aria-label=title
                aria-describedby=format!("about-{testid}")
                data-testid=testid
                data-zoom=times
                data-centre=middle
            ></canvas>
            <canvas
                class="overlay"
                node_ref=above
                aria-hidden="true"
                on:pointermove=over
                on:pointerdown=down
                on:pointerup=up
                on:pointercancel=move |event: PointerEvent| hands.lost(&event)
                on:pointerleave=left
                on:wheel=move |event: WheelEvent| hands.wheel(&event, size())
                on:dblclick=move |event: MouseEvent| hands.double(&event, size())
            ></canvas>
            <span class="unseen" id=format!("about-{testid}") data-testid=format!("about-{testid}")>{about}</span>
            <span class="unseen" id=format!("keys-{testid}")>{HELP}</span>
            <span class="unseen" aria-live="polite" data-testid=format!("said-{testid}")>{keys.said}</span>
            <ZoomButtons hands title/>
            {tip}
        </div>
    }
}

/// A result is seen whole at first: what was looked at before is not there any more.
fn follow_result(cloud: Signal<Cloud, LocalStorage>, hands: Hands, keys: Keys) {
    Effect::new(move |before: Option<Cloud>| {
        let now = cloud.get();
        let still_moving = matches!((&before, &now), (Some(Cloud::Moving(_)), Cloud::Moving(_)));
        if !still_moving && before.is_some_and(|before| !before.is(&now)) {
            hands.whole();
            keys.leave("");
        }
        now
    });
}

#[component]
fn ZoomButtons(hands: Hands, title: Signal<String>) -> impl IntoView {
    let whole = move || hands.zoom.with(|zoom| zoom.is_whole());
    let nearest = move || hands.zoom.with(|zoom| zoom.at_end().0);
    let farthest = move || hands.zoom.with(|zoom| zoom.at_end().1);
    // Every view has the same buttons: each says of which it is.
    let of = move |what: &'static str| move || format!("{what} {}", title.get());
    view! {
        <div class="zoom">
            <button type="button" data-testid="zoom-in" title="Nearer (+, or Ctrl and the wheel)" aria-label=of("Zoom in on")
                disabled=nearest on:click=move |_| hands.step(STEP)>"+"</button>
            <button type="button" data-testid="zoom-out" title="Farther (−)" aria-label=of("Zoom out of")
                disabled=farthest on:click=move |_| hands.step(1.0 / STEP)>"−"</button>
            <button type="button" data-testid="zoom-fit" title="Show everything (0)" aria-label=of("Show everything of")
                disabled=whole on:click=move |_| hands.whole()>"⤢"</button>
            <button type="button" data-testid="zoom-move" title="Dragging moves the view; otherwise Shift does"
                aria-label=of("Move by dragging:") aria-pressed=move || hands.moves.get().to_string()
                on:click=move |_| hands.moves.update(|moves| *moves = !*moves)>"✥"</button>
        </div>
    }
}
