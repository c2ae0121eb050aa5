//! What a call asks for, read and checked before its turn comes.

use js_sys::{Function, Object, Reflect};
use serde_json::Value;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::AbortSignal;

use super::options::{BESIDE, known, merged, names};
use super::session::reason;
use super::table::{Pairs, pairs};
use super::values::{Given, property, raw_pairs, side};
use schema::{AlignOptions, ExecutorChoice};

/// A call with everything that was passed to it.
pub(super) struct Asked {
    pub(super) sides: [Given; 2],
    pub(super) choice: ExecutorChoice,
    pub(super) signal: Option<AbortSignal>,
    pub(super) on_progress: Option<Function>,
    /// Settings of the run.
    pub(super) settings: Vec<(String, Value)>,
    pub(super) known_pairs: Pairs,
    pub(super) true_pairs: Pairs,
}

impl Asked {
    /// `call` is the function that was called; only `align` has settings of a run.
    pub(super) fn read(
        call: &str,
        x: &JsValue,
        y: &JsValue,
        options: &JsValue,
        on_progress: &JsValue,
    ) -> Result<Self, JsValue> {
        let absent = options.is_undefined() || options.is_null();
        if !absent && !options.is_object() {
            return Err(wrong("options has to be an object, as in { encoder: \"linear\" }."));
        }
        let signal = property(options, "signal").filter(|found| !found.is_null());
        if signal.as_ref().is_some_and(|found| !is_signal(found)) {
            return Err(wrong("options.signal is no AbortSignal. Give that of an AbortController."));
        }
        let signal = signal.map(JsCast::unchecked_into::<AbortSignal>);
        if let Some(signal) = signal.as_ref().filter(|signal| signal.aborted()) {
            return Err(reason(signal));
        }
        Self::read_unaborted(call, [x, y], options, on_progress, signal).map_err(|words| wrong(&words))
    }

    fn read_unaborted(
        call: &str,
        [x, y]: [&JsValue; 2],
        options: &JsValue,
        on_progress: &JsValue,
        signal: Option<AbortSignal>,
    ) -> Result<Self, String> {
        let on_progress = match on_progress.dyn_ref::<Function>() {
            Some(call) => Some(call.clone()),
            None if on_progress.is_undefined() || on_progress.is_null() => None,
            None => return Err("onProgress has to be a function, or left out.".to_owned()),
        };
        let choice = match property(options, "executor").map(|found| found.as_string().unwrap_or_default()) {
            None => ExecutorChoice::Auto,
            Some(name) => match name.as_str() {
                "auto" => ExecutorChoice::Auto,
                "cpu" => ExecutorChoice::Cpu,
                "gpu" => ExecutorChoice::Gpu,
                _ => return Err("options.executor has to be \"auto\", \"cpu\" or \"gpu\".".to_owned()),
            },
        };
        let settings = settings(call, options)?;
        // Once more with the worker's defaults, which differ in values only: nobody should wait to be told of a wrong kind.
        merged(&AlignOptions::default(), &settings)?;
        let sides = [side("x", x)?, side("y", y)?];
        let rows = sides.each_ref().map(|side| side.cells.rows);
        let list = |name: &str| match property(options, name).filter(|found| !found.is_null()) {
            Some(found) => pairs(name, &raw_pairs(name, &found)?, rows),
            None => Ok(Vec::new()),
        };
        let (known_pairs, true_pairs) = (list("known_pairs")?, list("true_pairs")?);
        Ok(Self { sides, choice, signal, on_progress, settings, known_pairs, true_pairs })
    }
}

/// Whether something behaves like a signal. That of another frame is none by its class.
fn is_signal(value: &JsValue) -> bool {
    property(value, "aborted").is_some_and(|aborted| aborted.as_bool().is_some())
        && property(value, "addEventListener").is_some_and(|listen| listen.is_function())
}

/// The settings of a run among the options.
fn settings(call: &str, options: &JsValue) -> Result<Vec<(String, Value)>, String> {
    let Some(object) = options.dyn_ref::<Object>() else { return Ok(Vec::new()) };
    let settings = if call == "align" { names() } else { Vec::new() };
    let mut found = Vec::new();
    for name in Object::keys(object).iter().filter_map(|key| key.as_string()) {
        known(&name, call, &settings)?;
        let value = Reflect::get(object, &JsValue::from_str(&name)).unwrap_or(JsValue::UNDEFINED);
        // One that is there but undefined is not given, as everywhere in JavaScript.
        if BESIDE.contains(&name.as_str()) || value.is_undefined() {
            continue;
        }
        // JSON has no such numbers; they would become null.
        if value.as_f64().is_some_and(|number| !number.is_finite()) {
            return Err(format!(
                "options.{name} is {}. Give a finite number.",
                value.as_f64().unwrap_or(f64::NAN)
            ));
        }
        let value = serde_wasm_bindgen::from_value(value)
            .map_err(|_| format!("options.{name} cannot be read. Give a text, a number, true or false."))?;
        found.push((name, value));
    }
    Ok(found)
}

/// An error for what was passed wrongly.
pub(super) fn wrong(words: &str) -> JsValue {
    js_sys::TypeError::new(words).into()
}
