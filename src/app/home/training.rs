//! How the networks are doing: loss, ε, error of the marginals and entropy of the plan, step by step.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::html::Canvas;
use leptos::prelude::*;
use plotters::style::RGBColor;

use crate::app::canvas::{Redraw, is_dark, on_frame};
use crate::app::chart::{Axis, Line, draw_lines};
use crate::app::palette;
use crate::app::standing;
use crate::app::state::{History, State};

/// Which curves a chart shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Curve {
    Loss,
    Eps,
    Marginal,
    Entropy,
}

impl Curve {
    /// The curves of all fits, in the order of the legend.
    fn lines(self, history: &History) -> Vec<&[f32]> {
        history
            .groups
            .iter()
            .flat_map(|group| match self {
                Self::Loss => group.losses.iter().map(Vec::as_slice).collect::<Vec<_>>(),
                Self::Marginal => group.marginals.iter().map(Vec::as_slice).collect(),
                Self::Entropy => group.entropies.iter().map(Vec::as_slice).collect(),
                Self::Eps => vec![group.eps.as_slice(); group.fits.len()],
            })
            .collect()
    }
}

#[component]
pub(super) fn TrainingSection(state: State, redraw: Redraw) -> impl IntoView {
    let history = state.run.history;
    let any = Memo::new(move |_| history.with(|history| !history.groups.is_empty()));
    let names = Memo::new(move |_| {
        history.with(|history| history.groups.iter().flat_map(|group| group.fits.clone()).collect::<Vec<_>>())
    });
    // Statistics travel behind the steps: of a training that is over the end is known better.
    let done = move || {
        let ended = state.ending().map_or(0, |ending| ending.step as usize);
        history.with(History::done).max(ended)
    };
    let legend = move || {
        names
            .get()
            .into_iter()
            .enumerate()
            .map(|(at, name)| {
                let colour = palette::css(palette::label(at as f32, is_dark()));
                view! { <li><i style=format!("background:{colour}")></i>{name}</li> }
            })
            .collect_view()
    };
    view! {
        <section id="training" class="card" aria-labelledby="training-title">
            <div class="head">
                <h2 id="training-title">"Training"</h2>
                <span class="soft push">
                    {move || standing::before_step(state.ending())}
                    <b data-testid="step-count">{done}</b>
                    " of " {move || history.with(|history| history.steps)}
                </span>
            </div>
            <Show
                when=move || any.get()
                fallback=|| view! {
                    <p class="soft">
                        "The curves of the networks appear here while they are trained. Linear maps come first; they move in the picture and have none."
                    </p>
                }
            >
                <div class="charts">
                    <Chart state redraw curve=Curve::Loss axis=Axis::Linear title="Loss" testid="chart-loss"/>
                    <Chart state redraw curve=Curve::Eps axis=Axis::Logarithmic title="ε, the softness of the plan" testid="chart-eps"/>
                    <Chart state redraw curve=Curve::Marginal axis=Axis::Logarithmic title="Error of the marginals" testid="chart-marginal"/>
                    <Chart state redraw curve=Curve::Entropy axis=Axis::Linear title="Entropy of the plan" testid="chart-entropy"/>
                </div>
                <ul class="legend" aria-label="Fits">{legend}</ul>
            </Show>
        </section>
    }
}

#[component]
fn Chart(
    state: State,
    redraw: Redraw,
    curve: Curve,
    axis: Axis,
    title: &'static str,
    testid: &'static str,
) -> impl IntoView {
    let canvas = NodeRef::<Canvas>::new();
    let history = state.run.history;
    on_frame(
        move || {
            redraw.track();
            history.track();
            canvas.track();
        },
        move || {
            let Some(canvas) = canvas.get_untracked() else { return };
            let dark = is_dark();
            history.with_untracked(|history| {
                let lines: Vec<Line> = curve
                    .lines(history)
                    .into_iter()
                    .enumerate()
                    .map(|(at, values)| {
                        let [r, g, b] = palette::label(at as f32, dark);
                        Line { values, colour: RGBColor(r, g, b) }
                    })
                    .collect();
                draw_lines(&canvas, &lines, history.steps, axis);
            });
        },
    );
    let summary = move || {
        history.with(|history| {
            let last = curve.lines(history).into_iter().filter_map(|line| line.last().copied());
            let last: Vec<String> = last.map(|value| format!("{value:.4}")).collect();
            format!("{title} over the steps of training; now at {}", last.join(", "))
        })
    };
    view! {
        <figure>
            <figcaption>{title}</figcaption>
            <canvas class="chart" node_ref=canvas role="img" aria-label=summary data-testid=testid></canvas>
        </figure>
    }
}
