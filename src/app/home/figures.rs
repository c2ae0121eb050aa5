//! Figures of merit, each with what it would be by chance.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::html::Canvas;
use leptos::prelude::*;

use super::save::{Picture, Save};
use super::told;
use crate::app::axis::Axis;
use crate::app::canvas::{Redraw, on_frame, theme_colour};
use crate::app::chart::{Line, draw_lines};
use crate::app::scatter::Linked;
use crate::app::state::State;
use schema::FigureRow;

#[component]
pub(super) fn Figures(state: State) -> impl IntoView {
    let cards = move || {
        let figures = state.results.shown().map(|shown| shown.outcome.figures.clone()).unwrap_or_default();
        let other = state.results.compared.get();
        figures
            .into_iter()
            .map(|figure| {
                let compared = other
                    .as_ref()
                    .and_then(|other| other.outcome.figures.iter().find(|f| f.key == figure.key))
                    .map(|f| f.value);
                view! { <Figure figure compared/> }
            })
            .collect_view()
    };
    view! { <div class="figures" data-testid="metrics">{cards}</div> }
}

/// How far a figure is from knowing nothing, 0, towards perfection, 1.
fn merit(figure: &FigureRow, value: f64) -> f64 {
    let way = if figure.lower_is_better { figure.null } else { 1.0 - figure.null };
    let gone = if figure.lower_is_better { figure.null - value } else { value - figure.null };
    if way.abs() < 1e-12 || !gone.is_finite() { 0.0 } else { (gone / way).clamp(0.0, 1.0) }
}

fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:.3}") } else { "–".into() }
}

/// What chance would make of a figure; nothing where chance has no part in it.
fn by_chance(figure: &FigureRow) -> Option<String> {
    match (figure.key.as_str(), figure.null) {
        ("marginal-error" | "exactness", _) => None,
        // A share that rounds to nothing.
        ("exact-match", null) if null > 0.0 && null < 0.01 => {
            Some(format!("by chance 1 in {:.0} · ", 1.0 / null))
        }
        (_, null) => Some(format!("by chance {} · ", number(null))),
    }
}

#[component]
fn Figure(figure: FigureRow, compared: Option<f64>) -> impl IntoView {
    let share = 100.0 * merit(&figure, figure.value);
    let better = if figure.lower_is_better { "lower is better" } else { "higher is better" };
    let known = match figure.key.as_str() {
        key if key.starts_with("label") => "needs labels",
        _ if figure.known => "needs true pairs",
        _ => "needs nothing but the data",
    };
    let chance = by_chance(&figure);
    let second = compared.map(|value| {
        let share = 100.0 * merit(&figure, value);
        view! {
            <div class="second" data-testid=format!("compared-{}", figure.key) data-value=value.to_string()>
                <span>"Gromov-Wasserstein " <b>{number(value)}</b></span>
                <div class="bar" aria-hidden="true"><i class="other" style:width=format!("{share:.1}%")></i></div>
            </div>
        }
    });
    view! {
        <article class="figure" data-testid=format!("metric-{}", figure.key) data-value=figure.value.to_string()>
            <h3>{figure.name}</h3>
            <p class="value">{number(figure.value)}</p>
            <div class="bar" aria-hidden="true"><i style:width=format!("{share:.1}%")></i></div>
            <p class="null">
                {chance} {better}
            </p>
            {second}
            <p class="soft">{figure.about} " (" {known} ")"</p>
        </article>
    }
}

/// For every true pair the share of points that are closer, sorted: the curve behind FOSCTTM.
#[component]
pub(super) fn Curve(state: State, linked: Linked, redraw: Redraw) -> impl IntoView {
    let results = state.results;
    let any = Memo::new(move |_| results.shown().is_some_and(|shown| !shown.curve.is_empty()));
    view! {
        <Show when=move || any.get()>
            <CurveCard state linked redraw/>
        </Show>
    }
}

#[component]
fn CurveCard(state: State, linked: Linked, redraw: Redraw) -> impl IntoView {
    let canvas = NodeRef::<Canvas>::new();
    let results = state.results;
    on_frame(
        move || {
            redraw.track();
            results.trained.track();
            results.fresh.track();
            results.compared.track();
            canvas.track();
        },
        move || {
            let (Some(canvas), Some(shown)) = (canvas.get_untracked(), untrack(|| results.shown())) else {
                return;
            };
            let other = results.compared.get_untracked();
            let chance: Vec<f32> =
                (0..shown.curve.len()).map(|at| at as f32 / shown.curve.len() as f32).collect();
            let mut lines = vec![
                Line { values: &chance, colour: theme_colour("--ink-soft") },
                Line { values: &shown.curve, colour: theme_colour("--accent") },
            ];
            if let Some(other) = &other {
                lines.push(Line { values: &other.curve, colour: theme_colour("--y") });
            }
            draw_lines(&canvas, &lines, shown.curve.len() as u32, Axis::Linear);
        },
    );
    let summary = Memo::new(move |_| results.shown().map(|shown| told::closer(&shown)).unwrap_or_default());
    view! {
        <div class="card">
            <div class="head">
                <h3>"Closer than the true match"</h3>
                <Save state linked picture=Picture::Closer/>
            </div>
            <p class="soft">
                "For every true pair the share of points that are closer than its partner, sorted. Flat at zero is \
                 perfect; the straight line is chance."
            </p>
            <canvas
                class="chart tall"
                node_ref=canvas
                role="img"
                aria-label="Curve of the shares of closer points, sorted"
                aria-describedby="about-closer"
                data-testid="foscttm-curve"
            ></canvas>
            <p class="told" id="about-closer" data-testid="told-closer">{summary}</p>
        </div>
    }
}
