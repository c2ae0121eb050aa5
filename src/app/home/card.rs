//! What is known of one side's file: its size, what was decided about it and why, and a look at the numbers.
#![allow(unreachable_pub)] // The component macro makes public items.

use formats::{MissingChoice, Preview, Step, Suggestion};
use leptos::prelude::*;

use super::drop::summary;
use super::missing::MissingValues;
use super::switches::Switches;
use crate::app::state::{SlotState, State};
use crate::app::unusable::unusable;
use schema::{Content, Side, Slot};

#[component]
pub(super) fn SideCard(state: State, side: Side) -> impl IntoView {
    let signal = state.files.get(Slot::Features(side));
    // The card is built anew when the content changes, not with every byte that is read.
    let content = Memo::new(move |_| signal.with(|s| s.used.as_ref().map(|(_, content)| content.clone())));
    let letter = side.letter();
    // Outlives the card, so that a fold that was opened stays open when the file is read in another way.
    let folds =
        Folds { reading: RwSignal::new(false), labels: RwSignal::new(false), ignored: RwSignal::new(false) };
    move || match content.get() {
        Some(Content::Table(preview)) => view! {
            <article class=format!("side-card side-{letter}") data-testid=format!("card-{letter}")>
                <TableCard state side folds preview=*preview/>
            </article>
        }
        .into_any(),
        Some(other) => view! { <p class="side-card">{summary(&other)}</p> }.into_any(),
        None => ().into_any(),
    }
}

/// Which folds of a card are open.
#[derive(Clone, Copy)]
pub(super) struct Folds {
    reading: RwSignal<bool>,
    pub(super) labels: RwSignal<bool>,
    pub(super) ignored: RwSignal<bool>,
}

/// Whether the fold that tells of its opening or closing is open now.
pub(super) fn is_open(event: &web_sys::Event) -> bool {
    event_target::<web_sys::Element>(event).has_attribute("open")
}

#[component]
fn TableCard(state: State, side: Side, folds: Folds, preview: Preview) -> impl IntoView {
    let letter = side.letter();
    let slot = Slot::Features(side);
    let constant = (preview.constant_columns > 0).then(|| {
        let count = preview.constant_columns;
        view! {
            <p class="remark">
                {count}
                {if count == 1 {
                    " column has the same value in every row and tells nothing."
                } else {
                    " columns have the same value in every row and tell nothing."
                }}
            </p>
        }
    });
    let notices =
        preview.notices.iter().map(|text| view! { <p class="remark">{text.clone()}</p> }).collect_view();
    let decisions = preview
        .decisions
        .iter()
        .map(|decision| {
            view! {
                <li>
                    <b>{decision.what.clone()}</b> ": " {decision.choice.clone()}
                    <small>{decision.why.clone()}</small>
                </li>
            }
        })
        .collect_view();
    let decided = !preview.decisions.is_empty();
    let corner = preview.clone();
    view! {
        <header class="side-head">
            <span class="badge">{letter.to_uppercase()}</span>
            <b data-testid=format!("size-{letter}")>{preview.rows} " × " {preview.cols}</b>
            <span class="soft">"rows × columns · " {preview.format.clone()}</span>
            <button
                type="button"
                class="quiet small push"
                data-testid=format!("remove-{letter}")
                aria-label=format!("Remove data set {}", letter.to_uppercase())
                on:click=move |_| state.unload(slot)
            >
                "Remove"
            </button>
        </header>
        {unusable(&preview).map(|reason| view! {
            <div class="trouble" role="alert" data-testid=format!("unusable-{letter}")>
                <strong>"Data set " {letter.to_uppercase()} " cannot be aligned. " {reason}</strong>
                {(preview.rows < preview.cols).then(|| view! {
                    <button
                        type="button"
                        class="small"
                        data-testid=format!("way-{letter}-transpose")
                        on:click=move |_| state.read_again(slot, |reading| {
                            reading.choices.transpose = !reading.choices.transpose;
                        })
                    >
                        "Swap rows and columns"
                    </button>
                })}
            </div>
        })}
        <Missing state side total=preview.missing_total/>
        {constant}
        {notices}
        <Suggestions state side suggestions=preview.suggestions.clone()/>
        <details
            class="fold"
            data-testid=format!("fold-{letter}")
            open=folds.reading.get_untracked()
            on:toggle=move |event| folds.reading.set(is_open(&event))
        >
            <summary>"How it was read, and the first rows"</summary>
            {decided.then(|| view! { <ul class="decisions" data-testid=format!("decisions-{letter}")>{decisions}</ul> })}
            <Switches state side folds preview=preview.clone()/>
            <Corner side preview=corner/>
        </details>
    }
}

/// The table's upper left corner.
#[component]
fn Corner(side: Side, preview: Preview) -> impl IntoView {
    let head = preview
        .columns
        .iter()
        .take(Preview::CORNER.1)
        .map(|column| {
            let title = format!("from {} to {}, mean {}", column.min, column.max, column.mean);
            view! { <th scope="col" title=title>{column.name.clone()}</th> }
        })
        .collect_view();
    let rows = preview
        .corner
        .iter()
        .map(|row| {
            let cells = row.iter().map(|cell| view! { <td>{cell.clone()}</td> }).collect_view();
            view! { <tr>{cells}</tr> }
        })
        .collect_view();
    // The corner may begin with ids, which are no column of numbers.
    let extra = preview
        .corner
        .first()
        .map_or(0, Vec::len)
        .saturating_sub(preview.columns.len().min(Preview::CORNER.1));
    let blank = (0..extra).map(|_| view! { <th scope="col"></th> }).collect_view();
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label=format!("The first rows of {}", side.letter().to_uppercase())>
            <table class="corner"><thead><tr>{blank}{head}</tr></thead><tbody>{rows}</tbody></table>
        </div>
    }
}

/// Missing values want a decision before anything is aligned.
#[component]
fn Missing(state: State, side: Side, total: usize) -> impl IntoView {
    let slot = Slot::Features(side);
    let letter = side.letter();
    let current = Memo::new(move |_| state.files.get(slot).with(SlotState::reading).choices.missing);
    let words = Signal::derive(move || {
        if total > 0 && current.get() == MissingChoice::Keep {
            format!("{total} values are missing. Distances need every value, so decide before aligning:")
        } else {
            "Missing values:".into()
        }
    });
    let choices = vec![
        ("drop-rows", "leave out those rows", MissingChoice::DropRows),
        ("drop-columns", "leave out those columns", MissingChoice::DropColumns),
        ("mean", "fill in the column's mean", MissingChoice::Mean),
        ("zero", "fill in zero", MissingChoice::Zero),
    ];
    let asked = move || total > 0 || current.get() != MissingChoice::Keep;
    move || {
        let choices = choices.clone();
        asked().then(|| view! { <MissingValues state kept=slot name=letter.to_owned() words choices/> })
    }
}

/// Steps that look worth taking, each on or off.
#[component]
fn Suggestions(state: State, side: Side, suggestions: Vec<Suggestion>) -> impl IntoView {
    let slot = Slot::Features(side);
    let reading = move || state.files.get(slot).with(SlotState::reading);
    // What was taken stays on offer, to be taken back, even when it is no longer suggested.
    let mut offered = suggestions;
    for step in untrack(reading).steps {
        if !offered.iter().any(|suggestion| suggestion.kind == step) {
            offered.push(Suggestion { kind: step, why: "Taken; press again to take it back.".into() });
        }
    }
    let chips = offered
        .into_iter()
        .map(|suggestion| {
            let step = suggestion.kind;
            let on = move || match step {
                Step::Transpose => reading().choices.transpose,
                _ => reading().steps.contains(&step),
            };
            let act = move |_| match step {
                Step::UseAsDistances => state.use_as_distances(side),
                Step::Transpose => state.read_again(slot, |reading| {
                    reading.choices.transpose = !reading.choices.transpose;
                }),
                _ => state.read_again(slot, |reading| match reading.steps.iter().position(|s| *s == step) {
                    Some(at) => {
                        reading.steps.remove(at);
                    }
                    None => reading.steps.push(step),
                }),
            };
            let (name, label) = step_words(step);
            view! {
                <li>
                    <button
                        type="button"
                        class="toggle"
                        aria-pressed=move || on().to_string()
                        data-testid=format!("suggest-{}-{name}", side.letter())
                        on:click=act
                    >
                        {label}
                    </button>
                    <span class="soft">{suggestion.why}</span>
                </li>
            }
        })
        .collect::<Vec<_>>();
    (!chips.is_empty()).then(|| view! { <ul class="suggestions" aria-label="Suggestions">{chips}</ul> })
}

/// A step's name for automation, and in words.
fn step_words(step: Step) -> (&'static str, String) {
    match step {
        Step::Log1pNormalise => ("log1p", "Normalise and take logarithms".into()),
        Step::SqrtShares => ("sqrt", "Square roots of shares".into()),
        Step::Pca(k) => ("pca", format!("Reduce to {k} principal axes")),
        Step::ZScore => ("zscore", "Standardise the columns".into()),
        Step::UseAsDistances => ("distances", "Use as distances".into()),
        Step::Transpose => ("transpose", "Swap rows and columns".into()),
    }
}
