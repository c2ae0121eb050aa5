//! The page without a network, and a new version of it: the service worker (`www/sw.js`) that keeps all files, whether it
//! has them by now, and the offer to change over when it has those of a newer version.
//!
//! A version never replaces another by itself: what is loaded and computed here would be gone with the page.
#![allow(unreachable_pub)] // The component macro makes public items.

use std::cell::Cell;

use leptos::prelude::*;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{ServiceWorker, ServiceWorkerContainer, ServiceWorkerRegistration, ServiceWorkerState};

use super::state::State;

const SCRIPT: &str = "./sw.js";
/// What makes a version that waits the one in charge.
const ACTIVATE: &str = "activate";
/// A page that comes back into sight after this long asks its host for a newer version: it may have been open for days.
const AWAY_MS: f64 = 3_600_000.0;

/// What is known about the files of the page.
#[derive(Clone, Copy)]
pub(super) struct Offline {
    /// Whether all files are kept.
    ready: RwSignal<bool>,
    /// Whether a newer version waits.
    newer: RwSignal<bool>,
    /// Whether the visitor does not want it now.
    later: RwSignal<bool>,
    registration: StoredValue<Option<ServiceWorkerRegistration>, LocalStorage>,
}

/// The browser's keeper of files; none on addresses that are neither https nor local.
fn container() -> Option<ServiceWorkerContainer> {
    let navigator: JsValue = window().navigator().into();
    let found = js_sys::Reflect::get(&navigator, &"serviceWorker".into()).ok()?;
    found.dyn_into().ok()
}

/// Calls back for as long as the page lives.
fn on(target: &web_sys::EventTarget, event: &str, call: impl FnMut() + 'static) {
    let call = Closure::<dyn FnMut()>::new(call);
    // Listening to an event by its name cannot fail.
    let _ = target.add_event_listener_with_callback(event, call.as_ref().unchecked_ref());
    call.forget();
}

impl Offline {
    /// Has the browser keep the files, unless this is a build of many during development.
    pub(super) fn new() -> Self {
        let offline = Self {
            ready: RwSignal::new(false),
            newer: RwSignal::new(false),
            later: RwSignal::new(false),
            registration: StoredValue::new_local(None),
        };
        let build = document().query_selector("meta[name=concord-build]").ok().flatten();
        let build = build.and_then(|meta| meta.get_attribute("content")).unwrap_or_default();
        if build != "development"
            && let Some(container) = container()
        {
            // A browser that forbids it, as in some private windows, has a page that works with its network only.
            spawn_local(async move {
                let _ = offline.register(container).await;
            });
        }
        offline
    }

    async fn register(self, container: ServiceWorkerContainer) -> Result<(), JsValue> {
        let registration = JsFuture::from(container.register(SCRIPT)).await?;
        let registration: ServiceWorkerRegistration = registration.dyn_into()?;
        self.registration.set_value(Some(registration.clone()));
        self.look(&registration);
        let found = registration.clone();
        on(&registration, "updatefound", move || {
            let Some(worker) = found.installing() else { return };
            let registration = found.clone();
            on(&worker, "statechange", move || self.look(&registration));
        });
        if let Some(worker) = registration.installing() {
            let registration = registration.clone();
            on(&worker, "statechange", move || self.look(&registration));
        }
        let left = Cell::new(f64::MAX);
        on(&document(), "visibilitychange", move || {
            if document().hidden() {
                left.set(js_sys::Date::now());
            } else if js_sys::Date::now() - left.get() > AWAY_MS {
                // Nobody waits for the answer: what comes of it is seen by the listener above.
                drop(registration.update());
            }
        });
        Ok(())
    }

    fn look(&self, registration: &ServiceWorkerRegistration) {
        let active = registration.active();
        let activated = |worker: &ServiceWorker| worker.state() == ServiceWorkerState::Activated;
        self.ready.set(active.as_ref().is_some_and(activated));
        // The first version of all waits for nobody.
        let newer = registration.waiting().is_some() && active.is_some();
        if newer && !self.newer.get_untracked() {
            self.later.set(false);
        }
        self.newer.set(newer);
    }

    /// Puts the version that waits in charge and loads the page from it.
    fn update(&self) {
        let waiting =
            self.registration.with_value(|known| known.as_ref().and_then(ServiceWorkerRegistration::waiting));
        let (Some(waiting), Some(container)) = (waiting, container()) else {
            // Another tab has put it in charge already.
            return reload();
        };
        // Only now: the first version of all, and another tab's wish, come into charge of this page as well.
        on(&container, "controllerchange", reload);
        if waiting.post_message(&ACTIVATE.into()).is_err() {
            reload();
        }
    }
}

fn reload() {
    // It fails only where the page is being left anyway.
    let _ = window().location().reload();
}

/// Whether the page would work without a network by now.
#[component]
pub(super) fn OfflineWord(offline: Offline) -> impl IntoView {
    let state = move || if offline.ready.get() { "ready" } else { "no" };
    let words = move || if offline.ready.get() { " · works offline" } else { "" };
    view! { <span data-testid="offline" data-state=state>{words}</span> }
}

/// The offer of a newer version: never while something is computed.
#[component]
pub(super) fn UpdateOffer(offline: Offline, state: State) -> impl IntoView {
    let offered = move || offline.newer.get() && !offline.later.get() && !state.busy();
    let loss = move || {
        if state.would_lose() {
            "The page is loaded anew for it: save results that you want to keep, and have your files at hand."
        } else if state.is_unkept() {
            "The page is loaded anew for it: save results that you want to keep."
        } else {
            "The page is loaded anew for it and offers to go on where you were; nothing of yours is lost."
        }
    };
    view! {
        <Show when=offered>
            <div class="notice calm" role="status" data-testid="update">
                <div>
                    <strong>"There is a new version of Concord."</strong>
                    <p>{loss}</p>
                </div>
                <div class="update">
                    <button data-testid="update-now" on:click=move |_| offline.update()>"Update now"</button>
                    <button class="quiet" data-testid="update-later" on:click=move |_| offline.later.set(true)>
                        "Later"
                    </button>
                </div>
            </div>
        </Show>
    }
}
