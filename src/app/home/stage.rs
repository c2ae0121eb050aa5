//! The picture that is always in sight, with the run's state and its controls.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::html::Canvas;
use leptos::prelude::*;

use super::before::TrainedBefore;
use super::duration;
use super::estimate::EstimateLine;
use super::start::AlignButton;
use super::told;
use super::toolbar::Toolbar;
use crate::app::canvas::{Redraw, draw_shades, on_frame};
use crate::app::scatter::{Cloud, Linked, Scatter};
use crate::app::standing;
use crate::app::state::{Phase, State};
use schema::ExecutorKind;

#[component]
pub(super) fn Stage(state: State, linked: Linked, redraw: Redraw) -> impl IntoView {
    let (run, results) = (state.run, state.results);
    let cloud =
        Signal::derive_local(move || match (run.phase.get().busy(), run.moving.get(), results.shown()) {
            (true, Some(moving), _) => Cloud::Moving(moving),
            (_, _, Some(shown)) => Cloud::Aligned(shown),
            _ => Cloud::Nothing,
        });
    let moving = Memo::new(move |_| run.phase.get().busy() && run.moving.with(Option::is_some));
    // The picture is that of data which is no longer what is loaded.
    let foreign = Memo::new(move |_| {
        let beside = !run.phase.get().busy() || state.training();
        results.stale.get() && results.fresh.with(Option::is_none) && !moving.get() && beside
    });
    let title = Signal::derive(move || {
        match moving.get() {
            true => "Both data sets, as they are being aligned",
            _ if results.fresh.with(Option::is_some) => "New data in the common space",
            _ => "Both data sets in the common space",
        }
        .to_owned()
    });
    let about = Memo::new(move |_| match results.shown() {
        _ if moving.get() => {
            "Points of X as discs and of Y as diamonds, moving towards each other while they are aligned"
                .into()
        }
        Some(shown) => told::aligned(&shown),
        None => "Nothing is aligned yet".to_owned(),
    });
    view! {
        <aside class="stage" aria-label="Aligned view and training">
            <div class="card">
                <div class="head">
                    <h2>{title}</h2>
                    <Show when=move || results.fresh.with(Option::is_some)>
                        <span class="tag" data-testid="new-badge">"new data"</span>
                    </Show>
                    <Show when=move || foreign.get()>
                        <span class="tag warn" data-testid="stale">"files have changed since"</span>
                    </Show>
                </div>
                {move || state.pairs.remark.get().map(|remark| view! {
                    <p class="reason" role="status" data-testid="pairs-dropped">{remark}</p>
                })}
                <div class="stage-view" class:foreign=move || foreign.get()>
                    <Scatter cloud linked state redraw testid="view-live" title about/>
                    <LivePlan state redraw/>
                    <Show when=move || cloud.with(|cloud| matches!(cloud, Cloud::Nothing))>
                        <p class="nothing">{move || if state.run.phase.get().busy() {
                            "The first picture comes in a moment."
                        } else if state.blocker().is_none() {
                            "Everything is there: press Align."
                        } else {
                            "Take a sample or drop two files, then align."
                        }}</p>
                    </Show>
                </div>
                <Toolbar linked cloud/>
                <Controls state/>
            </div>
        </aside>
    }
}

/// The plan of the fit that is on the move, in a corner of the picture.
#[component]
fn LivePlan(state: State, redraw: Redraw) -> impl IntoView {
    let run = state.run;
    let any = Memo::new(move |_| {
        run.phase.get().busy() && run.moving.with(|m| m.as_ref().is_some_and(|m| !m.plan.is_empty()))
    });
    let canvas = NodeRef::<Canvas>::new();
    on_frame(
        move || {
            redraw.track();
            run.moving.track();
            canvas.track();
        },
        move || {
            if let (Some(canvas), Some(moving)) = (canvas.get_untracked(), run.moving.get_untracked()) {
                draw_shades(&canvas, moving.plan.len().isqrt() as u32, &moving.plan);
            }
        },
    );
    view! {
        <Show when=move || any.get()>
            <figure class="live-plan">
                <canvas
                    node_ref=canvas
                    role="img"
                    aria-label="Heat map of the plan as it is being found; a clear diagonal means sharp matches"
                    data-testid="heat-live"
                ></canvas>
                <figcaption>"the plan"</figcaption>
            </figure>
        </Show>
    }
}

/// What a phase is called for people: its own name, unless there is a plainer one.
fn plain(phase: &str) -> String {
    let name = match phase {
        "describing points" => "describing the shape of both sides",
        "linear starts" => "trying linear maps",
        "refining" => "refining linear maps",
        "training" => "training networks",
        "matching" => "comparing what was found",
        "comparing with chance" => "comparing with unrelated data",
        "leaving groups out" => "trying without single groups",
        "measuring confidence" => "measuring confidence with new fits",
        "embedding" => "applying the encoders",
        "taking figures" => "computing figures",
        "checking the plan" => "checking the plan against the exact one",
        other => other,
    };
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The time that is left, in words.
fn time_left(seconds: f64) -> String {
    if seconds < 1.0 { "less than a second left".into() } else { format!("about {} left", duration(seconds)) }
}

/// Plans are soft where ε is above this: everything is matched with everything.
const SOFT: f32 = 1.0;

/// Why the points of networks lie on a line for the first half of their training.
#[component]
fn WhyFlat(state: State) -> impl IntoView {
    let run = state.run;
    let soft = Memo::new(move |_| {
        let training = run.progress.with(|p| p.as_ref().is_some_and(|p| p.phase == "training"));
        let eps =
            run.history.with(|history| history.groups.last().and_then(|group| group.eps.last().copied()));
        run.phase.get().busy() && training && eps.is_some_and(|eps| eps > SOFT)
    });
    view! {
        <Show when=move || soft.get()>
            <p class="soft" data-testid="why-flat">
                "ε is still large, so everything is matched with everything. The shape appears as ε falls."
            </p>
        </Show>
    }
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
        Phase::Training => {
            run.progress.with(|p| p.as_ref().map_or("Training".into(), |p| plain(&p.phase).to_owned()))
        }
        Phase::Paused => "Paused".to_owned(),
        Phase::Done if state.results.stale.get() => "Ready to align".into(),
        Phase::Done => standing::done(state.ending()),
        Phase::Failed => "Could not align".into(),
    };
    let count = move || {
        run.progress
            .with(|p| p.as_ref().filter(|p| running() && p.of > 0).map(|p| format!("{} of {}", p.done, p.of)))
    };
    let left = move || run.left.get().filter(|_| running()).map(time_left);
    let took = move || {
        let current = phase() == Phase::Done && !state.results.stale.get();
        let shown = state.results.shown().filter(|_| current)?;
        if shown.outcome.trained_before {
            return Some(format!("applied in {}", duration(shown.outcome.infer_s)));
        }
        // How long it has taken in all, nobody has measured.
        let trained = shown.outcome.train_s.map(duration);
        let trained =
            trained.map_or("taken up from what was kept".into(), |time| format!("trained in {time}"));
        Some(format!("{trained}, applied in {}", duration(shown.outcome.infer_s)))
    };
    let executor = move || state.diagnostics.with(|d| d.as_ref().map(|d| d.executor));
    let share = move || match phase() {
        Phase::Done if !state.results.stale.get() => 100.0,
        Phase::Training | Phase::Paused => run.progress.with(|p| p.as_ref().map_or(0.0, |p| 100.0 * p.share)),
        _ => 0.0,
    };
    let blocker = Memo::new(move |_| state.blocker());
    let label = Signal::derive(move || {
        match state.results.trained.with(|t| t.as_ref().map(|t| t.outcome.trained_before)) {
            Some(true) if !state.results.stale.get() => "Train it live",
            Some(_) if !state.results.stale.get() => "Align again",
            _ => "Align",
        }
    });
    view! {
        <div
            class="progress"
            role="progressbar"
            aria-label="Progress of the alignment"
            aria-valuemin="0"
            aria-valuemax="100"
            aria-valuenow=move || format!("{:.0}", share())
        >
            <i style:width=move || format!("{:.2}%", share())></i>
        </div>
        <p
            class="status"
            data-testid="status"
            tabindex="-1"
            data-state=move || phase().name()
            data-runs=move || run.begun.get()
            data-executor=move || executor().map(ExecutorKind::name)
        >
            <strong aria-live="polite">{words}</strong>
            <span data-testid="count">{count}</span>
            <span data-testid="time-left">{left}</span>
            <span>{took}</span>
            <Show when=move || state.settings_changed()>
                <span class="changed" data-testid="settings-changed">"Settings have changed since"</span>
            </Show>
        </p>
        <WhyFlat state/>
        <div class="buttons" data-home="status">
            <AlignButton state name="align" class="big" label/>
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
