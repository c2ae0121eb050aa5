//! The settings: presets in plain words first, then the distance of each side, then everything else.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::prelude::*;

use super::share::Share;
use super::start::AlignButton;
use crate::app::options::{self, DISTANCES, FIELDS, Field, Kind, PRESETS};
use crate::app::state::State;
use schema::{Side, Slot};

#[component]
pub(super) fn SettingsSection(state: State) -> impl IntoView {
    let settings = state.settings;
    view! {
        <section id="settings" class="card" aria-labelledby="settings-title">
            <div class="head">
                <h2 id="settings-title">"Settings"</h2>
                <div class="buttons push">
                    <button
                        type="button"
                        class="quiet small"
                        data-testid="undo"
                        aria-label="Undo the last change of settings"
                        disabled=move || !settings.can_undo()
                        on:click=move |_| settings.undo()
                    >
                        "Undo"
                    </button>
                    <button
                        type="button"
                        class="quiet small"
                        data-testid="redo"
                        aria-label="Redo the last change of settings"
                        disabled=move || !settings.can_redo()
                        on:click=move |_| settings.redo()
                    >
                        "Redo"
                    </button>
                    <button
                        type="button"
                        class="quiet small"
                        data-testid="reset"
                        disabled=move || settings.is_default()
                        on:click=move |_| settings.replace(settings.defaults.get_untracked())
                    >
                        "Defaults"
                    </button>
                </div>
            </div>
            <Presets state/>
            <div class="pair">
                <DistanceSelect state side=Side::X/>
                <DistanceSelect state side=Side::Y/>
            </div>
            <details class="fold" data-testid="advanced">
                <summary>"Advanced"</summary>
                <div class="fields">
                    {FIELDS.iter().map(|field| view! { <FieldRow state field=*field/> }).collect_view()}
                </div>
            </details>
            <Share state/>
            <div class="narrow-only">
                <AlignButton state name="align-below" label=Signal::derive(|| "Align with these settings")/>
            </div>
        </section>
    }
}

#[component]
fn Presets(state: State) -> impl IntoView {
    let settings = state.settings;
    let of = move |name: &str| {
        settings.defaults.with(|defaults| settings.options.with(|now| options::preset(name, now, defaults)))
    };
    let cards = PRESETS
        .iter()
        .map(|preset| {
            let chosen = move || settings.options.with(|now| *now == of(preset.name));
            let lacks = move || {
                let any =
                    |slots: &[Slot]| slots.iter().all(|slot| state.files.get(*slot).with(|s| s.in_use()));
                match preset.name {
                    "shared" => chosen() && !any(&[Slot::Shared(Side::X), Slot::Shared(Side::Y)]),
                    "pairs" => {
                        let by_hand = state.pairs.list.with(|list| !list.all().is_empty());
                        chosen() && !by_hand && !any(&[Slot::Pairs])
                    }
                    _ => false,
                }
            };
            view! {
                <label class="preset" class:chosen=chosen>
                    <input
                        type="radio"
                        name="preset"
                        data-testid=format!("preset-{}", preset.name)
                        prop:checked=chosen
                        on:change=move |_| settings.replace(untrack(|| of(preset.name)))
                    />
                    <b>{preset.label}</b>
                    <span>{preset.about}</span>
                    <Show when=lacks>
                        <span class="lack">"No such file is loaded yet, so this changes nothing."</span>
                    </Show>
                </label>
            }
        })
        .collect_view();
    view! {
        <fieldset class="presets">
            <legend>"What kind of run"</legend>
            {cards}
        </fieldset>
    }
}

/// The distance within one side decides more than any other setting.
#[component]
fn DistanceSelect(state: State, side: Side) -> impl IntoView {
    let settings = state.settings;
    let name = match side {
        Side::X => "distance_x",
        Side::Y => "distance_y",
    };
    let options = DISTANCES
        .iter()
        .map(|(value, words)| {
            view! { <option value=*value prop:selected=move || settings.text(name) == *value>{*words}</option> }
        })
        .collect_view();
    view! {
        <label class="field">
            <span>"Distance within " {side.letter().to_uppercase()}</span>
            <select
                data-testid=format!("distance-{}", side.letter())
                on:change=move |event| settings.set_distance(side, event_target_value(&event))
            >
                {options}
            </select>
            {move || settings.reason(name).map(|reason| view! { <span class="reason" role="alert">{reason}</span> })}
        </label>
    }
}

#[component]
fn FieldRow(state: State, field: Field) -> impl IntoView {
    let settings = state.settings;
    let name = field.name;
    let testid = format!("set-{name}");
    let about = format!("about-{name}");
    let control = match field.kind {
        Kind::Choice(choices) => {
            let options = choices
                .iter()
                .map(|(value, words)| {
                    let chosen = move || settings.text(name) == *value;
                    view! { <option value=*value prop:selected=chosen>{*words}</option> }
                })
                .collect_view();
            view! {
                <select
                    data-testid=testid
                    aria-describedby=about.clone()
                    on:change=move |event| settings.set(name, event_target_value(&event))
                >
                    {options}
                </select>
            }
            .into_any()
        }
        Kind::Whole(..) | Kind::Number(..) => view! {
            <input
                type="text"
                inputmode="decimal"
                autocomplete="off"
                data-testid=testid
                aria-describedby=about.clone()
                aria-invalid=move || settings.reason(name).is_some().to_string()
                prop:value=move || settings.text(name)
                on:change=move |event| settings.set(name, event_target_value(&event))
            />
        }
        .into_any(),
    };
    view! {
        <label class="field">
            <span>{field.label}</span>
            {control}
            <small id=about>{field.about}</small>
            {move || settings.reason(name).map(|reason| view! {
                <span class="reason" role="alert" data-testid=format!("reason-{name}")>{reason}</span>
            })}
        </label>
    }
}
