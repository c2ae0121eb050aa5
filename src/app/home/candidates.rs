//! The other alignments that a run has found, and what is worth knowing about it.
#![allow(unreachable_pub)] // The component macro makes public items.

use formats::Step;
use leptos::prelude::*;

use crate::app::state::State;
use schema::{AlignOptions, Finding, Side};

#[component]
pub(super) fn Candidates(state: State) -> impl IntoView {
    let results = state.results;
    let rows = move || {
        let Some(shown) = results.shown() else { return Vec::new() };
        let current = shown.outcome.shown as usize;
        let each = shown.outcome.candidates.iter().cloned().enumerate();
        each.map(|(at, candidate)| {
            let mine = at == current;
            let kind = match candidate.encoder.as_str() {
                "mlp" => "network",
                other => other,
            }
            .to_owned();
            view! {
                <tr class:current=mine aria-current=mine.then_some("true")>
                    <td class="number">{format!("{:.4}", candidate.score)}</td>
                    <td class="number">{optional(candidate.nuclear_norm)}</td>
                    <td class="number">{optional(candidate.third_moment)}</td>
                    <td>{kind}</td>
                    <td>
                        {candidate.origin}
                        {candidate.alternative.then(|| view! { <strong>" · fits about as well"</strong> })}
                    </td>
                    <td class="number">{format!("{:.2}", candidate.difference)}</td>
                    <td class="number">
                        <button
                            type="button"
                            class="quiet small"
                            data-testid=format!("show-candidate-{at}")
                            aria-label=format!("{} candidate {}", if mine { "Shown:" } else { "Show" }, at + 1)
                            disabled=move || mine || !results.held.get() || results.showing.get().busy()
                            on:click=move |_| state.show_candidate(at as u32)
                        >
                            {if mine { "Shown" } else { "Show" }}
                        </button>
                    </td>
                </tr>
            }
        })
        .collect()
    };
    // New points are matched by the encoders that are on show; there is nothing to choose.
    let none = move || results.shown().is_some_and(|shown| shown.outcome.candidates.is_empty());
    view! {
        <div class="card" class:gone=none>
            <h3>"All alignments that were found"</h3>
            <p class="soft">
                "No score needs labels. Ranks: how well matches keep the order of distances. Shape: how well the two clouds \
                 overlap; it decides between linear maps. Skew: how well their third moments agree. Difference: how far \
                 matches lie from those of the first (0 the same, 0.5 unrelated)."
            </p>
            <div class="scroll last-stays" tabindex="0" role="region" aria-label="Candidates" data-home="">
                <table data-testid="candidates">
                    <thead>
                        <tr>
                            <th scope="col" class="number">"Ranks"</th>
                            <th scope="col" class="number">"Shape"</th>
                            <th scope="col" class="number">"Skew"</th>
                            <th scope="col">"Encoder"</th>
                            <th scope="col">"Origin"</th>
                            <th scope="col" class="number" title="0 the same matches as the best, 0.5 unrelated">"Difference"</th>
                            <th scope="col"><span class="unseen">"Show"</span></th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </div>
    }
}

/// A score, where there is one.
fn optional(score: Option<f64>) -> String {
    score.map_or_else(|| "–".to_owned(), |score| format!("{score:.4}"))
}

/// What is worth knowing about the run, and what might be done.
#[component]
pub(super) fn Health(state: State) -> impl IntoView {
    let findings =
        move || state.results.shown().map(|shown| shown.outcome.findings.clone()).unwrap_or_default();
    view! {
        <div class="card" data-testid="health">
            <h3>"Health of this run"</h3>
            {move || {
                let findings = findings();
                if findings.is_empty() {
                    let verdict = state.results.shown().and_then(|shown| shown.outcome.verdict.clone());
                    let verdict = verdict.unwrap_or_else(|| "Nothing unusual was found.".into());
                    view! { <p class="good">{verdict}</p> }.into_any()
                } else {
                    let rows = findings.into_iter().map(|finding| view! { <Found state finding/> }).collect_view();
                    view! { <ul class="findings">{rows}</ul> }.into_any()
                }
            }}
        </div>
    }
}

/// What the button of a finding does.
enum Fix {
    Settings(Box<AlignOptions>),
    Columns(Side, Step),
}

#[component]
fn Found(state: State, finding: Finding) -> impl IntoView {
    let taken = RwSignal::new(false);
    let fix = match (finding.options, finding.step) {
        (Some(options), _) => Some(Fix::Settings(options)),
        (None, step) => step.map(|(side, step)| Fix::Columns(side, step)),
    };
    let label = move || if taken.get() { "Applied; align to use it" } else { "Apply this" };
    let about = finding.what.clone();
    let button = fix.map(|fix| {
        view! {
            <button
                type="button"
                class="quiet small"
                data-testid="apply-finding"
                aria-label=move || format!("{}: {about}", label())
                disabled=taken
                on:click=move |_| {
                    match &fix {
                        Fix::Settings(options) => state.settings.replace((**options).clone()),
                        Fix::Columns(side, step) => state.add_step(*side, *step),
                    }
                    taken.set(true);
                }
            >
                {label}
            </button>
        }
    });
    view! {
        <li class:serious=finding.serious data-testid="finding">
            <div>
                <strong>{finding.what}</strong>
                <p class="soft">{finding.fix}</p>
            </div>
            {button}
        </li>
    }
}
