//! What a caller passes, read from JavaScript's values: tables, labels, pairs.

use js_sys::{Array, Float32Array, Float64Array, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use super::table::Cells;

/// One side: its table, and its labels as names and codes, −1 for missing.
pub(super) struct Given {
    pub(super) cells: Cells,
    pub(super) labels: Option<(Vec<String>, Vec<f32>)>,
}

/// A property, which may not be there.
pub(super) fn property(value: &JsValue, name: &str) -> Option<JsValue> {
    Reflect::get(value, &name.into()).ok().filter(|found| !found.is_undefined())
}

/// What a value is called in a sentence.
fn kind(value: &JsValue) -> String {
    match () {
        () if value.is_undefined() => "missing".into(),
        () if value.is_null() => "null".into(),
        () => format!("a value of type {}", value.js_typeof().as_string().unwrap_or_default()),
    }
}

/// A side as the caller gives it: `{ data, rows, cols, labels? }`, or an array of rows.
pub(super) fn side(name: &str, value: &JsValue) -> Result<Given, String> {
    if let Some(rows) = value.dyn_ref::<Array>() {
        return Ok(Given { cells: of_rows(name, rows)?, labels: None });
    }
    let Some(data) = property(value, "data").filter(|_| value.is_object()) else {
        return Err(format!(
            "{name} is {}. Give {{ data, rows, cols }} with all numbers in one typed array, or an array of rows.",
            if value.is_object() { "an object without data".into() } else { kind(value) }
        ));
    };
    let size = |key: &str| {
        let number = property(value, key).and_then(|found| found.as_f64());
        number
            .filter(|number| number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(number))
            .map(|number| number as usize)
            .ok_or_else(|| format!("{name}.{key} has to be a whole number: how many {key} there are."))
    };
    let shape = (size("rows")?, size("cols")?);
    let numbers = numbers(&format!("{name}.data"), &data)?;
    let cells = Cells::new(name, shape, numbers.len(), numbers.iter())?;
    let labels = property(value, "labels").filter(|found| !found.is_null());
    let labels = labels.map(|found| labels_of(name, &found, cells.rows)).transpose()?;
    Ok(Given { cells, labels })
}

fn of_rows(name: &str, rows: &Array) -> Result<Cells, String> {
    let read: Vec<Numbers> = rows
        .iter()
        .enumerate()
        .map(|(at, row)| numbers(&format!("{name}[{at}]"), &row))
        .collect::<Result<_, _>>()?;
    let cols = read.first().map_or(0, Numbers::len);
    if let Some((at, row)) = read.iter().enumerate().find(|(_, row)| row.len() != cols) {
        return Err(format!(
            "{name}[{at}] has {} numbers and {name}[0] has {cols}. Give every row the same columns.",
            row.len()
        ));
    }
    Cells::new(name, (read.len(), cols), read.len() * cols, read.iter().flat_map(Numbers::iter))
}

/// A copy of what was passed: the caller may change it as soon as the call has returned its promise.
enum Numbers {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

impl Numbers {
    fn len(&self) -> usize {
        match self {
            Self::Single(values) => values.len(),
            Self::Double(values) => values.len(),
        }
    }

    fn iter(&self) -> Box<dyn Iterator<Item = f64> + '_> {
        match self {
            Self::Single(values) => Box::new(values.iter().copied().map(f64::from)),
            Self::Double(values) => Box::new(values.iter().copied()),
        }
    }
}

fn numbers(name: &str, value: &JsValue) -> Result<Numbers, String> {
    if let Some(array) = value.dyn_ref::<Float32Array>() {
        return Ok(Numbers::Single(array.to_vec()));
    }
    if let Some(array) = value.dyn_ref::<Float64Array>() {
        return Ok(Numbers::Double(array.to_vec()));
    }
    if whole_numbers(value) {
        return Ok(Numbers::Double(Float64Array::new(value).to_vec()));
    }
    let Some(array) = value.dyn_ref::<Array>() else {
        return Err(format!("{name} is {}. Give an array of numbers.", kind(value)));
    };
    // One by one: a constructor of typed arrays would take null for 0 and “3” for 3.
    let number = |(at, item): (usize, JsValue)| {
        item.as_f64().ok_or_else(|| format!("{name}[{at}] is {}. Give numbers only.", kind(&item)))
    };
    array.iter().enumerate().map(number).collect::<Result<_, _>>().map(Numbers::Double)
}

/// Whether this is a typed array of whole numbers. Those of 64 bits are left out: they do not become other numbers.
fn whole_numbers(value: &JsValue) -> bool {
    value.is_instance_of::<js_sys::Int8Array>()
        || value.is_instance_of::<js_sys::Uint8Array>()
        || value.is_instance_of::<js_sys::Uint8ClampedArray>()
        || value.is_instance_of::<js_sys::Int16Array>()
        || value.is_instance_of::<js_sys::Uint16Array>()
        || value.is_instance_of::<js_sys::Int32Array>()
        || value.is_instance_of::<js_sys::Uint32Array>()
}

/// Labels as names and codes.
fn labels_of(name: &str, value: &JsValue, rows: usize) -> Result<(Vec<String>, Vec<f32>), String> {
    let given = Array::from(value);
    if given.length() as usize != rows {
        return Err(format!("{name}.labels has {} entries for {rows} rows. Give one a row.", given.length()));
    }
    let mut names: Vec<String> = Vec::new();
    let mut known = std::collections::HashMap::new();
    let mut codes = Vec::with_capacity(rows);
    for (at, item) in given.iter().enumerate() {
        let text = match (item.as_string(), item.as_f64()) {
            (Some(text), _) => text,
            (None, Some(number)) if !number.is_nan() => number.to_string(),
            _ if item.is_null() || item.is_undefined() || item.as_f64().is_some() => String::new(),
            _ => {
                return Err(format!(
                    "{name}.labels[{at}] is {}. Give texts or numbers, and null where there is no label.",
                    kind(&item)
                ));
            }
        };
        codes.push(if text.is_empty() {
            -1.0
        } else {
            *known.entry(text).or_insert_with_key(|text| {
                names.push(text.clone());
                (names.len() - 1) as f32
            })
        });
    }
    Ok((names, codes))
}

/// Pairs as the caller writes them; whether such rows exist is seen later.
pub(super) fn raw_pairs(name: &str, value: &JsValue) -> Result<Vec<[f64; 2]>, String> {
    let Some(list) = value.dyn_ref::<Array>() else {
        return Err(format!("options.{name} is {}. Give an array of [row of x, row of y].", kind(value)));
    };
    let pair = |(at, item): (usize, JsValue)| {
        let both: Option<Vec<f64>> = numbers(name, &item).ok().map(|both| both.iter().collect());
        match both.as_deref() {
            Some(&[x, y]) => Ok([x, y]),
            _ => Err(format!("options.{name}[{at}] is no pair. Give [row of x, row of y].")),
        }
    };
    list.iter().enumerate().map(pair).collect()
}
