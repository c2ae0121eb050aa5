//! Cells by genes from the HDF5 files of single-cell biology: AnnData's h5ad first, and 10x, loom and plain HDF5.
//!
//! Such a file holds several tables. All are listed; one is read: the one that was asked for, or the one that is most
//! likely meant, with the reason.

mod choose;
mod column;
mod frame;
mod matrix;
mod others;

use crate::hdf5::{File, Meter};
use crate::{Kind, Labels, Source, Table, Trouble, Watch};
use matrix::Matrix;
use std::fmt;

/// What a file held, and what of it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct H5ad {
    pub table: Table,
    /// All tables in the file.
    pub parts: Vec<Part>,
    /// The name of the one that was read.
    pub chosen: String,
    /// Why that one: a full sentence.
    pub why: String,
}

/// A table in the file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Part {
    /// Its path: "X", "raw/X", "layers/counts", "obsm/X_pca".
    pub name: String,
    pub rows: usize,
    pub cols: usize,
    pub kind: PartKind,
}

/// How a table is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum PartKind {
    Dense,
    /// Sparse, row by row.
    Csr,
    /// Sparse, column by column.
    Csc,
    /// A data frame: named columns.
    Frame,
}

impl fmt::Display for PartKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Dense => "dense",
            Self::Csr | Self::Csc => "sparse",
            Self::Frame => "data frame",
        })
    }
}

/// Which program's habits a file follows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flavour {
    AnnData,
    TenX,
    Loom,
    Plain,
}

/// What is known about a file before its numbers are read.
struct Contents {
    flavour: Flavour,
    matrices: Vec<Matrix>,
}

/// Whether a file is HDF5, whatever its name says.
pub async fn is_hdf5<S: Source>(source: &S) -> Result<bool, Trouble> {
    Ok(File::find_start(source).await?.is_some())
}

/// All tables of the file, none of them read: what there is to choose from.
pub async fn parts(source: &impl Source) -> Result<Vec<Part>, Trouble> {
    let file = File::open(source).await?;
    Ok(contents(&file, source).await?.matrices.into_iter().map(|matrix| matrix.part).collect())
}

/// Reads one table of the file: `part` of them, or the one most likely meant.
pub async fn read(source: &impl Source, part: Option<&str>, watch: &mut impl Watch) -> Result<H5ad, Trouble> {
    let file = File::open(source).await?;
    watch.passed(0, source.len()).await?;
    let contents = contents(&file, source).await?;
    let parts: Vec<Part> = contents.matrices.iter().map(|matrix| matrix.part.clone()).collect();
    let (number, why) = choose::choose(&parts, part, contents.flavour)?;
    let Some(matrix) = contents.matrices.get(number) else { return Err(nothing()) };
    let (rows, cols) = (matrix.part.rows, matrix.part.cols);
    let place = || format!("{} ({}, {rows} × {cols})", matrix.part.name, matrix.part.kind);

    let mut meter = Meter::new(watch, matrix.cost());
    let (values, own_columns) =
        matrix.read(&file, &mut meter).await.map_err(|trouble| trouble.at(place()))?;
    let mut table = Table { rows, cols, values, columns: own_columns, ..Table::default() };
    match contents.flavour {
        Flavour::AnnData => {
            let about = frame::Frame::open(&file, "obs").await?;
            table.ids = about.index(&file, &mut meter).await?;
            table.labels = about.labels(&file, &mut meter).await?;
            if let Some(path) = matrix.columns_in() {
                let columns = frame::Frame::open(&file, path).await?.index(&file, &mut meter).await?;
                table.columns = columns.or(table.columns);
            }
        }
        Flavour::TenX => others::tenx_names(&file, &matrix.path, &mut table, &mut meter).await?,
        Flavour::Loom => others::loom_names(&file, &mut table, &mut meter).await?,
        Flavour::Plain => {}
    }
    fits(&table)?;
    Ok(H5ad { table, chosen: matrix.part.name.clone(), parts, why })
}

/// Names and labels must be as many as rows and columns.
fn fits(table: &Table) -> Result<(), Trouble> {
    let wrong = |what: String| {
        let fix = "Write the file again: its parts do not belong together.";
        Err(Trouble::new(Kind::Broken, what, fix))
    };
    let (rows, cols) = (table.rows, table.cols);
    if let Some(count) = table.ids.as_ref().map(Vec::len).filter(|&count| count != rows) {
        return wrong(format!("There are {count} names for {rows} rows."));
    }
    if let Some(count) = table.columns.as_ref().map(Vec::len).filter(|&count| count != cols) {
        return wrong(format!("There are {count} names for {cols} columns."));
    }
    if let Some(Labels { name, codes, .. }) = table.labels.iter().find(|labels| labels.codes.len() != rows) {
        return wrong(format!("The column '{name}' has {} entries for {rows} rows.", codes.len()));
    }
    Ok(())
}

fn nothing() -> Trouble {
    Trouble::new(
        Kind::Empty,
        "The file holds no table of numbers.",
        "Store one as `adata.X` or as an array with two dimensions.",
    )
}

/// Finds out what kind of file it is and what it holds.
async fn contents<S: Source>(file: &File<'_, S>, source: &S) -> Result<Contents, Trouble> {
    let root = file.root().await?;
    let names: Vec<String> = file.links(&root).await?.iter().map(|link| link.name.clone()).collect();
    let has = |name: &str| names.iter().any(|found| found == name);
    let anndata = file.text_of(&root, "encoding-type").await?.is_some_and(|found| found == "anndata");
    if anndata || (has("obs") && (has("var") || has("X") || has("obsm"))) {
        return Ok(Contents { flavour: Flavour::AnnData, matrices: anndata_parts(file, &names).await? });
    }
    others::refuse_matlab(source).await?;
    if has("matrix") && has("row_attrs") && has("col_attrs") {
        let matrices = others::loom_parts(file).await?;
        return Ok(Contents { flavour: Flavour::Loom, matrices });
    }
    let tenx = others::tenx_parts(file, &names).await?;
    if !tenx.is_empty() {
        return Ok(Contents { flavour: Flavour::TenX, matrices: tenx });
    }
    Ok(Contents { flavour: Flavour::Plain, matrices: others::plain_parts(file).await? })
}

async fn anndata_parts<S: Source>(file: &File<'_, S>, names: &[String]) -> Result<Vec<Matrix>, Trouble> {
    let mut matrices = Vec::new();
    // Before version 0.7 `raw` was not a group: its members had a dot in their names.
    for (name, path) in [("X", "X"), ("raw/X", "raw/X"), ("raw/X", "raw.X")] {
        if let Some(object) = file.find(path).await? {
            matrices.extend(Matrix::of(file, &object, name, path).await?);
        }
    }
    for group in ["layers", "obsm"].into_iter().filter(|group| names.iter().any(|name| name == group)) {
        let Some(object) = file.find(group).await? else { continue };
        if object.is_group() {
            for link in file.links(&object).await?.iter() {
                let path = format!("{group}/{}", link.name);
                let Some(object) = file.find(&path).await? else { continue };
                matrices.extend(Matrix::of(file, &object, &path, &path).await?);
            }
        } else {
            matrices.extend(Matrix::fields_of(file, &object, group).await?);
        }
    }
    Ok(matrices)
}
