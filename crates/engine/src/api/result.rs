//! The result of a call as JavaScript's values.

use js_sys::{Float32Array, Object, Reflect, Uint8Array, Uint32Array};
use serde::Serialize;
use serde_json::json;
use wasm_bindgen::JsValue;

use schema::{Diagnostics, Outcome, from_bulk};

/// What a worker has said about a finished call.
pub(super) struct Answer {
    pub(super) diagnostics: Diagnostics,
    pub(super) outcome: Outcome,
    /// As [`Outcome`] describes it.
    pub(super) bulk: Vec<Vec<f32>>,
    /// Of `Event::Taken`, with its bulk.
    pub(super) dim: u32,
    pub(super) top: u32,
    pub(super) model: u32,
    pub(super) taken: Vec<Vec<f32>>,
    /// Seconds from the first command to the last answer.
    pub(super) seconds: f64,
}

/// A plain value: objects are objects, and what is missing is null.
pub(super) fn plain(value: &impl Serialize) -> Result<JsValue, JsValue> {
    value
        .serialize(&serde_wasm_bindgen::Serializer::json_compatible())
        .map_err(|error| js_sys::Error::new(&error.to_string()).into())
}

/// Row numbers; where there is none, the largest number.
fn rows(values: &[f32]) -> JsValue {
    let row = |value: &f32| if *value < 0.0 { u32::MAX } else { *value as u32 };
    Uint32Array::from(values.iter().map(row).collect::<Vec<u32>>().as_slice()).into()
}

fn floats(values: &[f32]) -> JsValue {
    Float32Array::from(values).into()
}

/// One byte a row: 1 for yes.
fn flags(values: &[f32]) -> JsValue {
    Uint8Array::from(values.iter().map(|value| u8::from(*value > 0.0)).collect::<Vec<u8>>().as_slice()).into()
}

fn object<const N: usize>(fields: [(&str, JsValue); N]) -> Result<JsValue, JsValue> {
    let object = Object::new();
    for (name, value) in fields {
        Reflect::set(&object, &name.into(), &value)?;
    }
    Ok(object.into())
}

impl Answer {
    pub(super) fn into_value(self) -> Result<JsValue, JsValue> {
        let empty = Vec::new();
        let bulk = |at: usize| self.bulk.get(at).unwrap_or(&empty);
        let taken = |at: usize| self.taken.get(at).unwrap_or(&empty);
        let Outcome { figures, candidates, findings, verdict, rival, margin, shown, .. } = &self.outcome;
        let mut scores = serde_json::Map::new();
        for figure in figures {
            let score = json!({
                "value": figure.value,
                "chance": figure.null,
                "lowerIsBetter": figure.lower_is_better,
                "name": figure.name,
                "about": figure.about,
            });
            scores.insert(figure.key.clone(), score);
        }
        let findings: Vec<_> = findings
            .iter()
            .map(|finding| json!({ "what": finding.what, "fix": finding.fix, "serious": finding.serious }))
            .collect();
        let seconds = json!({
            "total": self.seconds, "train": self.outcome.train_s.unwrap_or(0.0), "infer": self.outcome.infer_s,
        });
        let model = Uint8Array::from(from_bulk(taken(5), self.model as usize).as_slice());
        object([
            ("matches", rows(bulk(4))),
            ("confidence", floats(bulk(6))),
            ("share", floats(bulk(16))),
            ("retained", floats(bulk(12))),
            ("noPartner", flags(bulk(14))),
            (
                "reverse",
                object([
                    ("matches", rows(bulk(5))),
                    ("confidence", floats(bulk(7))),
                    ("share", floats(bulk(17))),
                    ("retained", floats(bulk(13))),
                    ("noPartner", flags(bulk(15))),
                ])?,
            ),
            (
                "top",
                object([("cols", self.top.into()), ("rows", rows(taken(3))), ("shares", floats(taken(4)))])?,
            ),
            (
                "embedding",
                object([
                    ("cols", self.dim.into()),
                    ("x", floats(taken(0))),
                    ("y", floats(taken(1))),
                    ("projected", floats(taken(2))),
                ])?,
            ),
            ("plane", object([("x", floats(bulk(0))), ("y", floats(bulk(1)))])?),
            ("scores", plain(&scores)?),
            ("candidates", plain(candidates)?),
            ("chosen", (*shown).into()),
            ("rival", rival.map_or(JsValue::NULL, JsValue::from)),
            ("margin", margin.map_or(JsValue::NULL, JsValue::from)),
            ("findings", plain(&findings)?),
            ("verdict", verdict.as_deref().map_or(JsValue::NULL, JsValue::from)),
            ("executor", self.diagnostics.executor.name().into()),
            ("seconds", plain(&seconds)?),
            ("model", model.into()),
        ])
    }
}
