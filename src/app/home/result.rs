//! What a run has found: three linked views, figures, the plan, other candidates, matches, and downloads.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::html::Canvas;
use leptos::prelude::*;

use super::candidates::{Candidates, Health};
use super::doing::Doing;
use super::downloads::Downloads;
use super::estimate::grouped;
use super::figures::{Curve, Figures};
use super::matches::Matches;
use super::pairs::PairsCard;
use super::save::{Picture, Save};
use super::standing::Standing;
use super::told;
use crate::app::canvas::{Redraw, draw_shades, on_frame};
use crate::app::ledger::Activity;
use crate::app::scatter::{Cloud, Linked, Scatter};
use crate::app::state::{Phase, State};
use schema::Side;

#[component]
pub(super) fn ResultSection(state: State, linked: Linked, redraw: Redraw) -> impl IntoView {
    let results = state.results;
    let any =
        Memo::new(move |_| results.trained.with(Option::is_some) || results.fresh.with(Option::is_some));
    let foreign = Memo::new(move |_| state.remark().is_some());
    // What was pointed at or selected belongs to the points before.
    Effect::new(move || {
        results.trained.track();
        results.fresh.track();
        linked.hover.set(None);
        linked.selection.set(None);
    });
    let escape = window_event_listener(leptos::ev::keydown, move |event| {
        if event.key() == "Escape" {
            linked.selection.set(None);
            state.pairs.half.set(None);
        }
    });
    on_cleanup(move || escape.remove());
    view! {
        <section
            id="result"
            class:foreign=move || foreign.get()
            tabindex="-1"
            aria-labelledby="result-title"
            data-testid="result"
        >
            <div class="head section-head">
                <h2 id="result-title">"Result"</h2>
                <Show when=move || results.fresh.with(Option::is_some)>
                    <span class="tag">"new data"</span>
                    <button
                        type="button"
                        class="quiet small"
                        data-testid="back"
                        on:click=move |_| state.back_to_training()
                    >
                        "Back to the data of training"
                    </button>
                </Show>
            </div>
            <Show
                when=move || any.get()
                fallback=|| view! { <p class="soft">"Once an alignment is done, its views, figures and files are here."</p> }
            >
                <Standing state name="standing"/>
                <Rival state/>
                <Figures state/>
                <Views state linked redraw/>
                <PairsCard state/>
                <Health state/>
                <div class="halves">
                    <PlanCard state linked redraw/>
                    <Curve state linked redraw/>
                </div>
                <Matches state linked/>
                <Candidates state/>
                {state.shows("downloads").then(|| view! { <Downloads state linked/> })}
            </Show>
        </section>
    }
}

/// A second alignment that is nearly as good: said before anything is believed.
#[component]
fn Rival(state: State) -> impl IntoView {
    move || {
        let shown = state.results.shown()?;
        let rival = shown.outcome.rival?;
        let other = if shown.outcome.shown == rival { 0 } else { rival };
        Some(view! {
            <div class="notice inset" role="status" data-testid="rival">
                <div>
                    <strong>"Two different answers fit about equally well."</strong>
                    <p>
                        "Shape alone does not decide between them. Look at both, or give a few known pairs to decide."
                    </p>
                </div>
                <button
                    type="button"
                    class="quiet"
                    data-testid="show-rival"
                    on:click=move |_| state.show_candidate(other)
                >
                    "Show the other one"
                </button>
            </div>
        })
    }
}

#[component]
fn Views(state: State, linked: Linked, redraw: Redraw) -> impl IntoView {
    let results = state.results;
    let alone = move |side: Side| {
        Signal::derive_local(move || {
            results.shown().map_or(Cloud::Nothing, |shown| Cloud::Alone(shown, side))
        })
    };
    let aligned = Signal::derive_local(move || results.shown().map_or(Cloud::Nothing, Cloud::Aligned));
    let compared =
        Signal::derive_local(move || results.compared.get().map_or(Cloud::Nothing, Cloud::Aligned));
    let about = move |side: Side| {
        Memo::new(move |_| results.shown().map(|shown| told::alone(&shown, side)).unwrap_or_default())
    };
    let both = Memo::new(move |_| results.shown().map(|shown| told::aligned(&shown)).unwrap_or_default());
    let other =
        Memo::new(move |_| results.compared.get().map(|shown| told::aligned(&shown)).unwrap_or_default());
    let comparing = move || results.comparing.get();
    let compared_on = move || {
        let compared = results.compared.get()?;
        let (part, n) = (compared.outcome.part?, compared.outcome.n.max(compared.outcome.m));
        Some(format!(", on {} of {} rows", grouped(part), grouped(n)))
    };
    view! {
        <div class="card views-card">
            <div class="views" class:four=move || results.compared.with(Option::is_some)>
                <figure>
                    <figcaption class="head">"X by itself" <Save state linked picture=Picture::Alone(Side::X)/></figcaption>
                    <Scatter cloud=alone(Side::X) linked state redraw testid="view-x" title="X by itself" about=about(Side::X)/>
                </figure>
                <figure>
                    <figcaption class="head">"Y by itself" <Save state linked picture=Picture::Alone(Side::Y)/></figcaption>
                    <Scatter cloud=alone(Side::Y) linked state redraw testid="view-y" title="Y by itself" about=about(Side::Y)/>
                </figure>
                <figure>
                    <figcaption class="head">"Aligned" <Save state linked picture=Picture::Aligned/></figcaption>
                    <Scatter cloud=aligned linked state redraw testid="view-aligned" title="X and Y aligned" about=both/>
                </figure>
                <Show when=move || results.compared.with(Option::is_some)>
                    <figure>
                        <figcaption class="head" data-testid="compared-on">
                            <span>"Entropic Gromov-Wasserstein, to compare" {compared_on}</span>
                            <Save state linked picture=Picture::Compared/>
                        </figcaption>
                        <Scatter cloud=compared linked state redraw testid="view-compared" title="the comparison" about=other/>
                    </figure>
                </Show>
            </div>
            <div class="head">
                <p class="soft">"Point at or tap a dot to see its match in all views; drag a rectangle to select, Escape to end it. Ctrl and the wheel, a pinch or a double click zoom, Shift and a drag move. By keyboard: Enter in a view goes to its points, arrows go from one to the next; the table of matches has them all."</p>
                <button
                    type="button"
                    class="quiet push"
                    data-testid="compare"
                    data-state=move || comparing().name()
                    disabled=move || comparing().busy() || !results.held.get() || results.fresh.with(Option::is_some)
                    title="Solves entropic Gromov-Wasserstein, which trains no encoder, on the same data"
                    on:click=move |_| state.compare()
                >
                    {move || if comparing().busy() { "Comparing…" } else { "Compare with Gromov-Wasserstein" }}
                </button>
                <Doing state activity=Activity::Compare phase=results.comparing name="compare" cancel=State::cancel_comparison/>
                <Show when=move || results.compared.with(Option::is_some)>
                    <button type="button" class="quiet" data-testid="end-comparison" on:click=move |_| {
                        results.compared.set(None);
                        results.comparing.set(Phase::Idle);
                    }>
                        "Hide it"
                    </button>
                </Show>
            </div>
        </div>
    }
}

/// The transport plan as a picture.
#[component]
fn PlanCard(state: State, linked: Linked, redraw: Redraw) -> impl IntoView {
    let canvas = NodeRef::<Canvas>::new();
    let results = state.results;
    on_frame(
        move || {
            redraw.track();
            results.trained.track();
            results.fresh.track();
            canvas.track();
        },
        move || {
            if let (Some(canvas), Some(shown)) = (canvas.get_untracked(), untrack(|| results.shown())) {
                draw_shades(&canvas, shown.outcome.picture, &shown.plan);
            }
        },
    );
    let summary = Memo::new(move |_| results.shown().map(|shown| told::plan(&shown)).unwrap_or_default());
    let way =
        move || results.shown().map(|shown| format!("How it was found: {}.", shown.outcome.way.words()));
    view! {
        <div class="card">
            <div class="head"><h3>"The plan"</h3> <Save state linked picture=Picture::Plan/></div>
            <p class="soft">
                "Rows are points of X and columns points of Y, both in the order of the aligned view. A clear diagonal \
                 means that matches are sharp."
            </p>
            <canvas
                class="heat"
                node_ref=canvas
                role="img"
                aria-label="Heat map of the transport plan, points of X by points of Y"
                aria-describedby="about-plan"
                data-testid="plan"
            ></canvas>
            <p class="told" id="about-plan" data-testid="told-plan">{summary}</p>
            <p class="soft" data-testid="way">{way}</p>
        </div>
    }
}
