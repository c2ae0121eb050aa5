//! One tab among others: each holds a lock on the work it has open, so that no two write to the same, and what no tab
//! holds any more can be offered. Browsers hide locks from pages that come by an unsafe way; there tabs ask each other
//! (`circle.rs`).

mod circle;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use circle::Circle;
use js_sys::{Array, Function, Object, Promise, Reflect};
use leptos::prelude::window;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

const PREFIX: &str = "concord-work-";

thread_local! {
    /// What ends each lock that this tab holds.
    static HELD: RefCell<HashMap<String, Function>> = RefCell::default();
    static CIRCLE: Option<Circle> = Circle::join();
}

/// Milliseconds in which a browser says who has what, however busy it is.
const ANSWER_MS: i32 = 10_000;

/// The browser's locks; none on addresses that are neither https nor local.
fn locks() -> Option<JsValue> {
    Reflect::get(&window().navigator(), &"locks".into()).ok().filter(JsValue::is_object)
}

fn method(object: &JsValue, name: &str) -> Option<Function> {
    Reflect::get(object, &name.into()).ok()?.dyn_into().ok()
}

fn circle() -> Option<Circle> {
    CIRCLE.with(Option::clone)
}

/// Waits for about so many milliseconds.
pub(super) async fn rest(ms: i32) {
    let waited = Promise::new(&mut |resolve, _| {
        let _ = window().set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, ms);
    });
    // Nothing rejects it.
    let _ = JsFuture::from(waited).await;
}

/// Takes a work until it is given back or this tab ends; false if another tab has it.
pub(super) async fn take(id: &str) -> bool {
    match locks().and_then(|locks| Some((method(&locks, "request")?, locks))) {
        Some((request, locks)) => take_lock(id, &request, &locks).await,
        None => match circle() {
            Some(circle) => circle.take(id).await,
            // Nobody can tell.
            None => true,
        },
    }
}

async fn take_lock(id: &str, request: &Function, locks: &JsValue) -> bool {
    let options = Object::new();
    let asked = Promise::new(&mut |resolve, _| {
        let _ = Reflect::set(&options, &"ifAvailable".into(), &true.into());
        let (answer, own) = (resolve.clone(), id.to_owned());
        let taken = Closure::once_into_js(move |lock: JsValue| -> JsValue {
            let _ = answer.call1(&JsValue::UNDEFINED, &lock.is_object().into());
            if !lock.is_object() {
                return JsValue::UNDEFINED;
            }
            // Held until this promise is kept.
            let mut end = None;
            let held = Promise::new(&mut |resolve, _| end = Some(resolve));
            HELD.with_borrow_mut(|all| all.extend(end.map(|end| (own, end))));
            held.into()
        });
        let name = format!("{PREFIX}{id}");
        // It is settled with the lock. A browser that refuses to lock anything does not refuse the work.
        let refused = Closure::once_into_js(move |_: JsValue| {
            let _ = resolve.call1(&JsValue::UNDEFINED, &true.into());
        });
        let asked = request.call3(locks, &name.into(), &options, &taken);
        if let Some(promise) = asked.as_ref().ok().and_then(|promise| promise.dyn_ref::<Promise>())
            && let Some(catch) = method(promise, "catch")
        {
            let _ = catch.call1(promise, &refused);
        } else if let Ok(refused) = refused.dyn_into::<Function>() {
            let _ = refused.call1(&JsValue::UNDEFINED, &JsValue::UNDEFINED);
        }
    });
    // One that never answers does not refuse either.
    match timeout::before(rest(ANSWER_MS), JsFuture::from(asked)).await {
        Some(answer) => answer.is_ok_and(|taken| taken.is_truthy()),
        None => true,
    }
}

/// Gives a work back, for any tab to take.
pub(super) fn give_back(id: &str) {
    if let Some(end) = HELD.with_borrow_mut(|all| all.remove(id)) {
        // Keeping a promise cannot fail.
        let _ = end.call0(&JsValue::UNDEFINED);
    }
    if locks().is_none()
        && let Some(circle) = circle()
    {
        circle.give_back(id);
    }
}

/// The works that some tab has open.
pub(super) async fn open_ones() -> HashSet<String> {
    let Some(locks) = locks() else {
        return match circle() {
            Some(circle) => circle.open_ones().await,
            None => HashSet::new(),
        };
    };
    let held = async {
        let asked: Promise = method(&locks, "query")?.call0(&locks).ok()?.dyn_into().ok()?;
        let answer = JsFuture::from(asked).await.ok()?;
        Reflect::get(&answer, &"held".into()).ok()
    };
    let Some(Some(held)) = timeout::before(rest(ANSWER_MS), held).await else { return HashSet::new() };
    let name = |lock: JsValue| Reflect::get(&lock, &"name".into()).ok().and_then(|name| name.as_string());
    Array::from(&held)
        .iter()
        .filter_map(name)
        .filter_map(|name| name.strip_prefix(PREFIX).map(str::to_owned))
        .collect()
}

/// A name for a work that no other has.
pub(super) fn new_id() -> String {
    format!("{:.0}-{:08x}", js_sys::Date::now(), (js_sys::Math::random() * f64::from(u32::MAX)) as u32)
}
