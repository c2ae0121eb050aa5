//! What the colours of the views mean, and what is drawn and selected in them.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::prelude::*;

use crate::app::canvas::is_dark;
use crate::app::scatter::{Cloud, Colouring, Linked};
use crate::app::{natural, palette};

/// What colours mean, and the lines between pairs.
#[component]
pub(super) fn Toolbar(linked: Linked, cloud: Signal<Cloud, LocalStorage>) -> impl IntoView {
    let known = Memo::new(move |_| cloud.with(Cloud::known));
    let shown = Memo::new(move |_| linked.colouring.get().within(known.get()));
    let modes = [
        ("domain", "data set", Colouring::Domain),
        ("label", "label", Colouring::Label),
        ("confidence", "confidence", Colouring::Confidence),
        ("share", "share", Colouring::Share),
        ("partner", "partner", Colouring::Partner),
    ]
    .map(|(name, label, mode)| {
        let lacks = move || mode.lacks(known.get());
        view! {
            <button
                type="button"
                class="toggle"
                data-testid=format!("colour-{name}")
                aria-pressed=move || (shown.get() == mode).to_string()
                disabled=move || lacks().is_some()
                title=lacks
                on:click=move |_| linked.colouring.set(mode)
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
    let matched = move || known.get().share;
    view! {
        <div class="toolbar">
            <div class="toggles" role="group" aria-label="Colour by">
                <span class="soft">"Colour by"</span>
                {modes}
            </div>
            <label class="check" title=move || (!matched()).then_some("There are matches when the run is done")>
                <input
                    type="checkbox"
                    data-testid="show-lines"
                    disabled=move || !matched()
                    prop:checked=move || matched() && linked.lines.get()
                    on:change=move |event| linked.lines.set(event_target_checked(&event))
                />
                "Lines between matches"
            </label>
        </div>
        <Legend shown cloud/>
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

/// Labels with their codes, by their names as people read them; and how many more repeat the colours of these.
pub(super) fn coded(names: Vec<String>) -> (Vec<(usize, String)>, usize) {
    let more = names.len().saturating_sub(NAMED);
    let mut coded: Vec<(usize, String)> = names.into_iter().enumerate().take(NAMED).collect();
    coded.sort_by(|a, b| natural::order(&a.1, &b.1));
    (coded, more)
}

#[component]
fn Legend(shown: Memo<Colouring>, cloud: Signal<Cloud, LocalStorage>) -> impl IntoView {
    // The picture moves many times a second; its names stay.
    let names = Memo::new(move |_| cloud.with(|cloud| cloud.label_names().to_vec()));
    let item = |colour: String, name: String| {
        view! { <li><i style:background=colour></i>{name}</li> }
    };
    let scale = move |names: [&'static str; 4]| {
        [0.05f32, 0.35, 0.65, 0.95]
            .into_iter()
            .zip(names)
            .map(|(value, name)| item(palette::css(palette::confidence(value, is_dark())), name.into()))
            .collect_view()
            .into_any()
    };
    let items = move || match shown.get() {
        Colouring::Domain => view! {
            <li><i style:background="var(--x)"></i>"data set X"</li>
            <li><i class="diamond" style:background="var(--y)"></i>"data set Y"</li>
        }
        .into_any(),
        Colouring::Confidence => scale(["unsure", "", "", "sure"]),
        Colouring::Share => scale(["small", "", "", "large"]),
        Colouring::Partner => [(false, "has a partner"), (true, "no partner")]
            .map(|(none, name)| item(palette::css(palette::partner(none, is_dark())), name.into()))
            .into_any(),
        Colouring::Label => {
            let (coded, more) = coded(names.get());
            let rest = (more > 0)
                .then(|| view! { <li class="soft">"and " {more} " more, in the same colours"</li> });
            let named = coded
                .into_iter()
                .map(|(code, name)| item(palette::css(palette::label(code as f32, is_dark())), name))
                .collect_view();
            view! { {named} {rest} }.into_any()
        }
    };
    let shapes =
        move || (shown.get() != Colouring::Domain).then(|| view! { <li>"discs are X, diamonds are Y"</li> });
    view! { <ul class="legend" aria-label="Legend" data-testid="legend">{items}{shapes}</ul> }
}
