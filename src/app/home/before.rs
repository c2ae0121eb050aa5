//! Says that the encoders of what is on show were not trained just now.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::prelude::*;

use crate::app::state::State;

#[component]
pub(super) fn TrainedBefore(state: State) -> impl IntoView {
    let before = Memo::new(move |_| {
        let idle = !state.run.phase.get().busy() && !state.results.stale.get();
        idle && state.results.trained.with(|t| t.as_ref().is_some_and(|t| t.outcome.trained_before))
    });
    view! {
        <Show when=move || before.get()>
            <p class="soft" data-testid="trained-before">
                "Aligned just now, in this tab, by encoders that were trained before. Press “Train it live” to watch \
                 them learn it from nothing."
            </p>
        </Show>
    }
}
