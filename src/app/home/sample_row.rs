//! The samples, one click each.
#![allow(unreachable_pub)] // The component macro makes public items.

use leptos::prelude::*;

use crate::app::samples;
use crate::app::state::State;

#[component]
pub(super) fn Samples(state: State) -> impl IntoView {
    let current = move || {
        let name = state.files.sample.get();
        samples::ALL.iter().find(|sample| Some(sample.name) == name)
    };
    let chips = samples::ALL
        .iter()
        .map(|sample| {
            let chosen = move || state.files.sample.get() == Some(sample.name);
            view! {
                <button
                    type="button"
                    class="sample"
                    data-testid=format!("sample-{}", sample.name)
                    aria-pressed=move || chosen().to_string()
                    title=format!("{} {}", sample.about, sample.provenance)
                    on:click=move |_| state.load_sample(sample.name)
                >
                    {sample.title}
                </button>
            }
        })
        .collect_view();
    view! {
        <section class="samples" aria-label="Samples">
            <div class="sample-row">
                <span class="eyebrow">"Try a sample"</span>
                {chips}
            </div>
            {move || state.files.own.get().map(|own| view! {
                <p class="own-files">
                    <button type="button" class="small" data-testid="back-to-files" on:click=move |_| state.back_to_own()>
                        "Back to your files"
                    </button>
                    <span class="soft">
                        " " {own.names()}
                        {match own.pairs() {
                            0 => String::new(),
                            1 => " and 1 pair that you made".into(),
                            count => format!(" and {count} pairs that you made"),
                        }}
                    </span>
                </p>
            })}
            {move || match current() {
                Some(sample) => view! {
                    <p class="about">
                        {sample.about} " "
                        <details class="inline">
                            <summary>"Source"</summary>
                            <span>{sample.provenance}</span>
                        </details>
                    </p>
                }.into_any(),
                None if state.files.is_empty() => view! {
                    <p class="about">"No data yet: drop two files below, or take a sample."</p>
                }.into_any(),
                None => view! {
                    <p class="about">"You are looking at your own data. A sample takes its place until you come back to it."</p>
                }.into_any(),
            }}
        </section>
    }
}
