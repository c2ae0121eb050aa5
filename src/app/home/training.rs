//! How the networks are doing: loss, ε, error of the marginals and entropy of the plan, step by step.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::html::Canvas;
use leptos::prelude::*;
use plotters::style::RGBColor;

use super::card::is_open;
use super::save::{Picture, Save};
use super::told;
use crate::app::axis::Axis;
use crate::app::canvas::{Redraw, is_dark, on_frame};
use crate::app::chart::{Line, draw_lines};
use crate::app::palette;
use crate::app::scatter::Linked;
use crate::app::standing;
use crate::app::state::{History, State};
use crate::app::summary::number;

/// Which curves a chart shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curve {
    Loss,
    Eps,
    Marginal,
    Entropy,
}

impl Curve {
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Loss => "Loss",
            Self::Eps => "ε, the softness of the plan",
            Self::Marginal => "Error of the marginals",
            Self::Entropy => "Entropy of the plan",
        }
    }

    /// What it is called in a sentence.
    pub(super) fn subject(self) -> &'static str {
        match self {
            Self::Loss => "Loss",
            Self::Eps => "ε",
            Self::Marginal => "Error of the marginals",
            Self::Entropy => "Entropy of the plan",
        }
    }

    /// Its name for automation and for files.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Eps => "eps",
            Self::Marginal => "marginal",
            Self::Entropy => "entropy",
        }
    }

    pub(super) fn axis(self) -> Axis {
        match self {
            Self::Loss | Self::Entropy => Axis::Linear,
            Self::Eps | Self::Marginal => Axis::Logarithmic,
        }
    }

    /// The curves of all fits with their names.
    pub(super) fn named(self, history: &History) -> Vec<(&str, &[f32])> {
        let names = history.groups.iter().flat_map(|group| group.fits.iter().map(String::as_str));
        names.zip(self.lines(history)).collect()
    }

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

const CURVES: [Curve; 4] = [Curve::Loss, Curve::Eps, Curve::Marginal, Curve::Entropy];

#[component]
pub(super) fn TrainingSection(state: State, linked: Linked, redraw: Redraw) -> impl IntoView {
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
                view! { <li><i style:background=colour></i>{name}</li> }
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
                    {CURVES.map(|curve| view! { <Chart state linked redraw curve/> }).collect_view()}
                </div>
                <ul class="legend" aria-label="Fits">{legend}</ul>
                <Numbers state/>
            </Show>
        </section>
    }
}

#[component]
fn Chart(state: State, linked: Linked, redraw: Redraw, curve: Curve) -> impl IntoView {
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
                draw_lines(&canvas, &lines, history.steps, curve.axis());
            });
        },
    );
    let summary = move || history.with(|history| told::curve(history, curve));
    // Words that change with every step would push the page about.
    let running = move || state.training();
    let about = format!("about-{}", curve.name());
    view! {
        <figure>
            <figcaption class="head">{curve.title()} <Save state linked picture=Picture::Curve(curve)/></figcaption>
            <canvas
                class="chart"
                node_ref=canvas
                role="img"
                aria-label=curve.title()
                aria-describedby=about.clone()
                data-testid=format!("chart-{}", curve.name())
            ></canvas>
            <p class="told" class:unseen=running id=about data-testid=format!("told-{}", curve.name())>{summary}</p>
        </figure>
    }
}

/// The curves in numbers: where each fit began and where it is.
#[component]
fn Numbers(state: State) -> impl IntoView {
    let history = state.run.history;
    let rows = move || {
        history.with(|history| {
            let names: Vec<&str> = Curve::Loss.named(history).into_iter().map(|(name, _)| name).collect();
            let rows = names.into_iter().enumerate().map(|(fit, name)| {
                let cells = CURVES.map(|curve| {
                    let lines = curve.lines(history);
                    let line = lines.get(fit).copied().unwrap_or_default();
                    let ends = [line.first(), line.last()];
                    ends.map(|value| value.map_or_else(|| "–".to_owned(), |v| number(*v)))
                });
                let cells = cells.into_iter().flatten();
                let cells = cells.map(|cell| view! { <td class="number">{cell}</td> }).collect_view();
                view! { <tr><th scope="row">{name.to_owned()}</th>{cells}</tr> }
            });
            rows.collect_view()
        })
    };
    let heads = || {
        CURVES
            .map(|curve| {
                let words = match curve {
                    Curve::Loss => "Loss",
                    Curve::Eps => "ε",
                    Curve::Marginal => "Marginals",
                    Curve::Entropy => "Entropy",
                };
                view! {
                    <th scope="col" class="number">{words} ", first"</th>
                    <th scope="col" class="number">{words} ", last"</th>
                }
            })
            .collect_view()
    };
    let open = RwSignal::new(false);
    view! {
        <details class="fold" data-testid="curves-table" on:toggle=move |event| open.set(is_open(&event))>
            <summary>"The curves in numbers"</summary>
            <Show when=move || open.get()>
                <div class="scroll" tabindex="0" role="region" aria-label="The curves in numbers">
                    <table>
                        <thead><tr><th scope="col">"Fit"</th>{heads()}</tr></thead>
                        <tbody>{rows}</tbody>
                    </table>
                </div>
            </Show>
        </details>
    }
}
