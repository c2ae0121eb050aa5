//! The picture that is always in sight, with the run's state and its controls.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::prelude::*;

use super::before::TrainedBefore;
use super::duration;
use super::estimate::EstimateLine;
use crate::app::canvas::{Redraw, is_dark};
use crate::app::palette;
use crate::app::scatter::{Cloud, Colouring, Linked, Scatter};
use crate::app::state::{Phase, State};
use crate::protocol::ExecutorKind;

#[component]
pub(super) fn Stage(state: State, linked: Linked, redraw: Redraw) -> impl IntoView {
    let (run, results) = (state.run, state.results);
    let cloud =
        Signal::derive_local(move || match (run.phase.get().busy(), run.moving.get(), results.shown()) {
            (true, Some(moving), _) => Cloud::Moving(moving),
            (_, _, Some(shown)) => Cloud::Aligned(shown),
            _ => Cloud::Nothing,
        });
    let title = move || match (run.phase.get().busy(), run.moving.with(Option::is_some)) {
        (true, true) => "Both data sets, as they are being aligned",
        _ if results.fresh.with(Option::is_some) => "New data in the common space",
        _ => "Both data sets in the common space",
    };
    let about = Signal::derive(move || {
        match results.shown() {
        _ if run.phase.get().busy() && run.moving.with(Option::is_some) => {
            "Points of X as teal discs and of Y as amber diamonds, moving towards each other while the networks are trained"
                .into()
        }
        Some(shown) => format!(
            "Scatter plot of {} points of X (discs) and {} points of Y (diamonds) in the common space",
            shown.outcome.n, shown.outcome.m
        ),
        None => "Nothing is aligned yet".to_owned(),
    }
    });
    view! {
        <aside class="stage" aria-label="Aligned view and training">
            <div class="card">
                <div class="head">
                    <h2>{title}</h2>
                    <Show when=move || results.fresh.with(Option::is_some)>
                        <span class="tag" data-testid="new-badge">"new data"</span>
                    </Show>
                    <Show when=move || results.stale.get() && !run.phase.get().busy()>
                        <span class="tag warn" data-testid="stale">"files have changed since"</span>
                    </Show>
                </div>
                <div class="stage-view">
                    <Scatter cloud linked results redraw testid="view-live" about/>
                    <Show when=move || cloud.with(|cloud| matches!(cloud, Cloud::Nothing))>
                        <p class="nothing">{move || if state.run.phase.get().busy() {
                            "The first picture comes in a moment."
                        } else {
                            "Take a sample or drop two files, then align."
                        }}</p>
                    </Show>
                </div>
                <Toolbar state linked/>
                <Controls state/>
            </div>
        </aside>
    }
}

/// What colours mean, and the lines between pairs.
#[component]
fn Toolbar(state: State, linked: Linked) -> impl IntoView {
    let has_labels = move || {
        state.results.shown().is_some_and(|s| s.labels.iter().any(|l| !l.is_empty()))
            || state.run.moving.with(|m| m.as_ref().is_some_and(|m| !m.x_labels.is_empty()))
    };
    // A finished result is shown by its labels, where it has some, unless the visitor has chosen otherwise.
    let chosen = StoredValue::new(false);
    let labelled =
        Memo::new(move |_| state.results.shown().is_some_and(|s| s.labels.iter().all(|l| !l.is_empty())));
    Effect::new(move || {
        let best = if labelled.get() { Colouring::Label } else { Colouring::Domain };
        if !chosen.get_value() {
            linked.colouring.set(best);
        }
    });
    let modes = [
        ("domain", "data set", Colouring::Domain),
        ("label", "label", Colouring::Label),
        ("confidence", "confidence", Colouring::Confidence),
    ]
    .map(|(name, label, mode)| {
        let off = move || mode == Colouring::Label && !has_labels();
        view! {
            <button
                type="button"
                class="toggle"
                data-testid=format!("colour-{name}")
                aria-pressed=move || (linked.colouring.get() == mode).to_string()
                disabled=off
                title=move || off().then_some("There are no labels")
                on:click=move |_| {
                    chosen.set_value(true);
                    linked.colouring.set(mode);
                }
            >
                {label}
            </button>
        }
    })
    .collect_view();
    let selected = move || {
        linked
            .selection
            .with(|s| s.as_ref().map(|s| s.each_ref().map(|side| side.iter().filter(|c| **c).count())))
    };
    view! {
        <div class="toolbar">
            <div class="toggles" role="group" aria-label="Colour by">
                <span class="soft">"Colour by"</span>
                {modes}
            </div>
            <label class="check">
                <input
                    type="checkbox"
                    data-testid="show-lines"
                    prop:checked=linked.lines
                    on:change=move |event| linked.lines.set(event_target_checked(&event))
                />
                "Lines between matches"
            </label>
        </div>
        <Legend state linked/>
        {move || selected().map(|[x, y]| view! {
            <p class="selected" data-testid="selection" data-x=x data-y=y>
                {x} " of X and " {y} " of Y selected "
                <button type="button" class="quiet small" data-testid="clear-selection" on:click=move |_| linked.selection.set(None)>
                    "Clear"
                </button>
            </p>
        })}
    }
}

/// So many labels are named; more would not be told apart.
const NAMED: usize = palette::DISTINCT;

#[component]
fn Legend(state: State, linked: Linked) -> impl IntoView {
    let item = |colour: String, name: String| {
        view! { <li><i style=format!("background:{colour}")></i>{name}</li> }
    };
    let items = move || match linked.colouring.get() {
        Colouring::Domain => view! {
            <li><i style="background:var(--x)"></i>"data set X"</li>
            <li><i class="diamond" style="background:var(--y)"></i>"data set Y"</li>
        }
        .into_any(),
        Colouring::Confidence => [0.05f32, 0.35, 0.65, 0.95]
            .into_iter()
            .zip(["unsure", "", "", "sure"])
            .map(|(value, name)| item(palette::css(palette::confidence(value, is_dark())), name.into()))
            .collect_view()
            .into_any(),
        Colouring::Label => {
            let names = state.results.shown().map(|s| {
                let [x, y] = &s.outcome.labels;
                if x.names.len() >= y.names.len() { x.names.clone() } else { y.names.clone() }
            });
            let names = names.unwrap_or_default();
            let more = names.len().saturating_sub(NAMED);
            let rest = (more > 0)
                .then(|| view! { <li class="soft">"and " {more} " more, in the same colours"</li> });
            let named = names
                .into_iter()
                .take(NAMED)
                .enumerate()
                .map(|(code, name)| item(palette::css(palette::label(code as f32, is_dark())), name))
                .collect_view();
            view! { {named} {rest} }.into_any()
        }
    };
    let shapes = move || {
        (linked.colouring.get() != Colouring::Domain)
            .then(|| view! { <li>"discs are X, diamonds are Y"</li> })
    };
    view! { <ul class="legend" aria-label="Legend">{items}{shapes}</ul> }
}

/// The run: its state, how far it is, and what can be done with it.
#[component]
fn Controls(state: State) -> impl IntoView {
    let run = state.run;
    let phase = move || run.phase.get();
    let running = move || phase().busy() && !state.files.promised();
    let words = move || match phase() {
        Phase::Idle => "Ready".into(),
        Phase::Loading if state.files.promised() => "Reading the sample".into(),
        Phase::Loading => "Getting ready".into(),
        Phase::Training if run.finishing.get() => "Finishing early".into(),
        Phase::Training => run.progress.with(|p| p.as_ref().map_or("Training".into(), |p| p.phase.clone())),
        Phase::Paused => "Paused".to_owned(),
        Phase::Done => "Aligned".into(),
        Phase::Failed => "Stopped by a failure".into(),
    };
    let count = move || {
        run.progress
            .with(|p| p.as_ref().filter(|p| running() && p.of > 0).map(|p| format!("{} of {}", p.done, p.of)))
    };
    let left =
        move || run.left.get().filter(|_| running()).map(|left| format!("about {} left", duration(left)));
    let took = move || {
        let shown = state.results.shown().filter(|_| phase() == Phase::Done)?;
        if shown.outcome.trained_before {
            return Some(format!("applied in {}", duration(shown.outcome.infer_s)));
        }
        Some(format!(
            "trained in {}, applied in {}",
            duration(shown.outcome.train_s),
            duration(shown.outcome.infer_s)
        ))
    };
    let executor = move || state.diagnostics.with(|d| d.as_ref().map(|d| d.executor));
    let share = move || match phase() {
        Phase::Done => 100.0,
        Phase::Training | Phase::Paused => run.progress.with(|p| p.as_ref().map_or(0.0, |p| 100.0 * p.share)),
        _ => 0.0,
    };
    let blocker = Memo::new(move |_| state.blocker());
    let label = move || match state.results.trained.with(|t| t.as_ref().map(|t| t.outcome.trained_before)) {
        Some(true) if !running() && !state.results.stale.get() => "Train it live",
        None if !running() => "Align",
        _ => "Align again",
    };
    view! {
        <div
            class="progress"
            role="progressbar"
            aria-label="Progress of the alignment"
            aria-valuemin="0"
            aria-valuemax="100"
            aria-valuenow=move || format!("{:.0}", share())
        >
            <i style=move || format!("width:{:.2}%", share())></i>
        </div>
        <p
            class="status"
            data-testid="status"
            data-state=move || phase().name()
            data-executor=move || executor().map(ExecutorKind::name)
        >
            <strong aria-live="polite">{words}</strong>
            <span data-testid="count">{count}</span>
            <span data-testid="time-left">{left}</span>
            <span>{took}</span>
        </p>
        <div class="buttons">
            <button
                type="button"
                class="big"
                data-testid="align"
                disabled=move || blocker.with(Option::is_some)
                on:click=move |_| state.align()
            >
                {label}
            </button>
            <button
                type="button"
                class="quiet"
                data-testid="pause"
                disabled=move || !running()
                on:click=move |_| state.pause_or_resume()
            >
                {move || if phase() == Phase::Paused { "Resume" } else { "Pause" }}
            </button>
            <button
                type="button"
                class="quiet"
                data-testid="step"
                disabled=move || phase() != Phase::Paused
                title="A few training steps, while paused"
                on:click=move |_| state.step()
            >
                "Step"
            </button>
            <button
                type="button"
                class="quiet"
                data-testid="stop"
                disabled=move || !running() || run.finishing.get()
                title="End the training early and go on with what was learned"
                on:click=move |_| state.finish_early()
            >
                "Stop and keep"
            </button>
            <button
                type="button"
                class="quiet"
                data-testid="cancel-run"
                disabled=move || !running()
                on:click=move |_| state.cancel_run()
            >
                "Cancel"
            </button>
        </div>
        <EstimateLine state/>
        <TrainedBefore state/>
        {move || blocker.get().filter(|_| !running() && !state.files.promised()).map(|reason| view! {
            <p class="reason" data-testid="why-not" aria-live="polite">{reason}</p>
        })}
    }
}
