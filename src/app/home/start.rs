//! The button that starts a run. While one is under way it is not what people come for: it says that it would start over,
//! and asks once more before it does.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::prelude::*;

use crate::app::meter::now;
use crate::app::state::State;

/// Milliseconds before an answer is taken for one: the second half of a double click is none.
const PAUSE: f64 = 500.0;

#[component]
pub(super) fn AlignButton(
    state: State,
    /// For automation.
    name: &'static str,
    /// What it says while nothing is under way.
    label: Signal<&'static str>,
    /// Its class at such times.
    #[prop(default = "")]
    class: &'static str,
) -> impl IntoView {
    // When it was asked to start over.
    let asked = RwSignal::new(None::<f64>);
    let training = Memo::new(move |_| state.training());
    Effect::new(move || {
        training.track();
        asked.set(None);
    });
    let blocked = Memo::new(move |_| state.blocker().is_some());
    let press = move |_| match asked.get_untracked() {
        None if training.get_untracked() => asked.set(Some(now())),
        Some(at) if now() - at < PAUSE => {}
        _ => {
            asked.set(None);
            state.align();
        }
    };
    view! {
        <button
            type="button"
            class=move || if training.get() { "quiet" } else { class }
            data-testid=name
            data-asking=move || asked.with(Option::is_some).to_string()
            disabled=move || blocked.get()
            title=move || training.get().then_some("Gives this run up and begins anew, with the settings as they are")
            on:click=press
            on:blur=move |_| asked.set(None)
        >
            {move || match (training.get(), asked.with(Option::is_some)) {
                (true, true) => "Really start over?",
                (true, false) => "Start over",
                _ => label.get(),
            }}
        </button>
    }
}
