//! The table of matches, searched and paged by the worker, which has all of them.
#![allow(unreachable_pub)] // The component macro makes public items.

use std::sync::Arc;

use leptos::prelude::*;

use crate::app::scatter::Linked;
use crate::app::state::State;
use schema::{MatchRow, Side};

/// Rows a page, as the state asks for them.
const PAGE: u32 = crate::app::state::PAGE;

#[component]
pub(super) fn Matches(state: State, linked: Linked) -> impl IntoView {
    let results = state.results;
    let search = move |text: String| {
        results.words.set(text);
        state.ask_matches(0);
    };
    let place = move || {
        results.table.with(|table| {
            let last = table.from + table.rows.len() as u32;
            if table.total == 0 {
                "no match".into()
            } else {
                format!("{}–{last} of {}", table.from + 1, table.total)
            }
        })
    };
    let select = move |_| {
        let Some(shown) = untrack(|| results.shown()) else { return };
        let mut chosen = [shown.outcome.n, shown.outcome.m].map(|count| vec![false; count as usize]);
        results.table.with_untracked(|table| {
            for row in &table.rows {
                for (side, at) in [(0, row.x), (1, row.y)] {
                    if let Some(place) = chosen[side].get_mut(at as usize) {
                        *place = true;
                    }
                }
            }
        });
        linked.selection.set(Some(Arc::new(chosen)));
    };
    let at_start = move || results.table.with(|table| table.from == 0);
    let at_end = move || results.table.with(|table| table.from + table.rows.len() as u32 >= table.total);
    view! {
        <div class="card">
            <div class="head">
                <h3>"Matches"</h3>
                <label class="field inline-field push">
                    <span>"Search ids and labels"</span>
                    <input
                        type="search"
                        data-testid="matches-search"
                        autocomplete="off"
                        disabled=move || !results.held.get()
                        prop:value=results.words
                        on:input=move |event| search(event_target_value(&event))
                    />
                </label>
            </div>
            <div class="scroll last-stays" tabindex="0" role="region" aria-label="Table of matches">
                <table data-testid="matches-table" data-total=move || results.table.with(|table| table.total)>
                    <thead>
                        <tr>
                            <th scope="col">"X"</th>
                            <th scope="col" class="beside">"its label"</th>
                            <th scope="col">"Y"</th>
                            <th scope="col" class="beside">"its label"</th>
                            <th
                                scope="col"
                                class="number"
                                title="How many of ten new fits agree, times the weight the row keeps"
                            >
                                "Confidence"
                            </th>
                            <th
                                scope="col"
                                class="beside number"
                                title="The part of the row's mass that this match gets"
                            >
                                "Share"
                            </th>
                            <th scope="col" class="beside">"Second choice"</th>
                            <th scope="col"><span class="unseen">"Confirm"</span></th>
                        </tr>
                    </thead>
                    <tbody>
                        {move || results.table.with(|table| {
                            table.rows.iter().cloned().map(|row| view! { <Row row state linked/> }).collect_view()
                        })}
                    </tbody>
                </table>
            </div>
            <div class="pager">
                <button
                    type="button"
                    class="quiet small"
                    data-testid="matches-previous"
                    disabled=move || at_start() || !results.held.get()
                    on:click=move |_| state.ask_matches(
                        results.table.with_untracked(|table| table.from.saturating_sub(PAGE)),
                    )
                >
                    "Previous"
                </button>
                <span class="soft" data-testid="matches-place" aria-live="polite">{place}</span>
                <button
                    type="button"
                    class="quiet small"
                    data-testid="matches-next"
                    disabled=move || at_end() || !results.held.get()
                    on:click=move |_| state.ask_matches(results.table.with_untracked(|table| table.from + PAGE))
                >
                    "Next"
                </button>
                <button
                    type="button"
                    class="quiet small push"
                    data-testid="matches-select"
                    on:click=select
                >
                    "Select these in the views"
                </button>
            </div>
        </div>
    }
}

fn name(id: &str, row: u32) -> String {
    if id.is_empty() { format!("row {}", row + 1) } else { id.to_owned() }
}

/// A row shows its points in all views while it has the pointer or the focus.
#[component]
fn Row(row: MatchRow, state: State, linked: Linked) -> impl IntoView {
    let at = row.x as usize;
    let point = move || linked.hover.set(Some((Side::X, at)));
    // Whatever has been pointed at meanwhile stays.
    let leave = move || {
        if linked.hover.get_untracked() == Some((Side::X, at)) {
            linked.hover.set(None);
        }
    };
    let sure = match row.confidence {
        Some(sure) => view! {
            <span class="meter" aria-hidden="true"><i style:width=format!("{:.0}%", 100.0 * sure.clamp(0.0, 1.0))></i></span>
            {format!("{sure:.2}")}
        }
        .into_any(),
        None => view! { <span title="Measured for data that a run was trained on">"–"</span> }.into_any(),
    };
    let (x, y) = (row.x, row.y);
    let confirmed = Memo::new(move |_| state.pairs.list.with(|list| list.holds(x, y)));
    let ids = StoredValue::new([row.x_id.clone(), row.y_id.clone()]);
    let confirm = move |_| match confirmed.get_untracked() {
        true => state.pairs.list.update(|list| list.remove(x, y)),
        false => state.make_pair(x, y, ids.get_value()),
    };
    view! {
        <tr
            class="match-row"
            data-testid="match-row"
            data-x=row.x
            data-y=row.y
            on:pointerenter=move |_| point()
            on:pointerleave=move |_| leave()
        >
            <th scope="row">
                <button
                    type="button"
                    class="link"
                    title="Show in the views"
                    on:focus=move |_| point()
                    on:blur=move |_| leave()
                    on:click=move |_| point()
                >
                    {name(&row.x_id, row.x)}
                </button>
            </th>
            <td class="beside">{row.x_label}</td>
            <td>
                {name(&row.y_id, row.y)}
                {row.alone.then(|| view! { <span class="soft" data-testid="no-partner">" (nearest: no partner)"</span> })}
            </td>
            <td class="beside">{row.y_label}</td>
            <td class="number">{sure}</td>
            <td class="beside number">{format!("{:.2}", row.share)}</td>
            <td class="beside">{name(&row.second_id, row.second)}</td>
            <td class="number">
                <button
                    type="button"
                    class="toggle"
                    data-testid=format!("confirm-{x}")
                    title="Makes it a known pair, for the next alignment"
                    aria-label=format!("This is right: {} with {}", name(&row.x_id, row.x), name(&row.y_id, row.y))
                    aria-pressed=move || confirmed.get().to_string()
                    disabled=move || !state.can_pair()
                    on:focus=move |_| point()
                    on:blur=move |_| leave()
                    on:click=confirm
                >
                    "This is right"
                </button>
            </td>
        </tr>
    }
}
