//! Says of a result that is not of what is loaded now that it is not.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::prelude::*;

use crate::app::state::State;

#[component]
pub(super) fn Standing(
    state: State,
    /** For automation. */
    name: &'static str,
) -> impl IntoView {
    let words = Memo::new(move |_| state.remark());
    move || {
        words.get().map(|words| {
            view! { <p class="standing" role="note" data-testid=name>{words}</p> }
        })
    }
}
