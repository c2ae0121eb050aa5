//! The page itself: data, settings, training, result and new data on one sheet, with the picture always in sight.
#![allow(unreachable_pub)] // The component macro makes public items.

mod before;
mod candidates;
mod card;
mod data;
mod doing;
mod downloads;
mod drop;
mod estimate;
mod extras;
mod figures;
mod kept;
mod matches;
mod missing;
mod new_data;
mod pairs;
mod record;
mod result;
mod sample_row;
mod save;
mod settings;
mod share;
mod stage;
mod standing;
mod start;
mod switches;
mod told;
mod toolbar;
mod training;

use leptos::prelude::*;

use super::canvas::Redraw;
use super::scatter::Linked;
use super::state::State;

#[component]
pub(crate) fn Home(state: State, linked: Linked, redraw: Redraw) -> impl IntoView {
    view! {
        <kept::Offers state/>
        <div class="workbench">
            <div class="bench">
                <section class="hero">
                    <h1>"Two data sets, nothing in common. " <em>"One alignment."</em></h1>
                    <p class="lead">
                        "Concord finds which rows of two tables belong together when they share no columns and no known \
                         pairs. It computes in this tab: your files never leave your machine."
                    </p>
                </section>
                {if state.shows("data") {
                    view! { <sample_row::Samples state/> <data::DataSection state/> }.into_any()
                } else {
                    view! { <kept::KeepingStand state/> }.into_any()
                }}
                <share::LinkTrouble state/>
                {state.shows("settings").then(|| view! { <settings::SettingsSection state/> })}
            </div>
            <stage::Stage state linked redraw/>
        </div>
        {state.shows("training").then(|| view! { <training::TrainingSection state linked redraw/> })}
        <result::ResultSection state linked redraw/>
        {state.shows("new").then(|| view! { <new_data::NewDataSection state/> })}
    }
}

/// A duration in words.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() => "–".into(),
        s if s < 1.0 => "under a second".into(),
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
