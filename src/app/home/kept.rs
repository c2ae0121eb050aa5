//! What earlier visits have left, and whether this one leaves anything.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::prelude::*;

use crate::app::kept::Kept;
use crate::app::meter::now;
use crate::app::state::{State, in_words};

/// Offers at the top of the page; the others are offered when these are gone.
const SHOWN: usize = 3;
/// Milliseconds in which a second press is taken for the second half of a double click.
const PAUSE: f64 = 400.0;

#[component]
pub(super) fn Offers(state: State) -> impl IntoView {
    let keeping = state.keeping;
    // Whoever is in the midst of a training does not want to end it by a slip.
    let most = move || if state.training() || keeping.changing.get() { 0 } else { SHOWN };
    let first = move || keeping.offers.with(|offers| offers.iter().take(most()).cloned().collect::<Vec<_>>());
    let pressed = StoredValue::new(f64::MIN);
    view! {
        <For
            each=first
            // One that another tab has gone on with is another offer.
            key=|(id, kept)| (id.clone(), kept.when.to_bits())
            children=move |(id, kept)| view! { <Offer state id kept pressed/> }
        />
        {move || keeping.changing.get().then(|| view! {
            <div class="notice kept late" role="status"><p>"Reading what was kept …"</p></div>
        })}
        {move || keeping.remark.get().map(|words| view! {
            <div class="notice kept" role="status" data-testid="kept-remark">
                <p>{words}</p>
                <button class="quiet" on:click=move |_| keeping.remark.set(None)>"Dismiss"</button>
            </div>
        })}
    }
}

#[component]
fn Offer(
    state: State,
    id: String,
    kept: Kept,
    /// When an offer was last answered.
    pressed: StoredValue<f64>,
) -> impl IntoView {
    let words = in_words(&kept);
    let id = StoredValue::new(id);
    // The next offer takes the place of one that is answered: the second half of a double click does not mean that one.
    let answered = move || {
        let again = now() - pressed.get_value() < PAUSE;
        pressed.set_value(now());
        !again
    };
    let go_on = move |_| {
        if answered() {
            state.take_up(id.get_value());
        }
    };
    let not_now = move |_| {
        if answered() {
            state.keeping.not_now(&id.get_value());
        }
    };
    let forget = move |_| {
        if answered() {
            state.forget(id.get_value());
        }
    };
    view! {
        <div class="notice kept" role="status" data-testid="kept-offer">
            <p>"Go on where you were? " <strong>{words}</strong> "."</p>
            <div class="row">
                <button class="primary" data-testid="kept-go-on" on:click=go_on>"Go on"</button>
                <button class="quiet" data-testid="kept-not-now" on:click=not_now>"Not now"</button>
                <button class="quiet" data-testid="kept-forget" on:click=forget>"Forget it"</button>
            </div>
        </div>
    }
}

/// The choice, and what the browser says to it.
#[component]
pub(super) fn KeepingChoice(state: State) -> impl IntoView {
    let keeping = state.keeping;
    let choose = move |event| state.want_keeping(event_target_checked(&event));
    view! {
        <div class="keeping">
            <label class="check">
                <input
                    type="checkbox"
                    data-testid="keep-work"
                    prop:checked=move || keeping.wanted.get()
                    on:change=choose
                />
                <span>"Keep files and training in this browser, so that a reload or a crash loses nothing"</span>
            </label>
            <KeepingStand state/>
        </div>
    }
}

/// Whether anything is kept, where it is not.
#[component]
pub(super) fn KeepingStand(state: State) -> impl IntoView {
    let keeping = state.keeping;
    view! {
            {move || match (keeping.wanted.get(), keeping.refused.get()) {
                (true, Some(reason)) => view! {
                    <p class="remark" role="status" data-testid="keep-refused">
                        {if keeping.has_kept() {
                            format!(
                                "This browser keeps nothing more: {reason}. Everything works, but a reload loses what \
                                 has changed since."
                            )
                        } else {
                            format!(
                                "This browser keeps nothing: {reason}. Everything works, but a reload loses the files \
                                 and the run."
                            )
                        }}
                    </p>
                }.into_any(),
                (false, _) => view! {
                    <p class="soft" data-testid="keep-unwanted">"Nothing is kept: a reload loses the files and the run."</p>
                }.into_any(),
                (true, None) => ().into_any(),
            }}
    }
}
