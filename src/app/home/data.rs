//! The two data sets: where they come from, and a card on each.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::prelude::*;

use super::card::SideCard;
use super::drop::{DropZone, ReadingState};
use super::extras::MoreFiles;
use super::kept::KeepingChoice;
use super::record::RecordCard;
use crate::app::state::{SlotState, State};
use schema::{Content, Side, Slot};

#[component]
pub(super) fn DataSection(state: State) -> impl IntoView {
    view! {
        <section id="data" class="card" tabindex="-1" aria-labelledby="data-title">
            <h2 id="data-title">"Data"</h2>
            <div class="zones">
                <Zone state side=Side::X/>
                <Zone state side=Side::Y/>
            </div>
            <Show when=move || same_file(state)>
                <p class="soft" data-testid="same-file">
                    "Both sides hold the same table. That is allowed: a data set aligned with itself shows its symmetries."
                </p>
            </Show>
            <SideCard state side=Side::X/>
            <SideCard state side=Side::Y/>
            <MoreFiles state/>
            <KeepingChoice state/>
            <RecordCard state/>
        </section>
    }
}

/// Whether both sides seem to hold the same table.
fn same_file(state: State) -> bool {
    let held = |side| {
        state.files.get(Slot::Features(side)).with(|s: &SlotState| match &s.used {
            Some((_, Content::Table(table))) => Some((table.rows, table.cols, table.corner.clone())),
            _ => None,
        })
    };
    held(Side::X).is_some_and(|x| Some(x) == held(Side::Y))
}

/// One side's drop zone; what is loaded is named in it.
#[component]
fn Zone(state: State, side: Side) -> impl IntoView {
    let slot = Slot::Features(side);
    let letter = side.letter();
    let name = move || {
        let at =
            |slot| state.files.get(slot).with(|s: &SlotState| s.used.as_ref().map(|u| u.0.file.name.clone()));
        at(slot).or_else(|| at(Slot::Distances(side)))
    };
    view! {
        <div>
            <DropZone state kept=slot zone=Some(format!("drop-{letter}")) input=format!("file-{letter}") class=format!("drop side-{letter}")>
                <span class="badge">{letter.to_uppercase()}</span>
                <span class="drop-name" data-testid=format!("name-{letter}")>
                    {move || name().unwrap_or_else(|| format!("Data set {}", letter.to_uppercase()))}
                </span>
                <span class="drop-hint">"Drop a file here, or choose one"</span>
                <span class="drop-kinds">"CSV, TSV, .npy, .npz, .h5ad, .mtx"</span>
            </DropZone>
            <ReadingState state kept=slot name=letter.to_owned()/>
        </div>
    }
}
