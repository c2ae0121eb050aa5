//! What a person may decide about a file: every change reads it again.
#![allow(unreachable_pub)] // The component macro makes public items.

use formats::{ColumnChoice, Preview, Role};
use leptos::prelude::*;

use super::card::{Folds, is_open};
use crate::app::state::{SlotState, State};
use schema::{Reading, Side, Slot};

/// One choice of a list: its value and its words.
type Choice = (String, String);

fn choice(value: &str, words: &str) -> Choice {
    (value.to_owned(), words.to_owned())
}

#[component]
pub(super) fn Switches(state: State, side: Side, folds: Folds, preview: Preview) -> impl IntoView {
    let slot = Slot::Features(side);
    let letter = side.letter();
    let reading = move || state.files.get(slot).with(SlotState::reading);
    let text = preview.decisions.iter().any(|decision| decision.what == "delimiter")
        || preview.format.contains("text")
        || preview.format.contains("separated");
    let several = preview.parts.len() > 1;
    let decided_part = preview
        .decisions
        .iter()
        .find(|decision| decision.what == "part")
        .map(|decision| decision.choice.clone())
        .unwrap_or_default();

    let parts = preview
        .parts
        .iter()
        .map(|part| {
            (part.name.clone(), format!("{} ({} × {}, {})", part.name, part.rows, part.cols, part.kind))
        })
        .collect::<Vec<_>>();
    let mut id_columns = vec![choice("auto", "decide from the content"), choice("none", "none")];
    id_columns
        .extend(preview.fields.iter().enumerate().map(|(at, field)| (at.to_string(), field.name.clone())));
    let delimiters = vec![
        choice("auto", "decide from the content"),
        choice(",", "comma"),
        choice(";", "semicolon"),
        choice("\t", "tab"),
        choice(" ", "spaces"),
        choice("|", "bar"),
    ];
    let headers = vec![
        choice("auto", "decide from the content"),
        choice("yes", "the first line names the columns"),
        choice("no", "the first line is data"),
    ];
    let decimals = vec![
        choice("auto", "decide from the content"),
        choice("point", "point: 1.5"),
        choice("comma", "comma: 1,5"),
    ];
    let change = move |change: Box<dyn FnOnce(&mut Reading)>| state.read_again(slot, change);

    view! {
        <div class="switches">
            {several.then(|| view! {
                <Pick
                    label="Which array" testid=format!("part-{letter}") choices=parts
                    current=Signal::derive(move || reading().choices.part.unwrap_or_else(|| decided_part.clone()))
                    on_pick=move |value: String| change(Box::new(move |r| r.choices.part = Some(value)))
                />
            })}
            {text.then(|| view! {
                <Pick
                    label="First line" testid=format!("header-{letter}") choices=headers
                    current=Signal::derive(move || match reading().choices.header {
                        None => "auto",
                        Some(true) => "yes",
                        Some(false) => "no",
                    }.to_owned())
                    on_pick=move |value: String| change(Box::new(move |r| r.choices.header = match value.as_str() {
                        "yes" => Some(true),
                        "no" => Some(false),
                        _ => None,
                    }))
                />
                <Pick
                    label="Between fields" testid=format!("delimiter-{letter}") choices=delimiters
                    current=Signal::derive(move || {
                        reading().choices.delimiter.map_or_else(|| "auto".into(), |delimiter| delimiter.to_string())
                    })
                    on_pick=move |value: String| change(Box::new(move |r| {
                        r.choices.delimiter = if value == "auto" { None } else { value.chars().next() };
                    }))
                />
                <Pick
                    label="Decimal sign" testid=format!("decimal-{letter}") choices=decimals
                    current=Signal::derive(move || match reading().choices.decimal_comma {
                        None => "auto",
                        Some(true) => "comma",
                        Some(false) => "point",
                    }.to_owned())
                    on_pick=move |value: String| change(Box::new(move |r| r.choices.decimal_comma = match value.as_str() {
                        "comma" => Some(true),
                        "point" => Some(false),
                        _ => None,
                    }))
                />
            })}
            {(!preview.fields.is_empty()).then(|| view! {
                <Pick
                    label="Column of ids" testid=format!("ids-{letter}") choices=id_columns
                    current=Signal::derive(move || match reading().choices.ids {
                        None => "auto".into(),
                        Some(ColumnChoice::None) => "none".into(),
                        Some(ColumnChoice::Column(at)) => at.to_string(),
                    })
                    on_pick=move |value: String| change(Box::new(move |r| r.choices.ids = match value.as_str() {
                        "none" => Some(ColumnChoice::None),
                        other => other.parse().ok().map(ColumnChoice::Column),
                    }))
                />
            })}
            <label class="check">
                <input
                    type="checkbox"
                    data-testid=format!("transpose-{letter}")
                    prop:checked=move || reading().choices.transpose
                    on:change=move |event| {
                        let on = event_target_checked(&event);
                        change(Box::new(move |r| r.choices.transpose = on));
                    }
                />
                "Swap rows and columns"
            </label>
        </div>
        <LabelColumns state side folds preview=preview.clone()/>
        <IgnoredColumns state side folds preview/>
    }
}

/// Which columns are labels rather than numbers.
#[component]
fn LabelColumns(state: State, side: Side, folds: Folds, preview: Preview) -> impl IntoView {
    let slot = Slot::Features(side);
    let found: Vec<usize> = preview
        .fields
        .iter()
        .enumerate()
        .filter(|(_, field)| field.role == Role::Labels)
        .map(|(at, _)| at)
        .collect();
    let before = found.clone();
    let boxes = boxes(
        &preview,
        "label",
        side,
        move |at| {
            let chosen = state.files.get(slot).with(SlotState::reading).choices.labels;
            chosen.map_or_else(|| before.contains(&at), |labels| labels.contains(&at))
        },
        move |at| {
            let found = found.clone();
            state.read_again(slot, |reading| toggle(reading.choices.labels.get_or_insert(found), at));
        },
    );
    (!boxes.is_empty()).then(|| {
        view! {
            <Fold open=folds.labels testid=format!("label-columns-{}", side.letter()) title="Columns that are labels">
                {boxes}
            </Fold>
        }
    })
}

/// Which columns are left out.
#[component]
fn IgnoredColumns(state: State, side: Side, folds: Folds, preview: Preview) -> impl IntoView {
    let slot = Slot::Features(side);
    let boxes = boxes(
        &preview,
        "ignore",
        side,
        move |at| state.files.get(slot).with(SlotState::reading).choices.ignore.contains(&at),
        move |at| state.read_again(slot, |reading| toggle(&mut reading.choices.ignore, at)),
    );
    (!boxes.is_empty()).then(|| {
        view! {
            <Fold open=folds.ignored testid=format!("ignored-columns-{}", side.letter()) title="Columns to leave out">
                {boxes}
            </Fold>
        }
    })
}

/// A box for every column, named `KIND-SIDE-COLUMN` for automation.
fn boxes(
    preview: &Preview,
    kind: &str,
    side: Side,
    chosen: impl Fn(usize) -> bool + Clone + Send + 'static,
    on_toggle: impl Fn(usize) + Clone + 'static,
) -> Vec<AnyView> {
    let each = preview.fields.iter().enumerate();
    each.map(|(at, field)| {
        let (chosen, on_toggle) = (chosen.clone(), on_toggle.clone());
        view! {
            <label class="check">
                <input
                    type="checkbox"
                    data-testid=format!("{kind}-{}-{at}", side.letter())
                    prop:checked=move || chosen(at)
                    on:change=move |_| on_toggle(at)
                />
                {field.name.clone()}
            </label>
        }
        .into_any()
    })
    .collect()
}

/// Puts a column into a list, or takes it out.
fn toggle(columns: &mut Vec<usize>, at: usize) {
    match columns.iter().position(|column| *column == at) {
        Some(place) => drop(columns.remove(place)),
        None => columns.push(at),
    }
}

/// A fold that stays as it was when the card is built anew.
#[component]
fn Fold(open: RwSignal<bool>, testid: String, title: &'static str, children: Children) -> impl IntoView {
    view! {
        <details
            class="fold"
            data-testid=testid
            open=open.get_untracked()
            on:toggle=move |event| {
                event.stop_propagation();
                open.set(is_open(&event));
            }
        >
            <summary>{title}</summary>
            <div class="boxes">{children()}</div>
        </details>
    }
}

/// A list to choose from.
#[component]
fn Pick(
    label: &'static str,
    testid: String,
    choices: Vec<Choice>,
    current: Signal<String>,
    on_pick: impl Fn(String) + 'static,
) -> impl IntoView {
    let options = choices
        .into_iter()
        .map(|(value, words)| {
            let mine = value.clone();
            view! { <option value=value prop:selected=move || current.get() == mine>{words}</option> }
        })
        .collect_view();
    view! {
        <label class="field">
            <span>{label}</span>
            <select data-testid=testid on:change=move |event| on_pick(event_target_value(&event))>
                {options}
            </select>
        </label>
    }
}
