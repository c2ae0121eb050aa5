//! Keeps the focus of a keyboard in its place: a control that vanishes or is disabled under it hands it on, instead of
//! letting it fall to the beginning of the page.
//!
//! It goes to what the nearest container names by `data-home` (a `data-testid`; empty for the container itself), else
//! to the first control beside it that can be used.

use std::cell::RefCell;
use std::rc::Rc;

use leptos::prelude::*;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, FocusOptions, HtmlElement, MutationObserver, MutationObserverInit};

const USABLE: &str =
    "button:not(:disabled), a[href], input:not(:disabled), select:not(:disabled), summary, [tabindex=\"0\"]";

/// What has the focus, and what it lies in, from the inside out.
struct Held {
    element: Element,
    around: Vec<Element>,
}

impl Held {
    fn new(element: Element) -> Self {
        let mut around = Vec::new();
        let mut next = element.parent_element();
        while let Some(one) = next {
            next = one.parent_element();
            around.push(one);
        }
        Self { element, around }
    }

    fn is_gone(&self) -> bool {
        !self.element.is_connected() || self.element.has_attribute("disabled")
    }

    /// Where the focus goes.
    fn home(&self) -> Option<Element> {
        self.around.iter().filter(|around| around.is_connected()).find_map(|around| {
            match around.get_attribute("data-home").as_deref() {
                Some("") => Some(around.clone()),
                Some(name) => document().query_selector(&format!("[data-testid={name}]")).ok().flatten(),
                None => around.query_selector(USABLE).ok().flatten(),
            }
        })
    }
}

type Keeper = Rc<RefCell<Option<Held>>>;

/// Watches the whole page, as long as it lives.
pub(crate) fn keep_focus() {
    let held = Keeper::default();
    let entered = held.clone();
    let _ = window_event_listener(leptos::ev::focusin, move |event| {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        *entered.borrow_mut() = target.map(Held::new);
    });
    let left = held.clone();
    let _ = window_event_listener(leptos::ev::focusout, move |_| {
        let left = left.clone();
        // Where it went is known afterwards.
        set_timeout(move || look(&left, true), std::time::Duration::ZERO);
    });
    let changed = Closure::<dyn FnMut()>::new(move || look(&held, false));
    let Ok(observer) = MutationObserver::new(changed.as_ref().unchecked_ref()) else { return };
    changed.forget();
    let what = MutationObserverInit::new();
    what.set_child_list(true);
    what.set_subtree(true);
    what.set_attribute_filter(&js_sys::Array::of1(&JsValue::from_str("disabled")));
    if let Some(body) = document().body() {
        // Without it the focus falls, as it would have anyway.
        let _ = observer.observe_with_options(&body, &what);
    }
}

/// Hands the focus on if what had it is gone; forgets what was left for nothing, which is anybody's right.
fn look(held: &Keeper, left: bool) {
    let active = document().active_element();
    let somewhere = active.as_ref().is_some_and(|active| active.tag_name() != "BODY");
    let home = match &*held.borrow() {
        Some(held) if held.is_gone() && (!somewhere || active.as_ref() == Some(&held.element)) => held.home(),
        Some(_) if left && !somewhere => None,
        _ => return,
    };
    *held.borrow_mut() = None;
    if let Some(home) = home.and_then(|home| home.dyn_into::<HtmlElement>().ok()) {
        let options = FocusOptions::new();
        options.set_prevent_scroll(true);
        let _ = home.focus_with_options(&options);
    }
}
