//! The address of the page: what it says when the page opens, and the settings in it as they change, so that it can be
//! shared or kept as a bookmark at any time. Nothing of the data is ever in it.

use js_sys::Array;
use leptos::prelude::*;
use wasm_bindgen::JsValue;
use web_sys::UrlSearchParams;

use super::address;
use super::state::Settings;

/// A word of the address, as in `?name=word`.
pub(super) fn from_address(name: &str) -> Option<String> {
    let search = window().location().search().unwrap_or_default();
    UrlSearchParams::new_with_str(&search).ok().and_then(|params| params.get(name))
}

/// All words of the address.
pub(super) fn words_of_address() -> Vec<(String, String)> {
    let search = window().location().search().unwrap_or_default();
    let Ok(params) = UrlSearchParams::new_with_str(&search) else { return Vec::new() };
    let word = |pair: JsValue| {
        let pair = Array::from(&pair);
        Some((pair.get(0).as_string()?, pair.get(1).as_string()?))
    };
    Array::from(&params).iter().filter_map(word).collect()
}

/// The address of this page with these words after it.
pub(super) fn link(words: &[(String, String)]) -> String {
    let place = window().location();
    let base = format!("{}{}", place.origin().unwrap_or_default(), place.pathname().unwrap_or_default());
    let Ok(params) = UrlSearchParams::new() else { return base };
    for (name, value) in words {
        params.append(name, value);
    }
    let words = String::from(params.to_string());
    if words.is_empty() { base } else { format!("{base}?{words}") }
}

/// Writes settings into the address as they change; its other words stay.
pub(super) fn keep_address(settings: Settings) {
    Effect::new(move || {
        let defaults = settings.defaults.get();
        // Until there are defaults, nobody knows what differs from them.
        if defaults.encoder.is_empty() {
            return;
        }
        let set = settings.options.with(|now| address::words(now, &defaults));
        let before = words_of_address();
        let words: Vec<_> =
            before.iter().filter(|word| !address::is_setting(word)).cloned().chain(set).collect();
        if words == before {
            return;
        }
        let hash = window().location().hash().unwrap_or_default();
        // A browser that refuses, because it is asked too often, gets it with the next change.
        let _ = window().history().and_then(|history| {
            history.replace_state_with_url(&JsValue::NULL, "", Some(&format!("{}{hash}", link(&words))))
        });
    });
}
