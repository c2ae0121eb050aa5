//! What becomes of missing values, as buttons beside the file that has some.
#![allow(unreachable_pub)] // The component macro makes public items.

use formats::MissingChoice;
use leptos::prelude::*;

use crate::app::state::{SlotState, State};
use schema::Slot;

#[component]
pub(super) fn MissingValues(
    state: State,
    kept: Slot,
    /// Its name for automation: `missing-…`.
    name: String,
    words: Signal<String>,
    /// For automation, in words, and what it does.
    choices: Vec<(&'static str, &'static str, MissingChoice)>,
) -> impl IntoView {
    let current = Memo::new(move |_| state.files.get(kept).with(SlotState::reading).choices.missing);
    let buttons = choices
        .into_iter()
        .map(|(own, label, choice)| {
            view! {
                <button
                    type="button"
                    class="toggle"
                    aria-pressed=move || (current.get() == choice).to_string()
                    data-testid=format!("missing-{name}-{own}")
                    on:click=move |_| {
                        let next = if current.get_untracked() == choice { MissingChoice::Keep } else { choice };
                        state.read_again(kept, |reading| reading.choices.missing = next);
                    }
                >
                    {label}
                </button>
            }
        })
        .collect_view();
    view! {
        <div class="missing" role="group" aria-label="Missing values" data-testid=format!("missing-{name}")>
            <p>{words}</p>
            <div class="toggles">{buttons}</div>
        </div>
    }
}
