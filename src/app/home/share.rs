//! A link that carries the settings, and nothing of the data, to somebody else; for a class without what would distract it.
#![allow(unreachable_pub)] // The component macro makes public items.

use js_sys::{Function, Promise, Reflect};
use leptos::html::Input;
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};

use crate::app::address::{self, DATA, PARTS};
use crate::app::location::link;
use crate::app::samples;
use crate::app::state::State;

/// Hands a text to the clipboard, which pages have only where they come by a safe way, and where their frame lets them.
async fn to_clipboard(text: &str) -> Result<(), JsValue> {
    let navigator = window().navigator();
    let clipboard = Reflect::get(&navigator, &"clipboard".into())?;
    let write: Function = Reflect::get(&clipboard, &"writeText".into())?.dyn_into()?;
    let promise: Promise = write.call1(&clipboard, &text.into())?.dyn_into()?;
    JsFuture::from(promise).await.map(drop)
}

/// What became of a link that was to be copied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Copied {
    NotYet,
    Yes,
    /// By hand, then: it is selected.
    Refused,
}

#[component]
pub(super) fn Share(state: State) -> impl IntoView {
    let settings = state.settings;
    let hidden = RwSignal::new(Vec::<&'static str>::new());
    let field = NodeRef::<Input>::new();
    let copied = RwSignal::new(Copied::NotYet);
    let address = Memo::new(move |_| {
        let mut words =
            settings.options.with(|now| settings.defaults.with(|usual| address::words(now, usual)));
        // What everybody sees first needs no name.
        let first = samples::ALL.first().map(|sample| sample.name);
        match state.files.sample.get() {
            Some(name) if Some(name) == first => {}
            Some(name) => words.push(("sample".into(), name.into())),
            None => words.push(("sample".into(), "none".into())),
        }
        // Where there is neither data nor a place to bring it, there is nothing to do.
        let has_sample = state.files.sample.get().is_some();
        let hidden: Vec<_> = hidden.get().into_iter().filter(|part| has_sample || *part != DATA).collect();
        if !hidden.is_empty() {
            words.push(("hide".into(), hidden.join(",")));
        }
        copied.set(Copied::NotYet);
        link(&words)
    });
    let copy = move |_| {
        if let Some(field) = field.get_untracked() {
            field.select();
            spawn_local(async move {
                let done = to_clipboard(&address.get_untracked()).await.is_ok();
                copied.set(if done { Copied::Yes } else { Copied::Refused });
            });
        }
    };
    let parts = PARTS
        .map(|(name, words)| {
            view! {
                <label class="check">
                    <input
                        type="checkbox"
                        data-testid=format!("hide-{name}")
                        disabled=move || name == DATA && state.files.sample.get().is_none()
                        on:change=move |event| {
                            let wanted = event_target_checked(&event);
                            hidden.update(|hidden| {
                                hidden.retain(|part| *part != name);
                                if wanted {
                                    hidden.push(name);
                                }
                            });
                        }
                    />
                    {words}
                    {move || (name == DATA && state.files.sample.get().is_none())
                        .then_some(" (with a sample only: your own data is not in the link)")}
                </label>
            }
        })
        .collect_view();
    view! {
        <details class="fold" data-testid="share">
            <summary>"Share these settings"</summary>
            <p class="soft">
                "The link carries the settings and the sample, never your data. For a class it can hide parts of the page:"
            </p>
            <div class="checks">{parts}</div>
            <div class="buttons">
                <input
                    node_ref=field
                    class="link"
                    type="text"
                    readonly
                    aria-label="Link to this page with these settings"
                    data-testid="share-link"
                    prop:value=move || address.get()
                />
                <button type="button" class="quiet" data-testid="share-copy" on:click=copy>
                    {move || match copied.get() {
                        Copied::NotYet => "Copy the link",
                        Copied::Yes => "Copied",
                        Copied::Refused => "Press Ctrl+C (⌘C)",
                    }}
                </button>
            </div>
        </details>
    }
}

/// What of the address could not be taken.
#[component]
pub(super) fn LinkTrouble(state: State) -> impl IntoView {
    let refused = state.settings.link_refused;
    view! {
        <Show when=move || refused.with(|refused| !refused.is_empty())>
            <div class="trouble" role="status" data-testid="link-refused">
                <b>"The link asks for something that is not there; all else was taken."</b>
                <ul>{move || refused.get().into_iter().map(|words| view! { <li>{words}</li> }).collect_view()}</ul>
            </div>
        </Show>
    }
}
