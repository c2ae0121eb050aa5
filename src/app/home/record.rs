//! What a loaded record asks for, and how its files stand to those that are loaded.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::prelude::*;

use crate::app::repeat::{Standing, standing};
use crate::app::state::State;
use schema::Recorded;

#[component]
pub(super) fn RecordCard(state: State) -> impl IntoView {
    let repeat = Memo::new(move |_| state.repeat());
    let told = Memo::new(move |_| {
        let held = state.held_files();
        let files = repeat.get().map(|repeat| repeat.files).unwrap_or_default();
        files.into_iter().map(|file| (standing(&file, &held), file)).collect::<Vec<_>>()
    });
    let verdict = move || {
        told.with(|told| {
            let same = told.iter().filter(|(standing, _)| *standing == Standing::Same).count();
            match (told.len(), same) {
                (0, _) => "It names no files.".to_owned(),
                (all, same) if all == same => {
                    "All of its files are loaded: align to repeat the run.".to_owned()
                }
                (all, same) => format!("{same} of its {all} files are loaded as they were then."),
            }
        })
    };
    let wishes = move || {
        let repeat = repeat.get()?;
        let pairs = match repeat.pairs.len() {
            0 => None,
            n if state.record.pairs_wait.get() => {
                Some(format!("{n} pairs made by hand come back with the files they were made between."))
            }
            n => Some(format!("{n} pairs made by hand were taken over.")),
        };
        let chosen = repeat.chosen.map(|chosen| {
            format!("Candidate {} of {} was on show: {}.", chosen.candidate + 1, chosen.of, chosen.origin)
        });
        Some(pairs.into_iter().chain(chosen).collect::<Vec<_>>().join(" "))
    };
    let row = move |(standing, file): (Standing, Recorded)| {
        let words = standing.words(&file);
        let (name, word) = (file.name.clone(), standing.name());
        let again = match (standing, file.reading) {
            (Standing::ReadOtherwise(slot), Some(reading)) => Some(view! {
                <button
                    type="button"
                    class="quiet small"
                    aria-label=format!("Read as then: {}", file.name)
                    data-testid=format!("read-as-then-{}", file.name)
                    on:click=move |_| state.read_again(slot, |now| *now = reading.clone())
                >
                    "Read as then"
                </button>
            }),
            _ => None,
        };
        view! {
            <li data-file=name data-standing=word>
                <span class=if word == "same" { "good" } else { "" }>{words}</span>
                {again}
            </li>
        }
    };
    view! {
        <Show when=move || repeat.with(Option::is_some)>
            <div class="record" data-testid="record-files">
                <p role="status"><b>"The record of an earlier run. "</b> {verdict}</p>
                <p class="soft">"Its settings were taken over. " {wishes}</p>
                <ul>{move || told.get().into_iter().map(row).collect_view()}</ul>
                {move || state.record.remark.get().map(|words| view! {
                    <p class="reason" role="status" data-testid="record-remark">{words}</p>
                })}
            </div>
        </Show>
    }
}
