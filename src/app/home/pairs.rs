//! Pairs made by hand: how to make them, which there are, and what they change.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::prelude::*;

use crate::app::pairs::{Pair, PairList};
use crate::app::state::State;
use schema::{Content, Side, Slot};

#[component]
pub(super) fn PairsCard(state: State) -> impl IntoView {
    let pairs = state.pairs;
    let count = Memo::new(move |_| pairs.list.with(|list| list.all().len()));
    let hint = move || {
        match (pairs.making.get(), pairs.half.get()) {
        (true, Some((side, row))) => {
            let other = Side::BOTH[1 - side.index()].letter().to_uppercase();
            format!("{} is chosen. Now its partner: a point of {other}, in any view.", name(state, side, row as u32, ""))
        }
        (true, None) => "Click a point of X or of Y, in any view, then its partner of the other side.".into(),
        _ => "Rows that you are sure of steer the next alignment. Pair points in the views, or confirm a row of the \
              table of matches."
            .to_owned(),
    }
    };
    let from_file = move || {
        state.files.get(Slot::Pairs).with(|slot| match &slot.used {
            Some((source, Content::Pairs { count, .. })) => {
                Some(format!("{count} more come from {}.", source.file.name))
            }
            _ => None,
        })
    };
    let waiting = Memo::new(move |_| pairs.waiting());
    let blocked = Memo::new(move |_| state.blocker().is_some());
    view! {
        <div class="card" id="pairs">
            <div class="head">
                <h3>"Known pairs"</h3>
                <span class="tag" data-testid="pair-count" data-count=count>{count}</span>
                <button
                    type="button"
                    class="toggle"
                    data-testid="pair-mode"
                    aria-pressed=move || pairs.making.get().to_string()
                    disabled=move || !state.can_pair()
                    on:click=move |_| {
                        pairs.half.set(None);
                        pairs.making.update(|making| *making = !*making);
                    }
                >
                    "Pair points"
                </button>
                <div class="toggles push">
                    <Change state name="undo-pair" label="Undo" about="Undo the last change of pairs" can=PairList::can_undo change=PairList::undo/>
                    <Change state name="redo-pair" label="Redo" about="Redo the last change of pairs" can=PairList::can_redo change=PairList::redo/>
                    <Change
                        state
                        name="clear-pairs"
                        label="Clear"
                        about="Clear all pairs"
                        can=|list| !list.all().is_empty()
                        change=|list| list.replace(Vec::new())
                    />
                </div>
            </div>
            <p class="soft" aria-live="polite">{hint}</p>
            <Show when=move || !state.can_pair()>
                <p class="soft">
                    "Pairs can be made where the views show the data that is loaded for training: align first."
                </p>
            </Show>
            <ul class="pair-list" data-testid="pair-list">
                {move || pairs.list.with(|list| {
                    let each = list.all().iter().cloned().enumerate();
                    each.map(|(at, pair)| view! { <Row state at pair/> }).collect_view()
                })}
            </ul>
            {move || from_file().map(|words| view! { <p class="soft">{words}</p> })}
            <Show when=move || waiting.get()>
                <p class="waiting">
                    "The result does not know them as they are now. "
                    <button
                        type="button"
                        class="small"
                        data-testid="align-pairs"
                        aria-label="Align again with these pairs"
                        disabled=move || blocked.get() || state.run.phase.get().busy()
                        on:click=move |_| state.align()
                    >
                        "Align again"
                    </button>
                </p>
            </Show>
        </div>
    }
}

/// A button that changes the list.
#[component]
fn Change(
    state: State,
    name: &'static str,
    label: &'static str,
    about: &'static str,
    can: fn(&PairList) -> bool,
    change: fn(&mut PairList),
) -> impl IntoView {
    view! {
        <button
            type="button"
            class="quiet small"
            data-testid=name
            aria-label=about
            disabled=move || !state.pairs.list.with(can)
            on:click=move |_| state.pairs.list.update(change)
        >
            {label}
        </button>
    }
}

/// What a point is called.
fn name(state: State, side: Side, row: u32, known: &str) -> String {
    let letter = side.letter().to_uppercase();
    let id = state.results.ids.with(|ids| ids[side.index()].get(&row).cloned());
    match (known, id) {
        ("", Some(id)) => format!("{letter}: {id}"),
        ("", None) => format!("{letter}: row {}", row + 1),
        (known, _) => format!("{letter}: {known}"),
    }
}

#[component]
fn Row(state: State, at: usize, pair: Pair) -> impl IntoView {
    let Pair { x, y, names: [x_name, y_name] } = pair;
    let first = move || name(state, Side::X, x, &x_name);
    let second = move || name(state, Side::Y, y, &y_name);
    view! {
        <li data-x=x data-y=y>
            <span>{first}</span>
            <span class="tie" aria-label="belongs to">"↔"</span>
            <span>{second}</span>
            <button
                type="button"
                class="quiet small"
                data-testid=format!("remove-pair-{at}")
                aria-label=format!("Remove pair {}", at + 1)
                on:click=move |_| state.pairs.list.update(|list| list.remove(x, y))
            >
                "Remove"
            </button>
        </li>
    }
}
