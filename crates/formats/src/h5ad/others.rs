//! HDF5 files that are not AnnData's: 10x, loom, MATLAB, and any other with tables in it.

use super::column::Column;
use super::matrix::Matrix;
use super::{Part, PartKind};
use crate::hdf5::{File, Meter, Target};
use crate::{Kind, Labels, Source, Table, Trouble, Watch};
use std::collections::HashSet;

/// Groups within groups are looked into this deep, and no more than so many objects.
const DEEPEST: usize = 8;
const MOST: usize = 100_000;

/// MATLAB writes HDF5, but turned around and with types of its own.
pub(super) async fn refuse_matlab(source: &impl Source) -> Result<(), Trouble> {
    if source.read(0, 10).await?.starts_with(b"MATLAB 7.3") {
        return Err(Trouble::new(
            Kind::Unsupported,
            "This is a MATLAB file of version 7.3.",
            "Store the table with `writematrix(X, \"table.csv\")` and choose that file.",
        ));
    }
    Ok(())
}

/// The sparse matrices of 10x: in `matrix`, or, before version 3, in a group for each genome.
pub(super) async fn tenx_parts<S: Source>(
    file: &File<'_, S>,
    names: &[String],
) -> Result<Vec<Matrix>, Trouble> {
    let mut found = Vec::new();
    for name in names.iter().take(MOST) {
        let Some(group) = file.find(name).await? else { continue };
        if !group.is_group() || file.member(&group, "barcodes").await?.is_none() {
            continue;
        }
        let Some(shape) = file.member(&group, "shape").await? else { continue };
        let Some(shape) = file.dataset(&shape).await? else { continue };
        if shape.len() != 2 {
            continue;
        }
        let mut nothing = crate::NoWatch;
        let shape = file.numbers(&shape, &mut Meter::new(&mut nothing, 0), |length| length as usize).await?;
        let Some(data) = file.member(&group, "data").await? else { continue };
        let Some(data) = file.dataset(&data).await? else { continue };
        let bytes = data.len().saturating_mul(8);
        // Genes by cells, column by column: the same as cells by genes, row by row.
        if let &[cols, rows] = shape.as_slice() {
            let part = Part { name: name.clone(), rows, cols, kind: PartKind::Csr };
            found.push(Matrix::known(part, name, false, bytes));
        }
    }
    Ok(found)
}

pub(super) async fn tenx_names<S: Source, W: Watch>(
    file: &File<'_, S>,
    path: &str,
    table: &mut Table,
    meter: &mut Meter<'_, W>,
) -> Result<(), Trouble> {
    table.ids = names(file, &format!("{path}/barcodes"), meter).await?;
    for place in ["features/name", "gene_names", "features/id", "genes"] {
        if table.columns.is_none() {
            table.columns = names(file, &format!("{path}/{place}"), meter).await?;
        }
    }
    Ok(())
}

async fn names<S: Source, W: Watch>(
    file: &File<'_, S>,
    path: &str,
    meter: &mut Meter<'_, W>,
) -> Result<Option<Vec<String>>, Trouble> {
    let Some(object) = file.find(path).await? else { return Ok(None) };
    Ok(Column::read(file, &object, None, meter).await?.map(Column::into_strings))
}

/// A loom file's matrix and layers are genes by cells.
pub(super) async fn loom_parts<S: Source>(file: &File<'_, S>) -> Result<Vec<Matrix>, Trouble> {
    let mut paths = vec!["matrix".to_owned()];
    if let Some(layers) = file.find("layers").await?
        && layers.is_group()
    {
        paths.extend(file.links(&layers).await?.iter().map(|link| format!("layers/{}", link.name)));
    }
    let mut found = Vec::new();
    for path in paths {
        let Some(object) = file.find(&path).await? else { continue };
        let Some(stored) = Matrix::of(file, &object, &path, &path).await? else { continue };
        if stored.part.kind == PartKind::Dense {
            let part = Part { rows: stored.part.cols, cols: stored.part.rows, ..stored.part.clone() };
            found.push(Matrix::known(part, &path, true, stored.cost()));
        }
    }
    Ok(found)
}

pub(super) async fn loom_names<S: Source, W: Watch>(
    file: &File<'_, S>,
    table: &mut Table,
    meter: &mut Meter<'_, W>,
) -> Result<(), Trouble> {
    const IDS: [&str; 5] = ["CellID", "cell_id", "obs_names", "barcode", "Cell"];
    for name in IDS {
        if table.ids.is_none() {
            table.ids = names(file, &format!("col_attrs/{name}"), meter).await?;
        }
    }
    for name in ["Gene", "gene", "var_names", "Accession"] {
        if table.columns.is_none() {
            table.columns = names(file, &format!("row_attrs/{name}"), meter).await?;
        }
    }
    let Some(group) = file.find("col_attrs").await? else { return Ok(()) };
    for link in file.links(&group).await?.iter() {
        let Some(object) = file.member(&group, &link.name).await? else { continue };
        if object.is_group() || IDS.contains(&link.name.as_str()) {
            continue;
        }
        let column = match Column::read(file, &object, None, meter).await {
            Err(trouble) if trouble.kind == Kind::Unsupported => None,
            column => column?,
        };
        let labels: Option<Labels> = column.and_then(|column| column.into_labels(&link.name));
        table.labels.extend(labels);
    }
    Ok(())
}

/// Every table of numbers in any group.
pub(super) async fn plain_parts<S: Source>(file: &File<'_, S>) -> Result<Vec<Matrix>, Trouble> {
    let mut found: Vec<Matrix> = Vec::new();
    let mut seen = HashSet::new();
    let mut open = vec![(String::new(), file.root().await?, 0)];
    while let Some((path, group, depth)) = open.pop() {
        for link in file.links(&group).await?.iter() {
            let Target::Object(address) = link.target else { continue };
            if !seen.insert(address) || seen.len() > MOST {
                continue;
            }
            let name = if path.is_empty() { link.name.clone() } else { format!("{path}/{}", link.name) };
            let object = file.object(address).await?;
            let flat = match file.dataset(&object).await {
                Ok(dataset) => dataset.is_some_and(|dataset| dataset.dims.len() == 2),
                Err(trouble) if trouble.kind == Kind::Unsupported => false,
                Err(trouble) => return Err(trouble),
            };
            if flat || object.is_group() {
                let matrix = Matrix::of(file, &object, &name, &name).await?;
                if matrix.is_none() && object.is_group() && depth < DEEPEST {
                    open.push((name, object, depth + 1));
                } else {
                    found.extend(matrix);
                }
            }
        }
    }
    found.sort_by(|a, b| a.part.name.cmp(&b.part.name));
    Ok(found)
}
