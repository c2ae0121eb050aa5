//! What the next alignment would take, said beside the button that starts it.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::prelude::*;

use super::duration;
use crate::app::state::State;

#[component]
pub(super) fn EstimateLine(state: State) -> impl IntoView {
    let shown = move || state.estimate.get().filter(|_| !state.run.phase.get().busy());
    move || {
        shown().map(|estimate| {
            let [n, m] = estimate.rows;
            let learned = if n.max(m) <= estimate.sample {
                "learns from all points".to_owned()
            } else {
                format!("learns from {} of {} points a side", grouped(estimate.sample), grouped(n.max(m)))
            };
            let smaller = estimate.wished.map(|wished| {
                format!(
                    "Of the {} points that are set only {} fit into memory.",
                    grouped(wished),
                    grouped(estimate.sample)
                )
            });
            let refused = estimate.refusal.is_some();
            let note = estimate.refusal.clone().or(smaller);
            view! {
                <p
                    class="estimate"
                    data-testid="estimate"
                    data-seconds=estimate.seconds.to_string()
                    data-bytes=format!("{:.0}", estimate.bytes)
                    data-sample=estimate.sample
                >
                    <b>"about " {duration(estimate.seconds.max(1.0))}</b>
                    <span title=format!("of {} that this tab may take", memory(estimate.room))>
                        {memory(estimate.bytes)} " of memory"
                    </span>
                    <span>{learned}</span>
                    <span>{estimate.way.words()}</span>
                </p>
                {note.map(|note| view! {
                    <p class:reason=refused class:soft=!refused data-testid="estimate-note">{note}</p>
                })}
            }
        })
    }
}

/// Bytes in words.
fn memory(bytes: f64) -> String {
    match bytes {
        b if b < 1e7 => "under 10 MB".into(),
        b if b < 1e9 => format!("{:.0} MB", b / 1e6),
        b => format!("{:.1} GB", b / 1e9),
    }
}

/// A number with its thousands apart.
pub(super) fn grouped(number: u32) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
