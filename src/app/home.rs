//! The first screen: what Concord is, and a network learning on the visitor's own machine.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::html::Canvas;
use leptos::prelude::*;

use super::canvas::{Redraw, draw_picture};
use super::chart::draw_losses;
use super::state::{Phase, Picture, State};
use crate::protocol::ExecutorKind;

#[component]
pub(super) fn Home(state: State, redraw: Redraw) -> impl IntoView {
    let kernels =
        move || state.diagnostics.with(|d| d.as_ref().map_or_else(|| "…".into(), |d| d.kernels.to_string()));
    view! {
        <section class="hero">
            <h1>"Two data sets, nothing in common." <br/> <em>"One alignment."</em></h1>
            <p class="lead">
                "Concord trains two small networks that carry data sets without shared features or known pairs \
                 into one common space, entirely inside this browser tab. Your files never leave your machine."
            </p>
        </section>
        <Demo state redraw/>
        <section class="facts">
            <article>
                <h2>"Private by construction"</h2>
                <p>"A folder of static files and nothing else: no server, no account, no upload. What you open stays in this tab."</p>
            </article>
            <article>
                <h2>"Your graphics card, or none"</h2>
                <p>"The arithmetic is written for graphics cards through WebGPU, in " {kernels} " small programs, and once more for the CPU. Without WebGPU everything works all the same."</p>
            </article>
            <article>
                <h2>"It checks itself"</h2>
                <p>
                    "Every kernel can be compared with its twin on your own device. "
                    <a href="#diagnostics">"See the diagnostics"</a>
                </p>
            </article>
        </section>
    }
}

/// A network learns a picture.
#[component]
fn Demo(state: State, redraw: Redraw) -> impl IntoView {
    let step = move || state.losses.with(Vec::len);
    let loss = move || state.losses.with(|l| l.last().map_or("–".into(), |l| format!("{l:.5}")));
    let toggle = move || match state.demo.get() {
        Phase::Training => "Pause",
        Phase::Paused => "Resume",
        _ => "Play again",
    };
    let device = move || match state.demo_executor.get() {
        Some(ExecutorKind::Gpu) => "on your graphics device, through WebGPU",
        _ => "on your CPU",
    };
    let executor = move || state.demo_executor.get().map(ExecutorKind::name);
    let words = move || match state.demo.get() {
        Phase::Idle | Phase::Loading => "Getting ready",
        Phase::Training => "Learning",
        Phase::Paused => "Paused",
        Phase::Done => "Learned",
        Phase::Failed => "Stopped",
    };
    let share = move || 100.0 * step() as f32 / state.steps.get().max(1) as f32;
    view! {
        <section class="card demo" aria-label="Live demonstration">
            <div class="demo-head">
                <div>
                    <h2>"Live, on this machine"</h2>
                    <p>
                        "A three-layer network is learning the left picture " {device}
                        ", in a worker beside this page. These are the building blocks that align data."
                    </p>
                </div>
                <div class="buttons">
                    <button
                        data-testid="pause"
                        disabled=move || state.demo.get() == Phase::Loading
                        on:click=move |_| state.pause_or_resume_demo()
                    >
                        {toggle}
                    </button>
                    <button class="quiet" data-testid="restart" on:click=move |_| state.restart_demo()>
                        "Start over"
                    </button>
                </div>
            </div>
            <div class="panels">
                <PicturePanel title="The picture" about="The picture to be learned" picture=state.target testid="target"/>
                <PicturePanel title="The network" about="What the network has learned so far" picture=state.learned testid="learned"/>
                <LossPanel state redraw/>
            </div>
            <div class="progress" aria-hidden="true"><i style=move || format!("width:{}%", share())></i></div>
            <p class="status" data-testid="status" data-state=move || state.demo.get().name() data-executor=executor>
                <strong>{words}</strong>
                <span>"step " <b data-testid="step">{step}</b> " of " {state.steps}</span>
                <span>"mean squared error " <b data-testid="loss">{loss}</b></span>
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
        </figure>
    }
}

#[component]
fn LossPanel(state: State, redraw: Redraw) -> impl IntoView {
    let canvas = NodeRef::<Canvas>::new();
    let scheduled = StoredValue::new(false);
    Effect::new(move || {
        redraw.track();
        state.losses.track();
        // Once a frame, however many events come in between.
        if canvas.get().is_none() || scheduled.get_value() {
            return;
        }
        scheduled.set_value(true);
        request_animation_frame(move || {
            scheduled.try_set_value(false);
            if let Some(Some(canvas)) = canvas.try_get_untracked() {
                state.losses.with_untracked(|l| draw_losses(&canvas, l, state.steps.get_untracked()));
            }
        });
    });
    let summary = move || {
        state.losses.with(|l| match (l.first(), l.last()) {
            (Some(first), Some(last)) => {
                format!("Loss curve: from {first:.3} to {last:.5} in {} steps", l.len())
            }
            _ => "Loss curve, still empty".into(),
        })
    };
    view! {
        <figure class="wide">
            <figcaption>"Mean squared error, step by step"</figcaption>
            <canvas class="chart" node_ref=canvas role="img" aria-label=summary data-testid="chart"></canvas>
        </figure>
    }
}
