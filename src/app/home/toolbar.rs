//! What the colours of the views mean, and what is drawn and selected in them.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::prelude::*;

use crate::app::canvas::is_dark;
use crate::app::scatter::{Colouring, Linked};
use crate::app::state::State;
use crate::app::{natural, palette};

/// What colours mean, and the lines between pairs.
#[component]
pub(super) fn Toolbar(state: State, linked: Linked) -> impl IntoView {
    let has_labels = move || {
        state.results.shown().is_some_and(|s| s.labels.iter().any(|l| !l.is_empty()))
            || state.run.moving.with(|m| m.as_ref().is_some_and(|m| !m.x_labels.is_empty()))
    };
    // A finished result is shown by its labels, where it has some, unless the visitor has chosen otherwise.
    let chosen = StoredValue::new(false);
    let labelled =
        Memo::new(move |_| state.results.shown().is_some_and(|s| s.labels.iter().all(|l| !l.is_empty())));
    Effect::new(move || {
        let best = if labelled.get() { Colouring::Label } else { Colouring::Domain };
        if !chosen.get_value() {
            linked.colouring.set(best);
        }
    });
    let modes = [
        ("domain", "data set", Colouring::Domain),
        ("label", "label", Colouring::Label),
        ("confidence", "confidence", Colouring::Confidence),
    ]
    .map(|(name, label, mode)| {
        let off = move || mode == Colouring::Label && !has_labels();
        view! {
            <button
                type="button"
                class="toggle"
                data-testid=format!("colour-{name}")
                aria-pressed=move || (linked.colouring.get() == mode).to_string()
                disabled=off
                title=move || off().then_some("There are no labels")
                on:click=move |_| {
                    chosen.set_value(true);
                    linked.colouring.set(mode);
                }
            >
                {label}
            </button>
        }
    })
    .collect_view();
    let selected = move || {
        linked
            .selection
            .with(|s| s.as_ref().map(|s| s.each_ref().map(|side| side.iter().filter(|c| **c).count())))
    };
    view! {
        <div class="toolbar">
            <div class="toggles" role="group" aria-label="Colour by">
                <span class="soft">"Colour by"</span>
                {modes}
            </div>
            <label class="check">
                <input
                    type="checkbox"
                    data-testid="show-lines"
                    prop:checked=linked.lines
                    on:change=move |event| linked.lines.set(event_target_checked(&event))
                />
                "Lines between matches"
            </label>
        </div>
        <Legend state linked/>
        {move || selected().map(|[x, y]| view! {
            <p class="selected" data-testid="selection" data-x=x data-y=y>
                {x} " of X and " {y} " of Y selected "
                <button type="button" class="quiet small" data-testid="clear-selection" on:click=move |_| linked.selection.set(None)>
                    "Clear"
                </button>
            </p>
        })}
    }
}

/// So many labels are named; more would not be told apart.
const NAMED: usize = palette::DISTINCT;

#[component]
fn Legend(state: State, linked: Linked) -> impl IntoView {
    let item = |colour: String, name: String| {
        view! { <li><i style=format!("background:{colour}")></i>{name}</li> }
    };
    let items = move || match linked.colouring.get() {
        Colouring::Domain => view! {
            <li><i style="background:var(--x)"></i>"data set X"</li>
            <li><i class="diamond" style="background:var(--y)"></i>"data set Y"</li>
        }
        .into_any(),
        Colouring::Confidence => [0.05f32, 0.35, 0.65, 0.95]
            .into_iter()
            .zip(["unsure", "", "", "sure"])
            .map(|(value, name)| item(palette::css(palette::confidence(value, is_dark())), name.into()))
            .collect_view()
            .into_any(),
        Colouring::Label => {
            let names = state.results.shown().map(|s| {
                let [x, y] = &s.outcome.labels;
                if x.names.len() >= y.names.len() { x.names.clone() } else { y.names.clone() }
            });
            let names = names.unwrap_or_default();
            let more = names.len().saturating_sub(NAMED);
            let rest = (more > 0)
                .then(|| view! { <li class="soft">"and " {more} " more, in the same colours"</li> });
            // By their names as people read them; the rest repeats the colours of these.
            let mut coded: Vec<(usize, String)> = names.into_iter().enumerate().take(NAMED).collect();
            coded.sort_by(|a, b| natural::order(&a.1, &b.1));
            let named = coded
                .into_iter()
                .map(|(code, name)| item(palette::css(palette::label(code as f32, is_dark())), name))
                .collect_view();
            view! { {named} {rest} }.into_any()
        }
    };
    let shapes = move || {
        (linked.colouring.get() != Colouring::Domain)
            .then(|| view! { <li>"discs are X, diamonds are Y"</li> })
    };
    view! { <ul class="legend" aria-label="Legend">{items}{shapes}</ul> }
}
