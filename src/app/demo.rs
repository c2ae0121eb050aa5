//! A network that learns a picture on the visitor's own machine: the building blocks at work, without any data.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::html::Canvas;
use leptos::prelude::*;

use super::canvas::{Redraw, draw_picture, on_frame};
use super::chart::draw_losses;
use super::state::{Phase, Picture, State};
use super::summary;
use schema::ExecutorKind;

/// A network learns a picture.
#[component]
pub(crate) fn DemoCard(state: State, redraw: Redraw) -> impl IntoView {
    let step = move || state.demo.losses.with(Vec::len);
    let loss = move || state.demo.losses.with(|l| l.last().map_or("–".into(), |l| format!("{l:.5}")));
    let toggle = move || match state.demo.phase.get() {
        Phase::Training => "Pause",
        Phase::Paused => "Resume",
        Phase::Idle => "Play",
        _ => "Play again",
    };
    let device = move || match state.demo.executor.get() {
        Some(ExecutorKind::Gpu) => "on your graphics device, through WebGPU",
        _ => "on your CPU",
    };
    let executor = move || state.demo.executor.get().map(ExecutorKind::name);
    let words = move || match state.demo.phase.get() {
        Phase::Idle => "Not started",
        Phase::Loading => "Getting ready",
        Phase::Training => "Learning",
        Phase::Paused => "Paused",
        Phase::Done => "Learned",
        Phase::Failed => "Stopped",
    };
    let likeness = Signal::derive(move || {
        state.demo.target.with(|target| {
            state.demo.learned.with(|learned| summary::likeness(&target.values, &learned.values))
        })
    });
    let share = move || 100.0 * step() as f32 / state.demo.steps.get().max(1) as f32;
    view! {
        <section class="card demo" aria-label="Live demonstration">
            <div class="demo-head">
                <div>
                    <h2>"A network at work"</h2>
                    <p>
                        "A three-layer network learns the left picture " {device}
                        ", in a worker beside this page. These are the building blocks that align data."
                    </p>
                </div>
                <div class="buttons">
                    <button
                        data-testid="demo-pause"
                        disabled=move || state.demo.phase.get() == Phase::Loading
                        on:click=move |_| state.pause_or_resume_demo()
                    >
                        {toggle}
                    </button>
                    <button class="quiet" data-testid="demo-restart" on:click=move |_| state.restart_demo()>
                        "Start over"
                    </button>
                </div>
            </div>
            <div class="panels">
                <PicturePanel title="The picture" about="The picture to be learned" picture=state.demo.target testid="demo-target"/>
                <PicturePanel title="The network" about="What the network has learned so far" picture=state.demo.learned testid="demo-learned" told=likeness/>
                <LossPanel state redraw/>
            </div>
            <div class="progress" aria-hidden="true"><i style:width=move || format!("{}%", share())></i></div>
            <p class="status" data-testid="demo-status" data-state=move || state.demo.phase.get().name() data-executor=executor>
                <strong>{words}</strong>
                <span>"step " <b data-testid="demo-step">{step}</b> " of " {state.demo.steps}</span>
                <span>"mean squared error " <b data-testid="demo-loss">{loss}</b></span>
            </p>
        </section>
    }
}

#[component]
fn PicturePanel(
    title: &'static str,
    about: &'static str,
    picture: RwSignal<Picture>,
    testid: &'static str,
    /// How it looks, in words.
    #[prop(optional)]
    told: Option<Signal<String>>,
) -> impl IntoView {
    let canvas = NodeRef::<Canvas>::new();
    Effect::new(move || {
        if let Some(canvas) = canvas.get() {
            picture.with(|picture| draw_picture(&canvas, picture));
        }
    });
    view! {
        <figure>
            <figcaption>{title}</figcaption>
            <canvas class="picture" node_ref=canvas role="img" aria-label=about data-testid=testid></canvas>
            {told.map(|told| view! { <p class="unseen">{told}</p> })}
        </figure>
    }
}

#[component]
fn LossPanel(state: State, redraw: Redraw) -> impl IntoView {
    let canvas = NodeRef::<Canvas>::new();
    on_frame(
        move || {
            redraw.track();
            state.demo.losses.track();
            canvas.track();
        },
        move || {
            if let Some(canvas) = canvas.get_untracked() {
                let steps = state.demo.steps.get_untracked();
                state.demo.losses.with_untracked(|losses| draw_losses(&canvas, losses, steps));
            }
        },
    );
    let summary = move || {
        let steps = state.demo.steps.get();
        state.demo.losses.with(|losses| summary::curves("Mean squared error", &[("", losses)], steps))
    };
    view! {
        <figure class="wide">
            <figcaption>"Mean squared error, step by step"</figcaption>
            <canvas class="chart" node_ref=canvas role="img" aria-label=summary data-testid="demo-chart"></canvas>
        </figure>
    }
}
