//! Trained encoders applied to points they have never seen.
#![allow(unreachable_pub)] // The component macro makes public items.

use formats::MissingChoice;
use leptos::prelude::*;

use super::doing::Doing;
use super::drop::{DropZone, ReadingState, summary};
use super::extras::Extra;
use super::missing::MissingValues;
use crate::app::ledger::Activity;
use crate::app::samples;
use crate::app::state::State;
use schema::{Content, NewRows, Side, Slot};

/// Files beside the new rows: the slot, its name for automation, its label, and what it is for.
const BESIDE: [(Slot, &str, &str, &str); 3] = [
    (Slot::NewLabels(Side::X), "new-labels-x", "Labels of the new X", "for colours and scores"),
    (Slot::NewLabels(Side::Y), "new-labels-y", "Labels of the new Y", "for colours and scores"),
    (
        Slot::NewTruth,
        "new-truth",
        "True pairs of the new rows",
        "for scoring only; needs new rows of both sides",
    ),
];

#[component]
pub(super) fn NewDataSection(state: State) -> impl IntoView {
    let results = state.results;
    let sample = move || {
        let name = state.files.sample.get();
        samples::ALL.iter().find(|sample| Some(sample.name) == name && sample.unseen)
    };
    let in_use = move |slot: Slot| state.files.get(slot).with(|s| s.in_use());
    let reading = move |slot: Slot| state.files.get(slot).with(|s| s.is_reading());
    let new = [Slot::New(Side::X), Slot::New(Side::Y)];
    let blocker = Memo::new(move |_| {
        if new.iter().chain(&BESIDE.map(|(slot, ..)| slot)).any(|slot| reading(*slot)) {
            Some("A file is still being read.".to_owned())
        } else if !new.iter().any(|slot| in_use(*slot)) {
            Some("Load new rows of X, of Y, or of both first; they need the same columns as before.".into())
        } else if !(results.held.get() || in_use(Slot::Model)) {
            Some("There are no encoders yet: align first, or load a trained model under More files.".into())
        } else {
            state.new_rows_refused()
        }
    });
    let applying = move || results.applying.get();
    view! {
        <section id="new-data" class="card" aria-labelledby="new-title">
            <h2 id="new-title">"New data"</h2>
            <p>
                "The encoders map rows they have never seen. Give new rows of X, of Y, or of both, with the same columns as before."
            </p>
            <div class="zones">
                <NewZone state side=Side::X/>
                <NewZone state side=Side::Y/>
            </div>
            <details class="fold extras" data-testid="new-files">
                <summary>
                    "Labels and true pairs of the new rows" <span class="soft">" to score them"</span>
                </summary>
                <ul>
                    {BESIDE.map(|(slot, name, label, about)| view! { <Extra state kept=slot name label about/> }).collect_view()}
                </ul>
            </details>
            <div class="buttons">
                <button
                    type="button"
                    data-testid="apply"
                    data-state=move || applying().name()
                    disabled=move || blocker.with(Option::is_some) || applying().busy()
                    on:click=move |_| state.apply()
                >
                    {move || if applying().busy() { "Applying…" } else { "Apply the encoders" }}
                </button>
                <Doing state activity=Activity::Apply phase=results.applying name="apply" cancel=State::cancel_applying/>
                {move || sample().map(|sample| view! {
                    <button
                        type="button"
                        class="quiet"
                        data-testid="sample-new"
                        on:click=move |_| state.load_sample_new_points()
                    >
                        "Take the unseen points of " {sample.title}
                    </button>
                })}
                <Show when=move || results.fresh.with(Option::is_some)>
                    <button type="button" class="quiet" data-testid="back-from-new" on:click=move |_| state.back_to_training()>
                        "Back to the data of training"
                    </button>
                </Show>
            </div>
            {move || blocker.get().map(|reason| view! { <p class="soft" data-testid="why-not-apply">{reason}</p> })}
            {move || results.not_applied.get().map(|failure| view! {
                <div class="trouble" role="alert" data-testid="failure-apply">
                    <strong>{failure.message}</strong>
                    <p>{failure.hint}</p>
                    <button type="button" class="quiet small" on:click=move |_| results.not_applied.set(None)>
                        "Close"
                    </button>
                </div>
            })}
        </section>
    }
}

#[component]
fn NewZone(state: State, side: Side) -> impl IntoView {
    let slot = Slot::New(side);
    let letter = side.letter();
    let held = Memo::new(move |_| {
        state
            .files
            .get(slot)
            .with(|s| s.used.as_ref().map(|(source, content)| (source.file.name.clone(), summary(content))))
    });
    view! {
        <div>
            <DropZone state kept=slot zone=Some(format!("drop-new-{letter}")) input=format!("new-{letter}") class=format!("drop small-drop side-{letter}")>
                <span class="badge">{letter.to_uppercase()}</span>
                <span class="drop-name">
                    {move || held.get().map_or_else(|| format!("New rows of {}", letter.to_uppercase()), |(file, _)| file)}
                </span>
                <span class="drop-hint">
                    {move || held.get().map_or_else(|| "Drop a file here, or choose one".into(), |(_, found)| found)}
                </span>
            </DropZone>
            <ReadingState state kept=slot name=format!("new-{letter}")/>
            <Following state side/>
        </div>
    }
}

/// How the rows follow those of training, or why they cannot, right where the file is.
#[component]
fn Following(state: State, side: Side) -> impl IntoView {
    let letter = side.letter();
    let slot = Slot::New(side);
    let told = Memo::new(move |_| state.new_rows.with(|sides| sides[side.index()].clone()));
    let missing = Memo::new(move |_| {
        state.files.get(slot).with(|s| match &s.used {
            Some((_, Content::Table(preview))) => preview.missing_total,
            _ => 0,
        })
    });
    view! {
        {move || {
            let NewRows { said, refused } = told.get();
            let said = said
                .into_iter()
                .map(|words| view! { <p class="remark" data-testid=format!("follows-new-{letter}")>{words}</p> })
                .collect_view();
            let refused = refused.map(|words| view! {
                <div class="trouble" role="alert" data-testid=format!("misfit-new-{letter}")><strong>{words}</strong></div>
            });
            view! { {refused} {said} }
        }}
        {move || (missing.get() > 0).then(|| view! {
            <MissingValues
                state
                kept=slot
                name=format!("new-{letter}")
                words=Signal::derive(|| "Missing values:".to_owned())
                choices=vec![
                    ("drop-rows", "leave out those rows", MissingChoice::DropRows),
                    ("mean", "fill in the mean of training", MissingChoice::Mean),
                    ("zero", "fill in zero", MissingChoice::Zero),
                ]
            />
        })}
    }
}
