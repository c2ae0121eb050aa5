//! Everything that can be taken away, as files of common formats.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::prelude::*;

use super::doing::Doing;
use super::save::save_all;
use super::standing::Standing;
use crate::app::ledger::Activity;
use crate::app::scatter::Linked;
use crate::app::state::State;
use schema::{Export, Side};

/// The name for automation, the words, the format.
const EXPORTS: [(Export, &str, &str, &str); 11] = [
    (Export::Matches, "matches", "Matches", "CSV"),
    (Export::PlanTop, "plan", "Plan, largest entries", "CSV"),
    (Export::PlanDense, "plan-dense", "Plan, whole", "NPY"),
    (Export::Embeddings(Side::X), "embeddings-x", "Embedding of X", "NPY"),
    (Export::Embeddings(Side::Y), "embeddings-y", "Embedding of Y", "NPY"),
    (Export::Projection, "projection", "X among Y’s points", "NPY"),
    (Export::Model, "model", "Encoders", "safetensors"),
    (Export::Onnx(Side::X), "onnx-x", "Encoder of X", "ONNX"),
    (Export::Onnx(Side::Y), "onnx-y", "Encoder of Y", "ONNX"),
    (Export::Record, "record", "Run record", "JSON"),
    (Export::Everything, "everything", "Everything", "ZIP"),
];

#[component]
pub(super) fn Downloads(state: State, linked: Linked) -> impl IntoView {
    let results = state.results;
    let off = move || !results.held.get() || results.exporting.get().busy();
    let buttons = EXPORTS
        .map(|(what, name, words, format)| {
            view! {
                <button
                    type="button"
                    class="quiet download"
                    data-testid=format!("download-{name}")
                    disabled=off
                    on:click=move |_| state.export(what)
                >
                    {words} <small>{format}</small>
                </button>
            }
        })
        .collect_view();
    view! {
        <div class="card">
            <h3>"Take it with you"</h3>
            <Standing state name="standing-downloads"/>
            <div class="downloads">
                {buttons}
                <button
                    type="button"
                    class="quiet download"
                    data-testid="download-figures"
                    on:click=move |_| save_all(state, linked)
                >
                    "All pictures" <small>"SVG in a ZIP"</small>
                </button>
            </div>
            <label class="check">
                <input
                    type="checkbox"
                    data-testid="pictures-as-shown"
                    prop:checked=linked.as_shown
                    on:change=move |event| linked.as_shown.set(event_target_checked(&event))
                />
                "Pictures in the colours of this page, instead of those for paper"
            </label>
            <div class="buttons">
                <Doing state activity=Activity::Export phase=results.exporting name="export" cancel=State::cancel_export/>
            </div>
            <p class="soft" aria-live="polite">
                {move || if results.exporting.get().busy() {
                    view! { "Making the file…" }.into_any()
                } else if let Some((name, url)) = results.exported.get() {
                    view! { "Saved: " <a data-testid="exported" href=url download=name.clone()>{name.clone()}</a> }.into_any()
                } else if !results.held.get() && !state.run.phase.get().busy() {
                    view! { "The computing part was restarted and no longer holds this result: align again to download it." }.into_any()
                } else {
                    view! { "Files are made in this tab and saved by your browser." }.into_any()
                }}
            </p>
        </div>
    }
}
