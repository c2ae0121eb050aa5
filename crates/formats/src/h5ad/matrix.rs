//! One table of numbers in the file: found without reading it, then read, dense or sparse.

use super::frame::Frame;
use super::{Part, PartKind};
use crate::hdf5::{Dataset, Datatype, Field, File, Meter, Object};
use crate::remainder::narrow;
use crate::{Kind, Source, Trouble, Watch};

/// A table and where it is.
pub(super) struct Matrix {
    pub(super) part: Part,
    pub(super) path: String,
    /// It is stored the other way round: a row of ours is a column of the file's.
    pub(super) turned: bool,
    /// It is one field of a data set of records.
    field: Option<Field>,
    bytes: u64,
}

impl Matrix {
    /// The table that an object is, if it is one.
    pub(super) async fn of<S: Source>(
        file: &File<'_, S>,
        object: &Object,
        name: &str,
        path: &str,
    ) -> Result<Option<Self>, Trouble> {
        let part = |(rows, cols), kind| Part { name: name.to_owned(), rows, cols, kind };
        let matrix =
            |part, bytes| Some(Self { part, path: path.to_owned(), turned: false, field: None, bytes });
        if !object.is_group() {
            let Some(dataset) = file.dataset(object).await? else { return Ok(None) };
            let Some(shape) = shape(&dataset) else { return Ok(None) };
            return Ok(matrix(part(shape, PartKind::Dense), dataset.len_bytes()));
        }
        let encoding = file.text_of(object, "encoding-type").await?;
        let encoding = match encoding {
            None => file.text_of(object, "h5sparse_format").await?.unwrap_or_default(),
            Some(encoding) => encoding,
        };
        let kind = match encoding.as_str() {
            "csr_matrix" | "csr" => PartKind::Csr,
            "csc_matrix" | "csc" => PartKind::Csc,
            "dataframe" => {
                let columns = Frame::of(file, object.clone()).await?.measured(file).await?;
                let Some((_, first)) = columns.first() else { return Ok(None) };
                let shape = (first.count()?, columns.len());
                return Ok(matrix(
                    part(shape, PartKind::Frame),
                    (shape.0 as u64).saturating_mul(shape.1 as u64 * 8),
                ));
            }
            _ => return Ok(None),
        };
        let shape = match file.numbers_of(object, "shape").await? {
            None => file.numbers_of(object, "h5sparse_shape").await?,
            shape => shape,
        };
        let Some(&[rows, cols]) = shape.as_deref() else {
            let fix = "Write the file again with a recent version of anndata.";
            return Err(Trouble::new(Kind::Broken, format!("The sparse table '{name}' has no shape."), fix));
        };
        let bytes = match file.member(object, "data").await? {
            Some(data) => file.dataset(&data).await?.map_or(0, |data| data.len().saturating_mul(8)),
            None => 0,
        };
        Ok(matrix(part((rows as usize, cols as usize), kind), bytes))
    }

    /// The tables in a data set of records, as AnnData kept them before version 0.7.
    pub(super) async fn fields_of<S: Source>(
        file: &File<'_, S>,
        object: &Object,
        path: &str,
    ) -> Result<Vec<Self>, Trouble> {
        let Some(dataset) = file.dataset(object).await? else { return Ok(Vec::new()) };
        let (rows, bytes) = (dataset.count()?, dataset.datatype.size());
        let Datatype::Fields { fields, .. } = dataset.datatype else { return Ok(Vec::new()) };
        let mut matrices = Vec::new();
        for field in fields {
            let cols = match &field.datatype {
                Datatype::Array { count, base } if base.number().is_ok() => *count,
                Datatype::Number(_) => 1,
                _ => continue,
            };
            let part = Part { name: format!("{path}/{}", field.name), rows, cols, kind: PartKind::Dense };
            let bytes = rows.saturating_mul(bytes) as u64;
            matrices.push(Self { part, path: path.to_owned(), turned: false, field: Some(field), bytes });
        }
        Ok(matrices)
    }

    /// A table that is known to be there: for other formats than AnnData's.
    pub(super) fn known(part: Part, path: &str, turned: bool, bytes: u64) -> Self {
        Self { part, path: path.to_owned(), turned, field: None, bytes }
    }

    /// About how many bytes must be read for it.
    pub(super) fn cost(&self) -> u64 {
        self.bytes
    }

    /// The data frame whose index names its columns.
    pub(super) fn columns_in(&self) -> Option<&'static str> {
        match self.path.as_str() {
            "X" => Some("var"),
            "raw/X" => Some("raw/var"),
            "raw.X" => Some("raw.var"),
            path if path.starts_with("layers/") => Some("var"),
            _ => None,
        }
    }

    /// The values, row by row, and the names of the columns if it has some of its own.
    pub(super) async fn read<S: Source, W: Watch>(
        &self,
        file: &File<'_, S>,
        meter: &mut Meter<'_, W>,
    ) -> Result<(Vec<f32>, Option<Vec<String>>), Trouble> {
        let Some(object) = file.find(&self.path).await? else { return Err(super::nothing()) };
        if self.part.kind == PartKind::Frame {
            return self.frame(file, object, meter).await;
        }
        if object.is_group() {
            return Ok((self.sparse(file, &object, meter).await?, None));
        }
        let Some(dataset) = file.dataset(&object).await? else { return Err(super::nothing()) };
        if let Some(field) = &self.field {
            return Ok((self.field(file, &dataset, field, meter).await?, None));
        }
        if !self.turned {
            return Ok((file.numbers(&dataset, meter, narrow).await?, None));
        }
        let mut values = self.zeros(meter, file.fill(&dataset)? as f32, 0)?;
        let (rows, cols) = (self.part.rows, self.part.cols);
        file.each_number(&dataset, meter, |place, value| {
            // `rows` is not zero here: there would be no place.
            if let Some(slot) = values.get_mut(place % rows * cols + place / rows) {
                *slot = narrow(value);
            }
            Ok(())
        })
        .await?;
        Ok((values, None))
    }

    /// Room for all values, and `extra` bytes.
    fn zeros<W: Watch>(&self, meter: &Meter<'_, W>, fill: f32, extra: u64) -> Result<Vec<f32>, Trouble> {
        let (rows, cols) = (self.part.rows as u64, self.part.cols as u64);
        let bytes = rows.saturating_mul(cols).saturating_mul(4);
        meter.room(bytes.saturating_add(extra))?;
        let count = usize::try_from(bytes / 4).ok().filter(|_| bytes < u64::MAX);
        let fix = "Choose another table of the file, or take fewer rows or columns.";
        let count = count.ok_or_else(|| Trouble::new(Kind::TooLarge, "The table is too large.", fix))?;
        Ok(vec![fill; count])
    }

    async fn sparse<S: Source, W: Watch>(
        &self,
        file: &File<'_, S>,
        object: &Object,
        meter: &mut Meter<'_, W>,
    ) -> Result<Vec<f32>, Trouble> {
        let wrong = |what: &str| {
            let fix = "Write the file again: its sparse table contradicts itself.";
            Trouble::new(Kind::Broken, what, fix)
        };
        let mut datasets = Vec::new();
        for name in ["indptr", "indices", "data"] {
            let found = match file.member(object, name).await? {
                Some(found) => file.dataset(&found).await?,
                None => None,
            };
            datasets.push(found.ok_or_else(|| wrong(&format!("The sparse table has no '{name}'.")))?);
        }
        let [starts, indices, data] = datasets.as_slice() else { return Err(super::nothing()) };
        let (rows, cols) = (self.part.rows, self.part.cols);
        let by_row = self.part.kind == PartKind::Csr;
        let (major, minor) = if by_row { (rows, cols) } else { (cols, rows) };
        let count = data.count()?;
        if starts.count()? != major.saturating_add(1) || indices.count()? != count {
            return Err(wrong("The arrays of the sparse table have lengths that do not fit each other."));
        }
        let mut values = self.zeros(meter, 0.0, (count as u64).saturating_mul(4))?;
        let starts = file.numbers(starts, meter, |start| start as usize).await?;
        if !starts.is_sorted() || starts.first() != Some(&0) || starts.last() != Some(&count) {
            return Err(wrong("The row pointers of the sparse table are not in order."));
        }
        let indices =
            file.numbers(indices, meter, |index| if index < 0.0 { u32::MAX } else { index as u32 }).await?;
        if indices.iter().any(|&index| index as usize >= minor) {
            return Err(wrong("An entry of the sparse table lies outside of it."));
        }
        let mut line = 0;
        file.each_number(data, meter, |place, value| {
            let outside = |line: usize| starts.get(line + 1).is_none_or(|&end| place >= end);
            if starts.get(line).is_none_or(|&start| place < start) {
                line = starts.partition_point(|&start| start <= place).saturating_sub(1);
            }
            while line < major && outside(line) {
                line += 1;
            }
            let other = indices.get(place).map_or(0, |&index| index as usize);
            let slot = if by_row { line * cols + other } else { other * cols + line };
            if let Some(slot) = values.get_mut(slot) {
                *slot += narrow(value);
            }
            Ok(())
        })
        .await?;
        Ok(values)
    }

    async fn frame<S: Source, W: Watch>(
        &self,
        file: &File<'_, S>,
        object: Object,
        meter: &mut Meter<'_, W>,
    ) -> Result<(Vec<f32>, Option<Vec<String>>), Trouble> {
        let mut values = self.zeros(meter, f32::NAN, 0)?;
        let columns = Frame::of(file, object).await?.measured(file).await?;
        let (rows, cols) = (self.part.rows, self.part.cols);
        let mut names = Vec::new();
        for (place, (name, column)) in columns.into_iter().enumerate() {
            if column.count()? != rows {
                let fix = "Write the file again with a recent version of anndata.";
                return Err(Trouble::new(
                    Kind::Ragged,
                    "The columns of the data frame differ in length.",
                    fix,
                ));
            }
            let numbers = file.numbers(&column, meter, narrow).await?;
            for (slot, value) in values.iter_mut().skip(place).step_by(cols.max(1)).zip(numbers) {
                *slot = value;
            }
            names.push(name);
        }
        Ok((values, Some(names)))
    }

    async fn field<S: Source, W: Watch>(
        &self,
        file: &File<'_, S>,
        dataset: &Dataset,
        field: &Field,
        meter: &mut Meter<'_, W>,
    ) -> Result<Vec<f32>, Trouble> {
        let number = match &field.datatype {
            Datatype::Array { base, .. } => base.number()?,
            other => other.number()?,
        };
        let bytes = file.bytes(dataset, meter).await?;
        let mut values = self.zeros(meter, f32::NAN, 0)?;
        let end = field.offset.saturating_add(field.datatype.size());
        let records = bytes.chunks_exact(dataset.datatype.size().max(1));
        for (row, record) in values.chunks_exact_mut(self.part.cols.max(1)).zip(records) {
            let part = record.get(field.offset..end).unwrap_or_default();
            for (slot, bytes) in row.iter_mut().zip(part.chunks_exact(number.size.max(1))) {
                *slot = narrow(number.get(bytes));
            }
        }
        Ok(values)
    }
}

/// Rows and columns of a data set of numbers with one or two dimensions.
fn shape(dataset: &Dataset) -> Option<(usize, usize)> {
    dataset.datatype.number().ok()?;
    let length = |length: u64| usize::try_from(length).unwrap_or(usize::MAX);
    match *dataset.dims.as_slice() {
        [rows, cols] => Some((length(rows), length(cols))),
        [rows] => Some((length(rows), 1)),
        _ => None,
    }
}
