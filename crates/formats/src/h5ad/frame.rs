//! `obs` and `var`: data frames that are groups of columns, or, in old files, one data set of records.

use super::column::Column;
use crate::hdf5::{Dataset, Datatype, Field, File, Meter, Object};
use crate::{Kind, Labels, Source, Trouble, Watch};

/// A data frame, not yet read.
pub(super) enum Frame {
    /// A group of columns, and the names of those that are not the index.
    Group {
        object: Object,
        index: String,
        columns: Vec<String>,
    },
    /// Records; the names of categories are elsewhere in such files.
    Records {
        dataset: Dataset,
    },
    Missing,
}

impl Frame {
    pub(super) async fn open<S: Source>(file: &File<'_, S>, path: &str) -> Result<Self, Trouble> {
        let Some(object) = file.find(path).await? else { return Ok(Self::Missing) };
        Self::of(file, object).await
    }

    pub(super) async fn of<S: Source>(file: &File<'_, S>, object: Object) -> Result<Self, Trouble> {
        if !object.is_group() {
            let dataset = file.dataset(&object).await?;
            return Ok(dataset.map_or(Self::Missing, |dataset| Self::Records { dataset }));
        }
        let names: Vec<String> = file.links(&object).await?.iter().map(|link| link.name.clone()).collect();
        let named = file.text_of(&object, "_index").await?;
        let known = |name: &str| names.iter().any(|found| found == name);
        let index = named.unwrap_or_else(|| if known("_index") { "_index" } else { "index" }.to_owned());
        let mut columns = file.texts_of(&object, "column-order").await?.unwrap_or_default();
        columns.retain(|name| known(name));
        let left: Vec<String> = (names.iter())
            .filter(|name| !columns.contains(name) && **name != index && !name.starts_with("__"))
            .cloned()
            .collect();
        columns.extend(left);
        Ok(Self::Group { object, index, columns })
    }

    /// The names of the rows.
    pub(super) async fn index<S: Source, W: Watch>(
        &self,
        file: &File<'_, S>,
        meter: &mut Meter<'_, W>,
    ) -> Result<Option<Vec<String>>, Trouble> {
        match self {
            Self::Missing => Ok(None),
            Self::Group { object, index, .. } => {
                let Some(object) = file.member(object, index).await? else { return Ok(None) };
                Ok(Column::read(file, &object, None, meter).await?.map(Column::into_strings))
            }
            Self::Records { dataset } => {
                let Datatype::Fields { size, fields } = &dataset.datatype else { return Ok(None) };
                let named = fields.iter().find(|field| field.name == "index" || field.name == "_index");
                let Some(field) = named.or_else(|| fields.iter().find(|field| field.datatype.is_text()))
                else {
                    return Ok(None);
                };
                let bytes = file.bytes(dataset, meter).await?;
                Ok(records(file, &bytes, *size, field, None, meter).await?.map(Column::into_strings))
            }
        }
    }

    /// The columns that group the rows.
    pub(super) async fn labels<S: Source, W: Watch>(
        &self,
        file: &File<'_, S>,
        meter: &mut Meter<'_, W>,
    ) -> Result<Vec<Labels>, Trouble> {
        let mut labels = Vec::new();
        match self {
            Self::Missing => {}
            Self::Group { object, columns, .. } => {
                // The style of versions 0.7: names of categories in a group of their own.
                let named = file.member(object, "__categories").await?;
                for name in columns {
                    let categories = match &named {
                        Some(group) => file.member(group, name).await?,
                        None => None,
                    };
                    let Some(column) = file.member(object, name).await? else { continue };
                    let column = readable(Column::read(file, &column, categories, meter).await)?;
                    labels.extend(column.flatten().and_then(|column| column.into_labels(name)));
                }
            }
            Self::Records { dataset } => {
                let Datatype::Fields { size, fields } = &dataset.datatype else { return Ok(labels) };
                let bytes = file.bytes(dataset, meter).await?;
                for field in fields.iter().filter(|field| field.name != "index" && field.name != "_index") {
                    let categories = file.find(&format!("uns/{}_categories", field.name)).await?;
                    let column = readable(records(file, &bytes, *size, field, categories, meter).await)?;
                    labels.extend(column.flatten().and_then(|column| column.into_labels(&field.name)));
                }
            }
        }
        Ok(labels)
    }

    /// The columns that are plain numbers, with their names; not yet read.
    pub(super) async fn measured<S: Source>(
        &self,
        file: &File<'_, S>,
    ) -> Result<Vec<(String, Dataset)>, Trouble> {
        let mut found = Vec::new();
        if let Self::Group { object, columns, .. } = self {
            for name in columns {
                let Some(column) = file.member(object, name).await? else { continue };
                let Some(dataset) = file.dataset(&column).await? else { continue };
                let plain = matches!(dataset.datatype, Datatype::Number(_)) && dataset.dims.len() == 1;
                if plain && file.attribute(&column, "categories").await?.is_none() {
                    found.push((name.clone(), dataset));
                }
            }
        }
        Ok(found)
    }
}

/// A column of a type that we do not read is left out; anything else that is wrong with it is wrong with the file.
fn readable<T>(column: Result<T, Trouble>) -> Result<Option<T>, Trouble> {
    match column {
        Err(trouble) if trouble.kind == Kind::Unsupported => Ok(None),
        other => other.map(Some),
    }
}

/// One field of records, with the names of its numbers if there are any.
async fn records<S: Source, W: Watch>(
    file: &File<'_, S>,
    bytes: &[u8],
    step: usize,
    field: &Field,
    categories: Option<Object>,
    meter: &mut Meter<'_, W>,
) -> Result<Option<Column>, Trouble> {
    if field.datatype.is_text() {
        let texts = file.texts_in(bytes, step, field.offset, &field.datatype, meter).await?;
        return Ok(Some(Column::Texts(texts)));
    }
    let Ok(number) = field.datatype.number() else { return Ok(None) };
    let end = field.offset.saturating_add(number.size);
    let part = |record: &[u8]| record.get(field.offset..end).map_or(f64::NAN, |bytes| number.get(bytes));
    let values: Vec<f64> = bytes.chunks_exact(step.max(1)).map(part).collect();
    if let Some(categories) = categories
        && let Some(Column::Texts(names)) = Column::read(file, &categories, None, meter).await?
    {
        let names: Vec<(String, f64)> = names
            .into_iter()
            .zip(0_u32..)
            .map(|(name, code)| (name.unwrap_or_default(), f64::from(code)))
            .collect();
        return Ok(Some(Column::named(&values, &names)));
    }
    Ok(Some(match &field.datatype {
        Datatype::Names { names, .. } => Column::named(&values, names),
        _ => Column::Numbers { values, whole: number.is_whole() },
    }))
}
