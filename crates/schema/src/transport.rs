//! Messages as JavaScript values: `{run, body, bulk}`, with the buffers of `bulk` to be transferred.

use js_sys::{Array, Float32Array, Object, Reflect};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};

use super::{Message, RunId};

/// A message that does not have the form both sides agreed on; only a mixed-up deployment sends one.
#[derive(Clone, Debug, thiserror::Error)]
#[error("a message between page and worker could not be read ({0})")]
pub struct TransportError(String);

/// The value for `postMessage` and its transfer list.
pub fn pack<T: Serialize>(message: &Message<T>) -> Result<(JsValue, Array), TransportError> {
    let fail = |what: &dyn std::fmt::Debug| TransportError(format!("{what:?}"));
    let body = serde_wasm_bindgen::to_value(&message.body).map_err(|e| TransportError(e.to_string()))?;
    let (bulk, transfer) = (Array::new(), Array::new());
    for part in &message.bulk {
        let array = Float32Array::from(part.as_slice());
        transfer.push(&array.buffer());
        bulk.push(&array);
    }
    let value = Object::new();
    for (key, field) in [("run", JsValue::from(message.run.0)), ("body", body), ("bulk", bulk.into())] {
        Reflect::set(&value, &key.into(), &field).map_err(|e| fail(&e))?;
    }
    Ok((value.into(), transfer))
}

/// The message that [`pack`] packed on the other side.
pub fn unpack<T: DeserializeOwned>(value: &JsValue) -> Result<Message<T>, TransportError> {
    let get = |key: &str| Reflect::get(value, &key.into()).map_err(|e| TransportError(format!("{e:?}")));
    let run = get("run")?.as_f64().ok_or_else(|| TransportError("no run".into()))?;
    let body = serde_wasm_bindgen::from_value(get("body")?).map_err(|e| TransportError(e.to_string()))?;
    let bulk = Array::from(&get("bulk")?)
        .iter()
        .map(|part| part.dyn_into::<Float32Array>().map(|array| array.to_vec()))
        .collect::<Result<_, _>>()
        .map_err(|_| TransportError("bulk data that is no Float32Array".into()))?;
    Ok(Message { run: RunId(run as u32), body, bulk })
}
