//! Models as safetensors files: numbers as arrays, and everything else as JSON under the key `concord`.
//!
//! The JSON is the model itself with its arrays left empty, which then are filled from the file.

use std::collections::BTreeMap;
use std::mem;

use serde::{Deserialize, Serialize};

use super::super::safetensors::{Tensor, Tensors};
use super::{About, Model, Side, Step, broken};
use crate::{Kind, Trouble};

/// The key of the metadata.
const KEY: &str = "concord";
/// Grows when older programs would misread a file.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Header {
    format: u32,
    about: About,
    sides: [Side; 2],
}

/// Only the number, because nothing else of a newer header may be understood.
#[derive(Deserialize)]
struct Format {
    format: u32,
}

impl Model {
    /// A file from which [`Model::load`] makes the same model, bit by bit.
    pub fn save(&self) -> Result<Vec<u8>, Trouble> {
        self.check()?;
        let mut model = self.clone();
        let tensors = arrays(&mut model.sides)
            .into_iter()
            .map(|(name, shape, values)| (name, Tensor { shape, values: mem::take(values) }))
            .collect();
        let Self { about, sides } = model;
        let header = serde_json::to_string(&Header { format: FORMAT, about, sides })
            .map_err(|error| broken(format!("The model cannot be written: {error}.")))?;
        Tensors { metadata: BTreeMap::from([(KEY.to_owned(), header)]), tensors }.write()
    }

    /// The model in a file, if the file is one and fits itself.
    pub fn load(file: &[u8]) -> Result<Self, Trouble> {
        let Tensors { metadata, mut tensors } = Tensors::read(file)?;
        let Some(header) = metadata.get(KEY) else {
            let what = "These are arrays, but not those of an alignment.";
            return Err(Trouble::new(Kind::Format, what, "Choose a model that was saved here."));
        };
        let invalid = |error| broken(format!("Its description is not valid: {error}."));
        let Format { format } = serde_json::from_str(header).map_err(invalid)?;
        if format != FORMAT {
            let what = format!("The model is of format {format}, and only format {FORMAT} is known.");
            return Err(Trouble::new(Kind::Unsupported, what, "Open it with a newer version."));
        }
        let Header { about, mut sides, .. } = serde_json::from_str(header).map_err(invalid)?;
        for (name, shape, values) in arrays(&mut sides) {
            let Some(tensor) = tensors.remove(&name) else {
                return Err(broken("The array is missing.").at(name));
            };
            if tensor.shape != shape {
                let what = format!("The array has the shape {:?} instead of {shape:?}.", tensor.shape);
                return Err(broken(what).at(name));
            }
            *values = tensor.values;
        }
        if let Some(name) = tensors.keys().next() {
            return Err(broken("The array belongs to no step.").at(name));
        }
        let model = Self { about, sides };
        model.check()?;
        Ok(model)
    }
}

/// An array of a model: its name in the file, its shape, and where its values are or belong.
type Array<'a> = (String, Vec<usize>, &'a mut Vec<f32>);

/// All arrays. Their shapes are known even while they are empty.
fn arrays(sides: &mut [Side; 2]) -> Vec<Array<'_>> {
    let mut all = Vec::new();
    for (index, side) in sides.iter_mut().enumerate() {
        let mut cols = side.inputs;
        for (at, step) in side.steps.iter_mut().enumerate() {
            let name = |part| format!("side{index}.step{at}.{part}");
            let outputs = step.outputs(cols);
            match step {
                Step::Subtract(values) => all.push((name("subtract"), vec![cols], values)),
                Step::Scale(values) => all.push((name("scale"), vec![cols], values)),
                Step::Matrix { rows, cols, values } => all.push((name("matrix"), vec![*rows, *cols], values)),
                Step::Dense { inputs, outputs, weights, bias, .. } => {
                    all.push((name("weights"), vec![*inputs, *outputs], weights));
                    all.push((name("bias"), vec![*outputs], bias));
                }
                Step::Positive | Step::RowShares | Step::Sqrt | Step::Log1p | Step::UnitRows { .. } => {}
            }
            cols = outputs;
        }
    }
    all
}
