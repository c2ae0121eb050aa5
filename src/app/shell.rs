//! The frame of the page: header, the two views, notices, footer.

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::address;
use super::canvas::Redraw;
use super::diagnostics::DiagnosticsView;
use super::focus::keep_focus;
use super::home::Home;
use super::location::{from_address, keep_address, words_of_address};
use super::meter::watch_frames;
use super::offline::{Offline, OfflineWord, UpdateOffer};
use super::samples;
use super::scatter::Linked;
use super::state::{Asked, State};
use schema::{ExecutorChoice, ExecutorKind};
use worker_client::Engine;

/// Mounts the page in place of what `index.html` shows while loading.
pub fn start(engine: Engine) {
    std::panic::set_hook(Box::new(|info| {
        console_error_panic_hook::hook(info);
        confess();
    }));
    if let Some(loading) = document().get_element_by_id("loading") {
        loading.remove();
    }
    mount_to_body(|| App(AppProps { engine }));
}

/// The page itself has failed: its signals can no longer be trusted, so this uses none of them.
fn confess() {
    let Ok(notice) = document().create_element("div") else { return };
    notice.set_class_name("notice");
    notice.set_text_content(Some(
        "This page has run into a fault of its own and stopped. Reload it to go on; what your browser's \
         console says about it helps us to mend it.",
    ));
    if let Some(body) = document().body() {
        // If even this fails there is nothing left to try.
        let _ = notice.set_attribute("role", "alert");
        let _ = body.prepend_with_node_1(&notice);
    }
}

/// What a visitor sees first: `?sample=` names it, `none` starts without any.
fn sample_from_address() -> Option<&'static str> {
    match from_address("sample") {
        Some(wanted) => samples::ALL.iter().map(|sample| sample.name).find(|name| *name == wanted),
        None => samples::ALL.first().map(|sample| sample.name),
    }
}

/// A file that misses its zone would otherwise replace the page, and with it everything in it. It is said where it
/// would have been read.
fn catch_stray_files(stray: RwSignal<Option<String>>) {
    let _ = window_event_listener(leptos::ev::dragover, |event| event.prevent_default());
    let _ = window_event_listener(leptos::ev::drop, move |event| {
        // A zone that takes the file has done so by now.
        let taken = event.default_prevented();
        event.prevent_default();
        let files = event.data_transfer().and_then(|data| data.files());
        let name = files.and_then(|files| files.get(0)).map(|file| file.name());
        stray.set(name.filter(|_| !taken));
    });
}

/// `?executor=cpu` or `gpu` forces one.
fn choice_from_address() -> ExecutorChoice {
    match from_address("executor").as_deref() {
        Some("cpu") => ExecutorChoice::Cpu,
        Some("gpu") => ExecutorChoice::Gpu,
        _ => ExecutorChoice::Auto,
    }
}

fn on_diagnostics() -> bool {
    window().location().hash().is_ok_and(|hash| hash == "#diagnostics")
}

#[component]
fn App(engine: Engine) -> impl IntoView {
    let sample = sample_from_address();
    let asked = Asked {
        settings: words_of_address(),
        hidden: from_address("hide").map(|word| address::hidden(&word, sample.is_some())).unwrap_or_default(),
    };
    let state = State::new(engine, choice_from_address(), sample, asked);
    keep_address(state.settings);
    let linked = Linked::new();
    let stray = RwSignal::new(None);
    catch_stray_files(stray);
    keep_focus();
    state.guard_leaving();
    watch_frames(state);
    let offline = Offline::new();
    let redraw = Redraw::new();
    let diagnosing = RwSignal::new(on_diagnostics());
    let view_area = NodeRef::<leptos::html::Main>::new();
    let _ = window_event_listener(leptos::ev::hashchange, move |_| {
        diagnosing.set(on_diagnostics());
        window().scroll_to_with_x_and_y(0.0, 0.0);
        if let Some(main) = view_area.get_untracked() {
            // Keyboard and screen reader go on where the new view begins.
            let _ = main.focus();
        }
    });
    Effect::new(move || {
        let title = if diagnosing.get() {
            "Concord: diagnostics"
        } else {
            "Concord: align two data sets in your browser"
        };
        document().set_title(title);
    });
    let current = move |here: bool| if diagnosing.get() == here { "page" } else { "false" };
    view! {
        <Show when=move || !diagnosing.get()>
            <div class="skips">
                {state.shows("data").then(|| view! { <Skip name="skip-data" words="Skip to the data" place="data"/> })}
                <Skip name="skip-result" words="Skip to the result" place="result"/>
            </div>
        </Show>
        <header class="top">
            <a class="brand" href="#">
                <Logo/>
                "Concord"
            </a>
            <nav aria-label="Main">
                <a href="#" aria-current=move || current(false)>"Start"</a>
                <a href="#diagnostics" data-testid="nav-diagnostics" aria-current=move || current(true)>
                    "Diagnostics"
                </a>
            </nav>
            <ExecutorChip state/>
        </header>
        <Notice state/>
        <UpdateOffer offline state/>
        <Stray stray boxes=state.shows("data") || state.shows("new")/>
        <main node_ref=view_area tabindex="-1">
            {move || if diagnosing.get() {
                view! { <DiagnosticsView state redraw/> }.into_any()
            } else {
                view! { <Home state linked redraw/> }.into_any()
            }}
        </main>
        <footer>
            <span>
                "Concord " {env!("CARGO_PKG_VERSION")} " · MIT licence · nothing is uploaded"
                <OfflineWord offline/>
            </span>
            <span>
                <a href="example.html">"JavaScript API: an example"</a>
                " · "
                "Implements "
                <a href="https://arxiv.org/abs/2406.13507" rel="noreferrer">"arXiv 2406.13507"</a>
            </span>
        </footer>
    }
}

/// A way past everything before a section, for keyboards. The address stays: its fragment names the view.
#[component]
fn Skip(name: &'static str, words: &'static str, place: &'static str) -> impl IntoView {
    let go = move |event: leptos::ev::MouseEvent| {
        event.prevent_default();
        let section = document().get_element_by_id(place);
        if let Some(section) = section.and_then(|found| found.dyn_into::<web_sys::HtmlElement>().ok()) {
            // It scrolls there as well.
            let _ = section.focus();
        }
    };
    view! { <a class="skip" href=format!("#{place}") data-testid=name on:click=go>{words}</a> }
}

/// Two clouds that overlap.
#[component]
fn Logo() -> impl IntoView {
    view! {
        <svg class="logo" viewBox="0 0 32 32" aria-hidden="true">
            <circle cx="12" cy="16" r="9" fill="var(--x)"/>
            <circle cx="20" cy="16" r="9" fill="#e89a32" opacity="0.85"/>
        </svg>
    }
}

/// Which executor runs, always in sight.
#[component]
fn ExecutorChip(state: State) -> impl IntoView {
    let executor = move || state.diagnostics.with(|d| d.as_ref().map(|d| d.executor));
    let label = move || match executor() {
        None => "starting…",
        Some(ExecutorKind::Cpu) => "CPU",
        Some(ExecutorKind::Gpu) => "WebGPU",
    };
    let kind = move || executor().map_or("opening", ExecutorKind::name);
    let reason = move || state.diagnostics.with(|d| d.as_ref().map(|d| d.reason.clone()));
    view! {
        <a class="chip" href="#diagnostics" data-testid="executor" data-executor=kind title=reason>
            <span class="dot"></span>
            {label}
        </a>
    }
}

/// A file that was dropped where nothing takes it, told where it can be seen whatever part of the page is in sight.
#[component]
fn Stray(
    stray: RwSignal<Option<String>>,
    /// Whether there is a place for files.
    boxes: bool,
) -> impl IntoView {
    move || {
        stray.get().map(|name| {
            view! {
                <div class="stray" role="alert" data-testid="stray">
                    <p>
                        <strong>{name}</strong>
                        {if boxes {
                            " was dropped beside the boxes, so it was not read. Drop it on the box of data set X or Y, or of the new rows; they are framed by a dashed line."
                        } else {
                            " was not read: this page was opened by a link that hides where files go. Open it without ‘hide’ in its address to load your own."
                        }}
                    </p>
                    <button class="quiet small" data-testid="dismiss-stray" on:click=move |_| stray.set(None)>
                        "Close"
                    </button>
                </div>
            }
        })
    }
}

/// The last failure, in plain words, until it is dismissed.
#[component]
fn Notice(state: State) -> impl IntoView {
    move || {
        state.notice.get().map(|failure| {
            view! {
                <div class="notice" role="alert" data-testid="notice">
                    <div>
                        <strong>{failure.message}</strong>
                        <p>{failure.hint}</p>
                        {(!failure.details.is_empty()).then(|| view! {
                            <details>
                                <summary>"Technical details"</summary>
                                <pre>{failure.details}</pre>
                            </details>
                        })}
                    </div>
                    <button class="quiet" data-testid="dismiss" on:click=move |_| state.notice.set(None)>
                        "Dismiss"
                    </button>
                </div>
            }
        })
    }
}
