//! A place to drop a file on, or to choose one from.
#![allow(unreachable_pub)] // The component macro makes public items.

use formats::Way;
use leptos::prelude::*;
use web_sys::{DragEvent, File, FileList, HtmlInputElement};

use crate::app::state::{SlotPhase, State};
use schema::{Content, Slot};

fn list(files: Option<FileList>) -> Vec<File> {
    files.map(|files| (0..files.length()).filter_map(|at| files.get(at)).collect()).unwrap_or_default()
}

/// The input's change as files; the same file can be chosen again afterwards.
fn chosen(event: &web_sys::Event) -> Vec<File> {
    let input: HtmlInputElement = event_target(event);
    let files = list(input.files());
    input.set_value("");
    files
}

/// A label around a file input, which also takes what is dropped on it.
#[component]
pub(super) fn DropZone(
    state: State,
    kept: Slot,
    /// Names for automation, of the zone and of its input.
    zone: Option<String>,
    input: String,
    #[prop(into)] class: String,
    children: Children,
) -> impl IntoView {
    let over = RwSignal::new(false);
    let dropped = move |event: DragEvent| {
        event.prevent_default();
        over.set(false);
        let files = list(event.data_transfer().and_then(|data| data.files()));
        state.take_files(kept, &files);
    };
    view! {
        <label
            class=class
            class:over=over
            data-testid=zone
            on:dragover=move |event: DragEvent| {
                event.prevent_default();
                over.set(true);
            }
            on:dragleave=move |_| over.set(false)
            on:drop=dropped
        >
            <input
                type="file"
                class="hidden-input"
                data-testid=input
                on:change=move |event| state.take_files(kept, &chosen(&event))
            />
            {children()}
        </label>
    }
}

/// How far a reading is, with a way to end it; or why it failed.
#[component]
pub(super) fn ReadingState(state: State, kept: Slot, name: String) -> impl IntoView {
    let signal = state.files.get(kept);
    // Only what changes is drawn again: a button that is replaced with every byte could not be pressed.
    let reading = Memo::new(move |_| signal.with(|s| s.is_reading()));
    let share = move || match signal.with(|s| s.phase.clone()) {
        SlotPhase::Reading { done, of } if of > 0.0 => Some((100.0 * done / of).min(100.0)),
        _ => None,
    };
    let file =
        move || signal.with(|s| s.wanted.as_ref().map(|source| source.file.name.clone()).unwrap_or_default());
    let failure = Memo::new(move |_| {
        signal.with(|s| match &s.phase {
            SlotPhase::Failed(failure) => {
                let old = s.used.as_ref().map(|(source, _)| source.file.name.clone());
                Some((failure.clone(), old))
            }
            _ => None,
        })
    });
    let failed = format!("failure-{name}");
    view! {
        <Show when=move || reading.get()>
            <div class="reading" data-testid=format!("reading-{name}")>
                <span>"Reading " {file} {move || share().map(|share| format!(", {share:.0} %"))}</span>
                <progress max="100" value=move || share().map(|s| s.to_string()) aria-label="Reading"></progress>
                <button
                    type="button"
                    class="quiet small"
                    data-testid=format!("cancel-{name}")
                    on:click=move |_| state.cancel_reading(kept)
                >
                    "Cancel"
                </button>
            </div>
        </Show>
        {move || failure.get().map(|(failure, old)| {
            let old = old.map(|old| format!(" What was read before ({old}) is still in use."));
            view! {
                <div class="trouble" role="alert" data-testid=failed.clone()>
                    <strong>{failure.message}</strong>
                    <p>{failure.hint} {old}</p>
                    {(!failure.details.is_empty()).then(|| view! {
                        <details><summary>"Technical details"</summary><pre>{failure.details}</pre></details>
                    })}
                    <div class="buttons">
                        {ways(state, kept, &failed, failure.ways)}
                        <button type="button" class="quiet small" on:click=move |_| state.cancel_reading(kept)>
                            "Close"
                        </button>
                    </div>
                </div>
            }
        })}
    }
}

/// Other ways to read the same file, one click each: it is read again at once.
fn ways(state: State, kept: Slot, failed: &str, ways: Vec<Way>) -> impl IntoView {
    let name = failed.trim_start_matches("failure-").to_owned();
    let table = matches!(kept, Slot::Features(_) | Slot::Distances(_) | Slot::Shared(_) | Slot::New(_));
    ways.into_iter()
        .filter(|_| table)
        .map(|way| {
            let (key, words) = (way.key(), way.words());
            view! {
                <button
                    type="button"
                    class="small"
                    data-testid=format!("way-{name}-{key}")
                    on:click=move |_| state.read_again(kept, |reading| way.take(&mut reading.choices))
                >
                    {words}
                </button>
            }
        })
        .collect_view()
}

/// What was found in a file, in one line.
pub(super) fn summary(content: &Content) -> String {
    match content {
        Content::Table(preview) => format!("{} × {}, {}", preview.rows, preview.cols, preview.format),
        Content::Labels { rows, columns } => {
            let columns: Vec<String> =
                columns.iter().map(|(name, kinds)| format!("{name} ({kinds} different)")).collect();
            format!("{rows} rows: {}", columns.join(", "))
        }
        Content::Pairs { count, note } => format!("{count} pairs. {note}"),
        Content::Model { about } | Content::Record { about, .. } => about.clone(),
    }
}
