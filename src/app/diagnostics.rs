//! Which executor runs and why, what the device can do, and whether it computes correctly.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::prelude::*;

use super::canvas::Redraw;
use super::demo::DemoCard;
use super::meter_card::MeterCard;
use super::state::{Phase, State};
use schema::{CheckRow, Diagnostics, ExecutorKind, Fault};

#[component]
pub(super) fn DiagnosticsView(state: State, redraw: Redraw) -> impl IntoView {
    view! {
        <section class="page-head">
            <h1>"Diagnostics"</h1>
            <p class="lead">"What this browser computes with, and whether it computes correctly."</p>
        </section>
        <div class="columns">
            <section class="card">
                <h2>"Executor"</h2>
                {move || match state.diagnostics.get() {
                    None => view! { <p>"The worker is starting…"</p> }.into_any(),
                    Some(d) => view! { <Executor d/> }.into_any(),
                }}
                <p class="choices">
                    "Force one: "
                    <a href="?executor=gpu#diagnostics">"WebGPU"</a>
                    " · "
                    <a href="?executor=cpu#diagnostics">"CPU"</a>
                    " · "
                    <a href="?#diagnostics">"automatic"</a>
                </p>
            </section>
            <Drills state/>
        </div>
        <SelfCheck state/>
        <MeterCard/>
        <DemoCard state redraw/>
    }
}

#[component]
fn Executor(d: Diagnostics) -> impl IntoView {
    let name = match d.executor {
        ExecutorKind::Cpu => "CPU, in WebAssembly with SIMD",
        ExecutorKind::Gpu => "WebGPU",
    };
    let adapter = match (&d.adapter, d.software) {
        (Some(name), true) => format!("{name} (software)"),
        (Some(name), false) => name.clone(),
        (None, _) => "none in use".into(),
    };
    let limits = d
        .limits
        .iter()
        .map(|(name, value)| {
            let shown = if name.ends_with("Size") { bytes(*value) } else { value.to_string() };
            view! { <tr><th scope="row">{name.clone()}</th><td>{shown}</td></tr> }
        })
        .collect_view();
    view! {
        <dl>
            <dt>"Runs on"</dt>
            <dd data-testid="executor-name">{name}</dd>
            <dt>"Why"</dt>
            <dd data-testid="executor-reason">{d.reason}</dd>
            <dt>"Graphics adapter"</dt>
            <dd data-testid="adapter">{adapter}</dd>
        </dl>
        <Show when={let any = !d.limits.is_empty(); move || any}>
            <h3>"Limits asked for and granted"</h3>
        </Show>
        <table class="limits" data-testid="limits"><tbody>{limits}</tbody></table>
    }
}

/// Binary units: WebGPU's limits are powers of two.
fn bytes(value: u64) -> String {
    match value {
        v if v >= 1 << 30 => format!("{:.2} GiB", v as f64 / f64::from(1 << 30)),
        v if v >= 1 << 20 => format!("{:.0} MiB", v as f64 / f64::from(1 << 20)),
        v => format!("{:.0} KiB", v as f64 / 1024.0),
    }
}

#[component]
fn Drills(state: State) -> impl IntoView {
    let on_gpu =
        move || state.diagnostics.with(|d| d.as_ref().is_some_and(|d| d.executor == ExecutorKind::Gpu));
    view! {
        <section class="card">
            <h2>"Fire drill"</h2>
            <p>
                "See what happens when something breaks in the midst of work. The page says what happened and \
                 mends it, so that you can start again; nothing you loaded is lost."
            </p>
            <div class="buttons">
                <button class="quiet" data-testid="drill-panic" on:click=move |_| state.drill(Fault::Panic)>
                    "Crash the worker"
                </button>
                <button
                    class="quiet"
                    data-testid="drill-device"
                    disabled=move || !on_gpu()
                    title=move || (!on_gpu()).then_some("Only while WebGPU is in use")
                    on:click=move |_| state.drill(Fault::LoseDevice)
                >
                    "Lose the graphics device"
                </button>
                <button
                    class="quiet"
                    data-testid="drill-silence"
                    disabled=move || !on_gpu()
                    title=move || (!on_gpu()).then_some("Only while WebGPU is in use")
                    on:click=move |_| state.drill(Fault::SilenceDevice)
                >
                    "Stop the graphics device from answering"
                </button>
            </div>
        </section>
    }
}

#[component]
fn SelfCheck(state: State) -> impl IntoView {
    let running = move || state.demo.check.get() == Phase::Training;
    let verdict = move || {
        let rows = state.demo.check_rows.get();
        let total = state.diagnostics.with(|d| d.as_ref().map_or(0, |d| d.kernels));
        let passed = rows.iter().filter(|row| row.passed()).count();
        match state.demo.check.get() {
            Phase::Training => {
                format!("{} of {} kernels checked…", rows.len(), total)
            }
            Phase::Done if passed == rows.len() => {
                format!("All {passed} kernels agree with their CPU twins.")
            }
            Phase::Done => format!(
                "{} of {} kernels disagree. Use ?executor=cpu and please report this.",
                rows.len() - passed,
                rows.len()
            ),
            Phase::Failed => "The check could not be finished.".into(),
            _ => "Not run yet.".into(),
        }
    };
    view! {
        <section class="card">
            <div class="demo-head">
                <div>
                    <h2>"Self-check"</h2>
                    <p>
                        "Runs every kernel on this computer's WebGPU device, on random and ragged sizes, and \
                         compares it with its CPU twin."
                    </p>
                </div>
                <div class="buttons">
                    <button data-testid="self-check" disabled=running on:click=move |_| state.start_check()>
                        "Run the self-check"
                    </button>
                </div>
            </div>
            <p data-testid="check-status" data-state=move || state.demo.check.get().name() aria-live=move || if running() { "off" } else { "polite" }>
                <strong>{verdict}</strong>
            </p>
            <Show when=move || state.demo.check_rows.with(|rows| !rows.is_empty())>
                <div class="scroll" tabindex="0" role="region" aria-label="Kernels that were checked">
                    <table class="check" data-testid="check-table">
                        <thead>
                            <tr>
                                <th scope="col">"Kernel"</th>
                                <th scope="col">"What it does"</th>
                                <th scope="col" class="number">"Cases"</th>
                                <th scope="col" class="number">"Largest error"</th>
                                <th scope="col" class="number">"Of what is allowed"</th>
                                <th scope="col">"Verdict"</th>
                            </tr>
                        </thead>
                        <tbody>
                            <For each=move || state.demo.check_rows.get() key=|row| row.kernel.clone() let:row>
                                <Row row/>
                            </For>
                        </tbody>
                    </table>
                </div>
            </Show>
        </section>
    }
}

#[component]
fn Row(row: CheckRow) -> impl IntoView {
    let passed = row.passed();
    let exact = row.worst_error == 0.0;
    let worst = (!exact).then(|| view! { <small>"worst: " {row.worst_case}</small> });
    let [error, share] = if exact {
        ["none".into(), "–".into()]
    } else {
        [format!("{:.1e}", row.worst_error), format!("{:.1} %", 100.0 * row.worst_ratio)]
    };
    view! {
        <tr data-testid="check-row" data-passed=passed.to_string()>
            <th scope="row"><code>{row.kernel}</code></th>
            <td>{row.summary} {worst}</td>
            <td class="number">{row.cases}</td>
            <td class="number">{error}</td>
            <td class="number">{share}</td>
            <td class=if passed { "good" } else { "bad" }>{if passed { "agrees" } else { "disagrees" }}</td>
        </tr>
    }
}
