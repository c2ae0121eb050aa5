//! Work beside the training: how far it is, and the button that gives it up.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::prelude::*;

use crate::app::ledger::Activity;
use crate::app::state::{Phase, State};

/// Shown while the activity is under way; `name` is that of the activity for automation.
#[component]
pub(super) fn Doing(
    state: State,
    activity: Activity,
    phase: RwSignal<Phase>,
    name: &'static str,
    cancel: fn(&State),
) -> impl IntoView {
    let share = move || state.results.share(activity).map(|share| 100.0 * share.clamp(0.0, 1.0));
    view! {
        <Show when=move || phase.get().busy()>
            <span
                class="doing"
                class:unknown=move || share().is_none()
                role="progressbar"
                aria-label="Progress"
                aria-valuemin="0"
                aria-valuemax="100"
                aria-valuenow=move || share().map(|share| format!("{share:.0}"))
                data-testid=format!("progress-{name}")
            >
                <i style:width=move || format!("{:.1}%", share().unwrap_or(100.0))></i>
            </span>
            <button type="button" class="quiet" data-testid=format!("cancel-{name}") aria-label=format!("Cancel: {name}") on:click=move |_| cancel(&state)>
                "Cancel"
            </button>
        </Show>
    }
}
