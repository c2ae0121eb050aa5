//! One column of a data frame, in the ways in which AnnData has stored columns over the years.

use crate::hdf5::{Dataset, Datatype, File, Meter, Object};
use crate::{Kind, Labels, Source, Trouble, Watch};
use std::collections::HashMap;

/// What a column holds.
pub(super) enum Column {
    Texts(Vec<Option<String>>),
    /// For each row an index into names; one out of range (usually -1) is missing.
    Codes {
        codes: Vec<u32>,
        names: Vec<String>,
    },
    Numbers {
        values: Vec<f64>,
        whole: bool,
    },
}

impl Column {
    /// Reads a column; `categories` is where the names of its numbers are, if its frame knows.
    pub(super) async fn read<S: Source, W: Watch>(
        file: &File<'_, S>,
        object: &Object,
        categories: Option<Object>,
        meter: &mut Meter<'_, W>,
    ) -> Result<Option<Self>, Trouble> {
        let encoding = file.text_of(object, "encoding-type").await?.unwrap_or_default();
        let (dataset, categories, mask) = if object.is_group() {
            let coded = encoding == "categorical";
            let values = if coded { "codes" } else { "values" };
            let Some(values) = file.member(object, values).await? else { return Ok(None) };
            let categories = if coded { file.member(object, "categories").await? } else { None };
            let mask = if coded { None } else { file.member(object, "mask").await? };
            (file.dataset(&values).await?, categories, mask)
        } else {
            let referred = match file.reference_of(object, "categories").await? {
                Some(address) => Some(file.object(address).await?),
                None => categories,
            };
            (file.dataset(object).await?, referred, None)
        };
        let Some(dataset) = dataset.filter(|dataset| dataset.dims.len() == 1) else { return Ok(None) };
        expect(meter, &dataset);
        if let Some(categories) = categories {
            let names = strings(file, &categories, meter).await?;
            let most = names.len();
            let codes = file.numbers(&dataset, meter, |code| code_of(code, most)).await?;
            return Ok(Some(Self::Codes { codes, names }));
        }
        let mut column = Self::of(file, &dataset, meter).await?;
        if let Some(mask) = mask
            && let Some(mask) = file.dataset(&mask).await?
        {
            let missing = file.numbers(&mask, meter, |value| value != 0.0).await?;
            column.hide(&missing);
        }
        Ok(Some(column))
    }

    async fn of<S: Source, W: Watch>(
        file: &File<'_, S>,
        dataset: &Dataset,
        meter: &mut Meter<'_, W>,
    ) -> Result<Self, Trouble> {
        match &dataset.datatype {
            Datatype::Text { .. } | Datatype::LongText { .. } => {
                Ok(Self::Texts(file.texts(dataset, meter).await?))
            }
            Datatype::Names { names, .. } => {
                let values = file.numbers(dataset, meter, |value| value).await?;
                Ok(Self::named(&values, names))
            }
            other => {
                let whole = other.number()?.is_whole();
                Ok(Self::Numbers { values: file.numbers(dataset, meter, |value| value).await?, whole })
            }
        }
    }

    /// Numbers with names of their own: booleans, mostly.
    pub(super) fn named(values: &[f64], names: &[(String, f64)]) -> Self {
        let find = |value: &f64| names.iter().position(|(_, known)| known == value);
        let codes = values.iter().map(|value| find(value).map_or(Labels::MISSING, |at| at as u32)).collect();
        let python = |name: &String| match name.as_str() {
            "TRUE" => "True".to_owned(),
            "FALSE" => "False".to_owned(),
            other => other.to_owned(),
        };
        Self::Codes { codes, names: names.iter().map(|(name, _)| python(name)).collect() }
    }

    /// Makes those rows missing that a mask says are.
    fn hide(&mut self, missing: &[bool]) {
        match self {
            Self::Texts(texts) => texts.iter_mut().zip(missing).for_each(|(text, &hidden)| {
                if hidden {
                    *text = None;
                }
            }),
            Self::Codes { codes, .. } => codes.iter_mut().zip(missing).for_each(|(code, &hidden)| {
                if hidden {
                    *code = Labels::MISSING;
                }
            }),
            Self::Numbers { values, .. } => values.iter_mut().zip(missing).for_each(|(value, &hidden)| {
                if hidden {
                    *value = f64::NAN;
                }
            }),
        }
    }

    /// The column as one text a row.
    pub(super) fn into_strings(self) -> Vec<String> {
        match self {
            Self::Texts(texts) => texts.into_iter().map(Option::unwrap_or_default).collect(),
            Self::Numbers { values, .. } => values.iter().map(f64::to_string).collect(),
            Self::Codes { codes, names } => {
                codes.iter().map(|&code| names.get(code as usize).cloned().unwrap_or_default()).collect()
            }
        }
    }

    /// The column as labels, if it is of that kind: groups of rows, not measurements and not a name for each row.
    pub(super) fn into_labels(self, name: &str) -> Option<Labels> {
        let (codes, names) = match self {
            Self::Codes { codes, names } => return Some(Labels { name: name.to_owned(), names, codes }),
            Self::Texts(texts) => coded(texts.into_iter()),
            Self::Numbers { values, whole } => {
                if !whole || !names_groups(name) {
                    return None;
                }
                coded(
                    values
                        .iter()
                        .map(|value| Some(value).filter(|value| !value.is_nan()).map(f64::to_string)),
                )
            }
        };
        let telling = codes.len() <= 20 || names.len() < codes.len() - codes.len() / 10;
        telling.then(|| Labels { name: name.to_owned(), names, codes })
    }
}

/// Whether a column of whole numbers is one of group numbers, by its name.
fn names_groups(name: &str) -> bool {
    let name = name.to_lowercase();
    ["cluster", "leiden", "louvain", "label", "group", "batch", "celltype", "cell_type"]
        .iter()
        .any(|known| name.contains(known))
}

/// A missing text, and an empty one, is a missing label.
fn coded(texts: impl Iterator<Item = Option<String>>) -> (Vec<u32>, Vec<String>) {
    let mut known: HashMap<String, u32> = HashMap::new();
    let mut names = Vec::new();
    let codes = texts
        .map(|text| match text.filter(|text| !text.is_empty()) {
            None => Labels::MISSING,
            Some(text) => *known.entry(text).or_insert_with_key(|text| {
                names.push(text.clone());
                (names.len() - 1) as u32
            }),
        })
        .collect();
    (codes, names)
}

fn code_of(code: f64, most: usize) -> u32 {
    if code >= 0.0 && code < most as f64 { code as u32 } else { Labels::MISSING }
}

/// The names of categories: texts, or numbers and booleans written out.
async fn strings<S: Source, W: Watch>(
    file: &File<'_, S>,
    object: &Object,
    meter: &mut Meter<'_, W>,
) -> Result<Vec<String>, Trouble> {
    let inner = if object.is_group() { file.member(object, "values").await? } else { None };
    let Some(dataset) = file.dataset(inner.as_ref().unwrap_or(object)).await? else {
        let fix = "Write the file again with a recent version of anndata.";
        return Err(Trouble::new(
            Kind::Unsupported,
            "The names of some categories are stored in an unknown way.",
            fix,
        ));
    };
    expect(meter, &dataset);
    Ok(Column::of(file, &dataset, meter).await?.into_strings())
}

fn expect<W: Watch>(meter: &mut Meter<'_, W>, dataset: &Dataset) {
    meter.expect(dataset.len_bytes());
}
