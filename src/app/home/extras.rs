//! Files beside the two data sets: labels, distances, shared columns, pairs, and a model.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::prelude::*;

use super::drop::{DropZone, ReadingState, summary};
use crate::app::state::{SlotPhase, State};
use schema::{Side, Slot};

/// The slot, its name for automation, its label, and what it is for.
const EXTRAS: [(Slot, &str, &str, &str); 10] = [
    (
        Slot::Labels(Side::X),
        "labels-x",
        "Labels of X",
        "a label or more for each row, for colours and scores",
    ),
    (
        Slot::Labels(Side::Y),
        "labels-y",
        "Labels of Y",
        "a label or more for each row, for colours and scores",
    ),
    (
        Slot::Distances(Side::X),
        "distances-x",
        "Distances of X",
        "a square table, instead of or beside the columns",
    ),
    (
        Slot::Distances(Side::Y),
        "distances-y",
        "Distances of Y",
        "a square table, instead of or beside the columns",
    ),
    (Slot::Shared(Side::X), "shared-x", "Shared columns of X", "columns that both sides have in common"),
    (Slot::Shared(Side::Y), "shared-y", "Shared columns of Y", "the same columns, in the same order"),
    (Slot::Pairs, "pairs", "Known pairs", "rows that belong together, for training"),
    (Slot::Truth, "truth", "True pairs", "for scoring only; training never sees them"),
    (Slot::Model, "model", "Trained model", "encoders that were saved here, for new data"),
    (Slot::Record, "record", "Run record", "the settings of an earlier run, from its run.json"),
];

#[component]
pub(super) fn MoreFiles(state: State) -> impl IntoView {
    let troubled = move || {
        EXTRAS
            .iter()
            .any(|(slot, ..)| state.files.get(*slot).with(|s| matches!(s.phase, SlotPhase::Failed(_))))
    };
    let fold = NodeRef::<leptos::html::Details>::new();
    Effect::new(move || {
        // A failure must be seen; closing the fold again is left to the visitor.
        if let (Some(fold), true) = (fold.get(), troubled()) {
            let _ = fold.set_attribute("open", "");
        }
    });
    let count =
        move || EXTRAS.iter().filter(|(slot, ..)| state.files.get(*slot).with(|s| s.in_use())).count();
    let rows = EXTRAS
        .into_iter()
        .map(|(slot, name, label, about)| view! { <Extra state kept=slot name label about/> })
        .collect_view();
    view! {
        <details class="fold extras" data-testid="more-files" node_ref=fold>
            <summary>
                "More files"
                <span class="soft">
                    {move || match count() { 0 => " labels, distances, known pairs…".into(), n => format!(" {n} in use") }}
                </span>
            </summary>
            <ul>{rows}</ul>
        </details>
    }
}

#[component]
pub(super) fn Extra(
    state: State,
    kept: Slot,
    name: &'static str,
    label: &'static str,
    about: &'static str,
) -> impl IntoView {
    let signal = state.files.get(kept);
    let held = Memo::new(move |_| {
        signal.with(|s| s.used.as_ref().map(|(source, content)| (source.file.name.clone(), summary(content))))
    });
    view! {
        <li class="extra">
            <DropZone state kept zone=None input=name.to_owned() class="drop-line">
                <b>{label}</b>
                <span class="soft">
                    {move || match held.get() {
                        Some((file, found)) => format!("{file}: {found}"),
                        None => about.to_owned(),
                    }}
                </span>
            </DropZone>
            <Show when=move || held.get().is_some()>
                <button
                    type="button"
                    class="quiet small"
                    data-testid=format!("remove-{name}")
                    aria-label=format!("Remove {label}")
                    on:click=move |_| state.unload(kept)
                >
                    "Remove"
                </button>
            </Show>
            <ReadingState state kept name=name.to_owned()/>
        </li>
    }
}
