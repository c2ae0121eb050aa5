//! One view: a canvas with the points, drawn when they change, and a canvas above it for what follows the pointer.
#![allow(unreachable_pub)] // The component macro makes public items.

use std::sync::Arc;

use leptos::html::Canvas;
use leptos::prelude::*;
use web_sys::{HtmlCanvasElement, PointerEvent};

use super::{Frame, Rect, paint};
use crate::app::canvas::{Redraw, context, fit_to_screen, is_dark, on_frame, theme_css};
use crate::app::palette;
use crate::app::state::{Moving, Results, Shown};
use crate::protocol::Side;

/// What colours mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Colouring {
    #[default]
    Domain,
    Label,
    Confidence,
}

/// Which points of X and of Y are selected.
pub(crate) type Selection = Arc<[Vec<bool>; 2]>;

/// What all views have in common.
#[derive(Clone, Copy)]
pub(crate) struct Linked {
    pub(crate) hover: RwSignal<Option<(Side, usize)>>,
    pub(crate) selection: RwSignal<Option<Selection>>,
    pub(crate) colouring: RwSignal<Colouring>,
    /// Whether matched pairs are joined by lines.
    pub(crate) lines: RwSignal<bool>,
}

impl Linked {
    pub(crate) fn new() -> Self {
        Self {
            hover: RwSignal::new(None),
            selection: RwSignal::new(None),
            colouring: RwSignal::default(),
            lines: RwSignal::new(false),
        }
    }
}

/// The points of a view.
#[derive(Clone)]
pub(crate) enum Cloud {
    Nothing,
    /// Both sides while a network is trained.
    Moving(Arc<Moving>),
    /// Both sides in the common space.
    Aligned(Arc<Shown>),
    /// One side by itself.
    Alone(Arc<Shown>, Side),
}

impl Cloud {
    fn points(&self, side: Side) -> &[f32] {
        match self {
            Self::Moving(moving) => [&moving.x, &moving.y][side.index()],
            Self::Aligned(shown) => &shown.aligned[side.index()],
            Self::Alone(shown, only) if *only == side => &shown.alone[side.index()],
            _ => &[],
        }
    }

    fn labels(&self, side: Side) -> &[f32] {
        match self {
            Self::Moving(moving) => [&moving.x_labels, &moving.y_labels][side.index()],
            Self::Aligned(shown) | Self::Alone(shown, _) => &shown.labels[side.index()],
            Self::Nothing => &[],
        }
    }

    fn shown(&self) -> Option<&Shown> {
        match self {
            Self::Aligned(shown) | Self::Alone(shown, _) => Some(shown),
            _ => None,
        }
    }

    fn colours(&self, side: Side, colouring: Colouring, dark: bool) -> Vec<palette::Rgb> {
        let count = self.points(side).len() / 2;
        let plain = crate::app::canvas::theme_colour(["--x", "--y"][side.index()]);
        let plain = [plain.0, plain.1, plain.2];
        let values: &[f32] = match colouring {
            Colouring::Domain => &[],
            Colouring::Label => self.labels(side),
            Colouring::Confidence => self.shown().map_or(&[], |shown| &shown.confidence[side.index()]),
        };
        if values.len() < count {
            return vec![plain; count];
        }
        let colour = |value: &f32| match colouring {
            Colouring::Confidence => palette::confidence(*value, dark),
            _ => palette::label(*value, dark),
        };
        values.iter().take(count).map(colour).collect()
    }

    /// Points and their matches inside a rectangle of the canvas.
    fn select(&self, frame: &Frame, rect: &Rect) -> Option<Selection> {
        let shown = self.shown()?;
        let sizes = [shown.outcome.n as usize, shown.outcome.m as usize];
        let mut chosen = sizes.map(|size| vec![false; size]);
        for side in Side::BOTH {
            let inside = frame.inside(self.points(side), rect);
            for row in inside.iter().enumerate().filter(|(_, inside)| **inside).map(|(row, _)| row) {
                mark(&mut chosen[side.index()], Some(row));
                mark(&mut chosen[1 - side.index()], shown.partner(side, row));
            }
        }
        chosen.iter().flatten().any(|chosen| *chosen).then(|| Arc::new(chosen))
    }
}

fn mark(chosen: &mut [bool], row: Option<usize>) {
    if let Some(place) = row.and_then(|row| chosen.get_mut(row)) {
        *place = true;
    }
}

/// A point in words: its side, its id or row, its label.
pub(crate) fn describe(results: &Results, shown: &Shown, side: Side, row: usize) -> String {
    let letter = side.letter().to_uppercase();
    let id = results.ids.with(|ids| ids[side.index()].get(&(row as u32)).cloned());
    let name = id.unwrap_or_else(|| format!("row {}", row + 1));
    match shown.label(side, row) {
        Some(label) if label != name => format!("{letter}: {name} ({label})"),
        _ => format!("{letter}: {name}"),
    }
}

/// How far from a point the pointer may be, in CSS pixels.
const REACH: f64 = 12.0;
/// A drag shorter than this is a click.
const CLICK: f64 = 4.0;
/// At most so many lines between pairs.
const LINES: usize = 300;
const MARGIN: f64 = 16.0;

#[component]
pub(crate) fn Scatter(
    #[prop(into)] cloud: Signal<Cloud, LocalStorage>,
    linked: Linked,
    results: Results,
    redraw: Redraw,
    testid: &'static str,
    /// What is to be seen, for those who do not see it.
    #[prop(into)]
    about: Signal<String>,
) -> impl IntoView {
    let base = NodeRef::<Canvas>::new();
    let overlay = NodeRef::<Canvas>::new();
    let frame = StoredValue::new(None::<Frame>);
    let pointer = RwSignal::new(None::<(f64, f64)>);
    let drag = RwSignal::new(None::<((f64, f64), (f64, f64))>);

    on_frame(
        move || {
            redraw.track();
            cloud.track();
            linked.colouring.track();
            linked.selection.track();
            base.track();
        },
        move || {
            let Some(canvas) = base.get_untracked() else { return };
            let Some(ratio) = fit_to_screen(&canvas) else { return };
            cloud.with_untracked(|cloud| {
                frame.set_value(draw_points(&canvas, cloud, linked, ratio));
            });
        },
    );
    on_frame(
        move || {
            redraw.track();
            cloud.track();
            linked.hover.track();
            linked.lines.track();
            linked.selection.track();
            drag.track();
            overlay.track();
        },
        move || {
            let Some(canvas) = overlay.get_untracked() else { return };
            let Some(ratio) = fit_to_screen(&canvas) else { return };
            let rect = drag.get_untracked().map(|(from, to)| Rect::between(from, to));
            if let Some(frame) = frame.get_value() {
                cloud.with_untracked(|cloud| draw_overlay(&canvas, cloud, &frame, linked, rect, ratio));
            }
        },
    );

    let place = |event: &PointerEvent| (f64::from(event.offset_x()), f64::from(event.offset_y()));
    let moved = move |event: PointerEvent| {
        let at = place(&event);
        if let Some((from, _)) = drag.get_untracked() {
            drag.set(Some((from, at)));
            return;
        }
        let (Some(frame), ratio) = (frame.get_value(), window().device_pixel_ratio()) else { return };
        let found = cloud.with_untracked(|cloud| {
            cloud.shown()?;
            let scaled = (at.0 * ratio, at.1 * ratio);
            Side::BOTH
                .into_iter()
                .filter_map(|side| {
                    let (row, far) = frame.nearest(cloud.points(side), scaled, REACH * ratio)?;
                    Some((far, (side, row)))
                })
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .map(|(_, found)| found)
        });
        pointer.set(found.map(|_| at));
        if linked.hover.get_untracked() != found {
            linked.hover.set(found);
        }
    };
    let pressed = move |event: PointerEvent| {
        if event.pointer_type() == "touch" || event.button() != 0 {
            return; // A finger scrolls the page.
        }
        let at = place(&event);
        drag.set(Some((at, at)));
        if let Some(canvas) = overlay.get_untracked() {
            // Without it a drag that leaves the canvas would not end.
            let _ = canvas.set_pointer_capture(event.pointer_id());
        }
    };
    let released = move |_: PointerEvent| {
        let Some((from, to)) = drag.get_untracked() else { return };
        drag.set(None);
        let ratio = window().device_pixel_ratio();
        let rect = Rect::between((from.0 * ratio, from.1 * ratio), (to.0 * ratio, to.1 * ratio));
        let chosen = match frame.get_value() {
            Some(frame) if rect.extent() > CLICK * ratio => {
                cloud.with_untracked(|cloud| cloud.select(&frame, &rect))
            }
            _ => None,
        };
        linked.selection.set(chosen);
    };
    let left = move |_: PointerEvent| {
        pointer.set(None);
        linked.hover.set(None);
    };
    let tip = move || {
        let (x, y) = pointer.get()?;
        let (side, row) = linked.hover.get()?;
        let (one, other) = cloud.with(|cloud| {
            let shown = cloud.shown()?;
            let partner = shown.partner(side, row).map(|partner| {
                let other = Side::BOTH[1 - side.index()];
                let sure = shown.confidence[side.index()].get(row).copied().unwrap_or(f32::NAN);
                let sure = if sure.is_finite() { format!(", confidence {sure:.2}") } else { String::new() };
                format!("matched with {}{sure}", describe(&results, shown, other, partner))
            });
            Some((describe(&results, shown, side, row), partner))
        })?;
        let flip = base.get_untracked().is_some_and(|canvas| x > f64::from(canvas.client_width()) * 0.6);
        let shift =
            if flip { "translate(calc(-100% - 0.9rem), 0.7rem)" } else { "translate(0.9rem, 0.7rem)" };
        let style = format!("left:{x}px; top:{y}px; transform:{shift}");
        Some(view! {
            <div class="tip" style=style data-testid="tooltip">
                <strong>{one}</strong>
                {other.map(|other| view! { <span>{other}</span> })}
            </div>
        })
    };
    view! {
        <div class="scatter">
            <canvas class="points" node_ref=base role="img" aria-label=about data-testid=testid></canvas>
            <canvas
                class="overlay"
                node_ref=overlay
                aria-hidden="true"
                on:pointermove=moved
                on:pointerdown=pressed
                on:pointerup=released
                on:pointercancel=move |_| drag.set(None)
                on:pointerleave=left
            ></canvas>
            {tip}
        </div>
    }
}

fn draw_points(canvas: &HtmlCanvasElement, cloud: &Cloud, linked: Linked, ratio: f64) -> Option<Frame> {
    let sets = Side::BOTH.map(|side| cloud.points(side));
    let (width, height) = (f64::from(canvas.width()), f64::from(canvas.height()));
    let frame = Frame::around(&sets, width, height, MARGIN * ratio);
    let dark = is_dark();
    let (colouring, selection) = (linked.colouring.get_untracked(), linked.selection.get_untracked());
    let moving = matches!(cloud, Cloud::Moving(_));
    let layers = Side::BOTH.map(|side| paint::Layer {
        points: cloud.points(side),
        colours: cloud.colours(side, colouring, dark),
        selected: match &selection {
            Some(selection) if !moving => &selection[side.index()],
            _ => &[],
        },
        diamonds: side == Side::Y,
    });
    paint::points(canvas, &frame, &layers, ratio);
    Some(frame)
}

fn draw_overlay(
    canvas: &HtmlCanvasElement,
    cloud: &Cloud,
    frame: &Frame,
    linked: Linked,
    rect: Option<Rect>,
    ratio: f64,
) {
    let Some(context) = context(canvas) else { return };
    context.clear_rect(0.0, 0.0, canvas.width().into(), canvas.height().into());
    let ink = theme_css("--ink");
    if let Some(rect) = rect {
        context.set_stroke_style_str(&ink);
        context.set_line_width(ratio);
        let [x, y, w, h] = [rect.left, rect.top, rect.right - rect.left, rect.bottom - rect.top];
        context.stroke_rect(x * ratio, y * ratio, w * ratio, h * ratio);
    }
    let Some(shown) = cloud.shown() else { return };
    let place = |side: Side, row: usize| {
        let points = cloud.points(side);
        points.get(2 * row..2 * row + 2).map(|point| frame.place(point[0], point[1]))
    };
    let between = |row: usize| {
        let partner = shown.partner(Side::X, row)?;
        Some((place(Side::X, row)?, place(Side::Y, partner)?))
    };
    if linked.lines.get_untracked() && matches!(cloud, Cloud::Aligned(_)) {
        let rows: Vec<usize> = match linked.selection.get_untracked() {
            Some(chosen) => (0..chosen[0].len()).filter(|row| chosen[0][*row]).collect(),
            None => (0..shown.matches[0].len()).collect(),
        };
        let every = rows.len().div_ceil(LINES).max(1);
        context.set_global_alpha(0.45);
        let ends = rows.into_iter().step_by(every).filter_map(between);
        paint::lines(&context, ends, &theme_css("--ink-soft"), ratio);
        context.set_global_alpha(1.0);
    }
    let Some((side, row)) = linked.hover.get_untracked() else { return };
    let other = Side::BOTH[1 - side.index()];
    let here = place(side, row);
    let there = shown.partner(side, row).and_then(|partner| place(other, partner));
    if let (Some(here), Some(there)) = (here, there) {
        paint::lines(&context, std::iter::once((here, there)), &ink, 1.5 * ratio);
    }
    let radius = (paint::radius(shown.outcome.n as usize + shown.outcome.m as usize) + 3.0) * ratio;
    for (at, side) in [(here, side), (there, other)] {
        if let Some(at) = at {
            paint::ring(&context, at, radius, &ink, 3.5 * ratio);
            paint::ring(&context, at, radius, &theme_css(["--x", "--y"][side.index()]), 1.5 * ratio);
        }
    }
}
