//! Safetensors: named arrays of numbers and some text, in a format that cannot carry code.
//!
//! Reading trusts nothing: a header may claim any size, so every claim is compared with the file before memory is
//! taken for it, and the arrays have to fill the file without a gap or an overlap, as the format demands.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;
use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{Kind, Trouble};

/// An array of any number of dimensions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tensor {
    pub shape: Vec<usize>,
    /// The last dimension runs fastest.
    pub values: Vec<f32>,
}

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tensors {
    pub metadata: BTreeMap<String, String>,
    pub tensors: BTreeMap<String, Tensor>,
}

/// The header's key for what is not an array.
const METADATA: &str = "__metadata__";
/// The only element type we write and read.
const F32: &str = "F32";
/// The longest header the format allows.
const LONGEST: usize = 100_000_000;
/// The header ends at a multiple of this, so that the values are aligned.
const ALIGNED: usize = 8;

/// One array in the header.
#[derive(Serialize, Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    /// From and to, in bytes after the header.
    data_offsets: [usize; 2],
}

/// A map from text that refuses to hold a key twice; JSON itself does not.
struct Once<T>(BTreeMap<String, T>);

impl Tensors {
    /// The file.
    pub fn write(&self) -> Result<Vec<u8>, Trouble> {
        let mut header = serde_json::Map::new();
        if !self.metadata.is_empty() {
            header.insert(METADATA.into(), json(&self.metadata)?);
        }
        let mut end = 0usize;
        for (name, tensor) in &self.tensors {
            if name == METADATA {
                let what = "The format keeps this name for text.";
                return Err(Trouble::new(Kind::Unsupported, what, "Choose another name.").at(name));
            }
            if elements(&tensor.shape) != Some(tensor.values.len()) {
                let (count, shape) = (tensor.values.len(), &tensor.shape);
                let what = format!("The array has {count} values, which do not fit its shape {shape:?}.");
                return Err(Trouble::new(Kind::Mismatch, what, "Give a value for every element.").at(name));
            }
            let start = end;
            end += size_of_val(tensor.values.as_slice());
            let (dtype, shape) = (F32.to_owned(), tensor.shape.clone());
            header.insert(name.clone(), json(Entry { dtype, shape, data_offsets: [start, end] })?);
        }
        let mut text = serde_json::Value::Object(header).to_string();
        text.push_str(&" ".repeat(text.len().next_multiple_of(ALIGNED) - text.len()));
        let mut file = Vec::with_capacity(8 + text.len() + end);
        file.extend((text.len() as u64).to_le_bytes());
        file.extend(text.as_bytes());
        for tensor in self.tensors.values() {
            super::npy::push(&mut file, &tensor.values);
        }
        Ok(file)
    }

    /// The content of a file. Nothing is read that does not fit exactly.
    pub fn read(file: &[u8]) -> Result<Self, Trouble> {
        let (length, rest) = file.split_first_chunk::<8>().ok_or_else(|| short(file.len()))?;
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        if length > LONGEST {
            return Err(broken(format!(
                "Its header claims {length} bytes, and the format allows {LONGEST}."
            )));
        }
        let (header, data) = rest.split_at_checked(length).ok_or_else(|| short(file.len()))?;
        if header.first() != Some(&b'{') {
            return Err(broken("Its header does not begin with a brace."));
        }
        let Once(mut entries) = serde_json::from_slice::<Once<serde_json::Value>>(header)
            .map_err(|error| broken(format!("Its header is not valid: {error}.")))?;
        let metadata = match entries.remove(METADATA) {
            Some(value) => serde_json::from_value(value).map_err(|error| {
                broken(format!("It is not a map from text to text: {error}.")).at(METADATA)
            })?,
            None => BTreeMap::new(),
        };
        let mut places = Vec::with_capacity(entries.len());
        for (name, value) in entries {
            let entry: Entry = serde_json::from_value(value).map_err(|error| {
                broken(format!("Its entry in the header is not valid: {error}.")).at(&name)
            })?;
            places.push((entry.data_offsets, name, entry));
        }
        places.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        let mut tensors = BTreeMap::new();
        let mut end = 0;
        for (place, name, entry) in places {
            tensors
                .insert(name.clone(), tensor(data, place, end, entry).map_err(|trouble| trouble.at(name))?);
            end = place[1];
        }
        if end != data.len() {
            return Err(broken(format!("Its arrays have {end} bytes, and the file has {}.", data.len())));
        }
        Ok(Self { metadata, tensors })
    }
}

/// The array at its place, which has to begin where the one before ended.
fn tensor(data: &[u8], [from, to]: [usize; 2], before: usize, entry: Entry) -> Result<Tensor, Trouble> {
    if entry.dtype != F32 {
        let what = format!("Its numbers are of type {}, and only {F32} is read.", entry.dtype);
        return Err(Trouble::new(Kind::Unsupported, what, "Convert the numbers to 32-bit floats."));
    }
    if from != before {
        return Err(broken(format!("It begins at byte {from}, but the one before ended at {before}.")));
    }
    let Some(bytes) = data.get(from..to) else {
        return Err(broken(format!("It lies at bytes {from} to {to} of {}.", data.len())));
    };
    if elements(&entry.shape).and_then(|count| count.checked_mul(4)) != Some(bytes.len()) {
        return Err(broken(format!("Its shape {:?} does not fit its {} bytes.", entry.shape, bytes.len())));
    }
    let (words, _) = bytes.as_chunks::<4>();
    Ok(Tensor { shape: entry.shape, values: words.iter().map(|word| f32::from_le_bytes(*word)).collect() })
}

/// How many elements an array of this shape has, if that is a number.
fn elements(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |product, size| product.checked_mul(*size))
}

fn json(value: impl Serialize) -> Result<serde_json::Value, Trouble> {
    serde_json::to_value(value).map_err(|error| broken(format!("It cannot be written: {error}.")))
}

fn broken(what: impl Into<String>) -> Trouble {
    Trouble::new(Kind::Broken, what, "Save the file again from where it came.")
}

fn short(bytes: usize) -> Trouble {
    let what = format!("The file ends after {bytes} bytes, inside its header.");
    Trouble::new(Kind::Truncated, what, "Copy or download it again.")
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Once<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Keys<T>(BTreeMap<String, T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Keys<T> {
            type Value = BTreeMap<String, T>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self::Value, A::Error> {
                while let Some((key, value)) = map.next_entry()? {
                    match self.0.entry(key) {
                        Slot::Vacant(slot) => slot.insert(value),
                        Slot::Occupied(slot) => {
                            return Err(A::Error::custom(format!("the key {:?} is there twice", slot.key())));
                        }
                    };
                }
                Ok(self.0)
            }
        }

        from.deserialize_map(Keys(BTreeMap::new())).map(Self)
    }
}
