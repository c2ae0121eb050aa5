//! What a caller passes, read from JavaScript's values: tables, labels, pairs.

use js_sys::{Array, Float64Array, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};

use super::table::Cells;

/// One side: its table, and its labels as names and codes, −1 for missing.
pub(super) struct Given {
    pub(super) cells: Cells,
    pub(super) labels: Option<NamesAndCodes>,
}

type NamesAndCodes = (Vec<String>, Vec<f32>);

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
    let labels = labels.map(|found| labels_of(name, &found, cells.rows)).transpose()?.flatten();
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

/// Numbers that were passed, as they lie in the caller's memory or already copied.
enum Numbers {
    /// A typed array. It is read piece by piece, so that no second copy of all of it is ever held.
    Typed(Float64Array),
    Plain(Vec<f64>),
}

/// Numbers of a typed array that are read at a time.
const PIECE: u32 = 1 << 16;

impl Numbers {
    fn len(&self) -> usize {
        match self {
            Self::Typed(array) => array.length() as usize,
            Self::Plain(values) => values.len(),
        }
    }

    fn iter(&self) -> Box<dyn Iterator<Item = f64> + '_> {
        match self {
            Self::Typed(array) => {
                let len = array.length();
                let piece = move |start: u32| array.subarray(start, len.min(start.saturating_add(PIECE)));
                let pieces = (0..len).step_by(PIECE as usize).map(piece);
                Box::new(pieces.flat_map(|piece| Float64Array::new(&piece).to_vec()))
            }
            Self::Plain(values) => Box::new(values.iter().copied()),
        }
    }
}

fn numbers(name: &str, value: &JsValue) -> Result<Numbers, String> {
    if class_of_view(value).is_some_and(|class| TYPED.contains(&class.as_str())) {
        // Of this type it is only asked what all of them have.
        return Ok(Numbers::Typed(value.clone().unchecked_into()));
    }
    let Some(array) = value.dyn_ref::<Array>() else {
        return Err(format!("{name} is {}. Give an array of numbers.", kind(value)));
    };
    // One by one: a constructor of typed arrays would take null for 0 and “3” for 3.
    let number = |(at, item): (usize, JsValue)| {
        item.as_f64().ok_or_else(|| format!("{name}[{at}] is {}. Give numbers only.", kind(&item)))
    };
    array.iter().enumerate().map(number).collect::<Result<_, _>>().map(Numbers::Plain)
}

/// Typed arrays that are taken. Those of 64-bit whole numbers do not become other numbers.
const TYPED: [&str; 10] = [
    "Float16Array",
    "Float32Array",
    "Float64Array",
    "Int8Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "Int16Array",
    "Uint16Array",
    "Int32Array",
    "Uint32Array",
];

/// What a typed array is called, also one that was made in another frame, whose classes are not ours.
fn class_of_view(value: &JsValue) -> Option<String> {
    let view = js_sys::ArrayBuffer::is_view(value);
    view.then(|| Reflect::get(value, &js_sys::Symbol::to_string_tag())).and_then(Result::ok)?.as_string()
}

/// The bytes of a file.
pub(super) fn bytes(value: &JsValue) -> Option<Vec<u8>> {
    let array = class_of_view(value).filter(|class| class == "Uint8Array").map(|_| Uint8Array::new(value))?;
    Some(array.to_vec())
}

/// Labels as names and codes.
fn labels_of(name: &str, value: &JsValue, rows: usize) -> Result<Option<NamesAndCodes>, String> {
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
    // A side of which nothing is known has no labels, rather than wrong ones.
    Ok((!names.is_empty()).then_some((names, codes)))
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
