//! The frame meter of the diagnostics page: how smoothly this page draws, seen and measured.
#![allow(unreachable_pub)] // The component macro makes public items.

use std::time::Duration;

use leptos::html::Canvas;
use leptos::prelude::*;
use plotters::style::RGBColor;

use super::axis::Axis;
use super::canvas::finish;
use super::chart::{Line, draw_lines};
use super::meter::{self, now};
use super::palette;
use super::scatter::{Measured, measure};
use super::tally::{Gaps, Tally};

/// What is measured on demand.
const CURVE: usize = 5_000;
const CURVES: usize = 3;
const POINTS: usize = 100_000;
const REDRAWS: u32 = 20;
/// A frame at sixty a second; a gap that is felt.
const FRAME_MS: f64 = 1000.0 / 60.0;
const FELT_MS: f64 = 50.0;

#[component]
pub(super) fn MeterCard() -> impl IntoView {
    let seen = RwSignal::new(meter::seen());
    let look = move || seen.set(meter::seen());
    if let Ok(clock) = set_interval_with_handle(look, Duration::from_millis(500)) {
        on_cleanup(move || clock.clear());
    }
    let [chart, points] = [NodeRef::<Canvas>::new(), NodeRef::<Canvas>::new()];
    let measured = RwSignal::new(None::<(Tally, Measured)>);
    let run = move |_| {
        if let (Some(chart), Some(points)) = (chart.get_untracked(), points.get_untracked()) {
            let curves = redraws(&chart);
            measured.set(measure(&points, POINTS).map(|points| (curves, points)));
        }
    };
    view! {
        <section class="card">
            <div class="demo-head">
                <div>
                    <h2>"Frame meter"</h2>
                    <p>
                        "How long this page took for its own drawing, and how evenly frames came while a run was on. \
                         Train something, come back, and look."
                    </p>
                </div>
                <div class="buttons">
                    <button type="button" data-testid="meter-measure" on:click=run>"Measure"</button>
                    <button type="button" class="quiet" data-testid="meter-reset" on:click=move |_| {
                        meter::forget();
                        look();
                        measured.set(None);
                    }>"Forget"</button>
                </div>
            </div>
            <div class="scroll" tabindex="0" role="region" aria-label="Times that were measured">
                <table class="meter-table">
                    <thead>
                        <tr>
                            <th scope="col">"Seen"</th>
                            <th scope="col" class="number">"Times"</th>
                            <th scope="col" class="number">"Typical, ms"</th>
                            <th scope="col" class="number">"Worst, ms"</th>
                        </tr>
                    </thead>
                    <tbody>
                        <Row name="meter-charts" what="Chart redrawn" tally=Signal::derive(move || seen.with(|s| Figures::from(&s.charts)))/>
                        <Row name="meter-points" what="View of points redrawn" tally=Signal::derive(move || seen.with(|s| Figures::from(&s.points)))/>
                        <Row name="meter-frames" what="Gap between frames, while a run is on" tally=Signal::derive(move || seen.with(|s| Figures::from(&s.frames)))/>
                        {move || measured.get().map(|(curves, points)| {
                            let fixed = |tally: Figures| Signal::derive(move || tally);
                            let once = Tally { count: 1, total: points.first, worst: points.first };
                            view! {
                                <Row name="meter-chart-5000" what="Measured: a chart, three curves of 5,000 points" tally=fixed(Figures::from(&curves))/>
                                <Row name="meter-scatter-first" what="Measured: 100,000 points, drawn first" tally=fixed(Figures::from(&once))/>
                                <Row name="meter-scatter-moved" what="Measured: 100,000 points, moved and zoomed" tally=fixed(Figures::from(&points.moved))/>
                                <Row name="meter-scatter-pointed" what="Measured: the point under the pointer, of 100,000" tally=fixed(Figures::from(&points.pointed))/>
                            }
                        })}
                    </tbody>
                </table>
            </div>
            <p class="remark">
                {move || seen.with(|s| format!(
                    "{} of {} gaps were longer than {FELT_MS:.0} ms. A frame lasts {FRAME_MS:.1} ms at sixty a second.",
                    s.frames.longer(FELT_MS),
                    s.frames.count(),
                ))}
            </p>
            <div class="off-screen" aria-hidden="true">
                <canvas class="chart" node_ref=chart></canvas>
                <canvas class="picture" node_ref=points></canvas>
            </div>
        </section>
    }
}

/// A line of the table.
#[derive(Clone, Copy, PartialEq)]
struct Figures {
    count: usize,
    typical: f64,
    worst: f64,
}

impl From<&Tally> for Figures {
    fn from(tally: &Tally) -> Self {
        Self { count: tally.count as usize, typical: tally.mean(), worst: tally.worst }
    }
}

impl From<&Gaps> for Figures {
    fn from(gaps: &Gaps) -> Self {
        Self { count: gaps.count(), typical: gaps.median(), worst: gaps.longest() }
    }
}

#[component]
fn Row(name: &'static str, what: &'static str, tally: Signal<Figures>) -> impl IntoView {
    let [typical, worst] =
        [|f: Figures| f.typical, |f: Figures| f.worst].map(|of| move || format!("{:.1}", of(tally.get())));
    view! {
        <tr
            data-testid=name
            data-count=move || tally.get().count
            data-typical=move || tally.get().typical.to_string()
            data-worst=move || tally.get().worst.to_string()
        >
            <th scope="row">{what}</th>
            <td class="number">{move || tally.get().count}</td>
            <td class="number">{typical}</td>
            <td class="number">{worst}</td>
        </tr>
    }
}

/// A chart as in training, drawn again and again.
fn redraws(canvas: &web_sys::HtmlCanvasElement) -> Tally {
    let curve = |k: usize| -> Vec<f32> {
        (0..CURVE)
            .map(|t| (1.0 + k as f32) * (-(t as f32) / 900.0).exp() + 0.02 * (t as f32 * 1.7).sin())
            .collect()
    };
    let curves: Vec<Vec<f32>> = (0..CURVES).map(curve).collect();
    let mut tally = Tally::default();
    for _ in 0..REDRAWS {
        let start = now();
        let lines = curves.iter().enumerate().map(|(at, values)| {
            let [r, g, b] = palette::label(at as f32, false);
            Line { values, colour: RGBColor(r, g, b) }
        });
        draw_lines(canvas, &lines.collect::<Vec<_>>(), CURVE as u32, Axis::Linear);
        finish(canvas);
        tally.add(now() - start);
    }
    tally
}
