//! What is the same for all formats once the numbers are there: choices are applied, the preview is written.

use std::collections::HashSet;

use crate::coarse::coarse;
use crate::extremes::extremes;
use crate::looks;
use crate::remainder;
use crate::{
    Choices, Column, Decision, Field, Kind, Labels, Loaded, MissingChoice, Part, Preview, Table, Trouble,
    Watch,
};

/// A table as its format's reader leaves it, and what that reader has to say about it.
#[derive(Default)]
pub(crate) struct Opened {
    pub(crate) table: Table,
    pub(crate) format: String,
    pub(crate) parts: Vec<Part>,
    pub(crate) decisions: Vec<Decision>,
    pub(crate) fields: Vec<Field>,
    pub(crate) notices: Vec<String>,
    /// Labels of the columns, for a table that lies on its side.
    pub(crate) across: Vec<Labels>,
}

/// Rows between two looks at the watch.
const STRIDE: usize = 1 << 16;

pub(crate) async fn finish(
    opened: Opened,
    choices: &Choices,
    watch: &mut impl Watch,
) -> Result<Loaded, Trouble> {
    let Opened { mut table, format, parts, decisions, fields, mut notices, across } = opened;
    let fitting = table.rows.checked_mul(table.cols) == Some(table.values.len())
        && table.ids.as_ref().is_none_or(|ids| ids.len() == table.rows)
        && table.columns.as_ref().is_none_or(|columns| columns.len() == table.cols)
        && table.labels.iter().all(|labels| labels.codes.len() == table.rows)
        && table.remainders.iter().all(|left| left.column < table.cols && left.values.len() == table.rows);
    if !fitting {
        return Err(Trouble::new(
            Kind::Broken,
            "The numbers of values, rows and columns contradict each other.",
            "Save the file again.",
        ));
    }
    if choices.transpose {
        watch.room(table.values.len() as u64 * 8)?;
        transpose(&mut table, &mut notices);
        let fitting = across.into_iter().filter(|labels| labels.codes.len() == table.rows);
        table.labels = fitting.collect();
    }
    let mut sums = Sums::of(&table, watch).await?;
    // Before rows are left out: these are the rows of the file.
    let largest = sums.columns.iter().map(|column| column.max.max(-column.min));
    notices.extend(extremes(&table, largest, |column| name(&table, column)));
    let gone: Vec<bool> = sums.columns.iter().map(|column| column.missing == table.rows).collect();
    if gone.contains(&true) {
        let names = list(&gone, &table);
        notices.push(format!("Columns without any value are left out: {names}."));
        keep_columns(&mut table, &gone);
        sums = Sums::of(&table, watch).await?;
    }
    if sums.missing > 0 && choices.missing != MissingChoice::Keep {
        fill_missing(&mut table, &sums, choices.missing, &mut notices);
        sums = Sums::of(&table, watch).await?;
    }
    if table.rows == 0 || table.cols == 0 {
        return Err(Trouble::new(
            Kind::Empty,
            format!("Nothing is left of the table: {} rows and {} columns.", table.rows, table.cols),
            "Leave out fewer columns, or treat missing values in another way.",
        ));
    }
    notices.extend(too_small(&table));
    notices.extend(coarse(&table, &sums, |column| name(&table, column)));
    let constant: Vec<bool> = sums.columns.iter().map(|column| column.constant).collect();
    let constant_columns = constant.iter().filter(|constant| **constant).count();
    if constant_columns > 0 && table.rows > 1 {
        notices.push(format!(
            "Columns with the same value in every row tell nothing: {}.",
            list(&constant, &table)
        ));
    }
    let repeated = repeated_rows(&table, watch).await?;
    if repeated > 0 && table.cols > 1 {
        notices.push(format!("Rows that repeat an earlier one: {repeated}."));
    }
    if sums.missing > 0 {
        notices.push(format!("Missing values, to be decided about: {}.", sums.missing));
    }
    let (looks, suggestions) = looks::look(&table, &sums);
    let preview = Preview {
        format,
        rows: table.rows,
        cols: table.cols,
        parts,
        decisions,
        fields,
        missing_total: sums.missing,
        constant_columns,
        corner: corner(&table),
        looks,
        suggestions,
        notices,
        columns: sums.columns.into_iter().take(Preview::COLUMNS).collect(),
    };
    Ok(Loaded { table, preview })
}

/// Values that 32 bits hold with fewer digits than others, if not with none.
fn too_small(table: &Table) -> Option<String> {
    let count = table.values.iter().filter(|value| value.is_subnormal()).count();
    (count > 0).then(|| {
        format!(
            "Values below the smallest normal number ({:.1e}): {count}. Their last digits are lost; use a smaller unit.",
            f32::MIN_POSITIVE
        )
    })
}

/// Sums over the columns.
pub(crate) struct Sums {
    pub(crate) columns: Vec<Column>,
    /// Of each column, around its mean.
    pub(crate) variances: Vec<f64>,
    pub(crate) missing: usize,
}

impl Sums {
    async fn of(table: &Table, watch: &mut impl Watch) -> Result<Self, Trouble> {
        let cols = table.cols;
        let start = Column { min: f32::INFINITY, max: f32::NEG_INFINITY, ..Column::default() };
        let mut columns = vec![start; cols];
        // Sums of differences from the first value: they lose less than sums of large values would.
        let mut shift = vec![f32::NAN; cols];
        let (mut sum, mut squares) = (vec![0f64; cols], vec![0f64; cols]);
        for (row, values) in table.values.chunks_exact(cols.max(1)).enumerate() {
            if row % STRIDE == STRIDE - 1 {
                watch.passed(row as u64, table.rows as u64).await?;
            }
            let sums = shift.iter_mut().zip(&mut sum).zip(&mut squares);
            for ((value, column), ((shift, sum), square)) in values.iter().zip(&mut columns).zip(sums) {
                if value.is_nan() {
                    column.missing += 1;
                    continue;
                }
                if shift.is_nan() {
                    *shift = *value;
                }
                column.min = column.min.min(*value);
                column.max = column.max.max(*value);
                let difference = f64::from(*value) - f64::from(*shift);
                *sum += difference;
                *square += difference * difference;
            }
        }
        let mut variances = Vec::with_capacity(cols);
        let mut missing = 0;
        for (at, (column, ((shift, sum), square))) in
            columns.iter_mut().zip(shift.iter().zip(&sum).zip(&squares)).enumerate()
        {
            let count = (table.rows - column.missing.min(table.rows)).max(1) as f64;
            missing += column.missing;
            if column.missing == table.rows {
                *column = Column { missing: column.missing, ..Column::default() };
            } else {
                column.mean = (f64::from(*shift) + sum / count) as f32;
                // Of equal values in 32 bits something may be left over.
                let differs = table.remainders.iter().any(|left| left.column == at);
                column.constant = column.min == column.max && column.missing == 0 && !differs;
            }
            column.name = name(table, at);
            variances.push((square / count - (sum / count).powi(2)).max(0.0));
        }
        Ok(Self { columns, variances, missing })
    }
}

fn name(table: &Table, column: usize) -> String {
    let named = table.columns.as_ref().and_then(|names| names.get(column));
    named.filter(|name| !name.is_empty()).cloned().unwrap_or_else(|| format!("column {}", column + 1))
}

/// The names of the marked columns: the first few, and how many more.
fn list(marked: &[bool], table: &Table) -> String {
    const SHOWN: usize = 5;
    let marked: Vec<usize> = (0..).zip(marked).filter_map(|(at, marked)| marked.then_some(at)).collect();
    let names: Vec<String> = marked.iter().take(SHOWN).map(|at| format!("'{}'", name(table, *at))).collect();
    match marked.len().saturating_sub(SHOWN) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// Rows become columns. Labels belong to rows, so they go.
fn transpose(table: &mut Table, notices: &mut Vec<String>) {
    let Table { rows, cols, .. } = *table;
    table.values = turned(&table.values, rows, cols);
    // What belongs to a column does not belong to a row.
    table.remainders.clear();
    (table.rows, table.cols) = (cols, rows);
    std::mem::swap(&mut table.ids, &mut table.columns);
    if !table.labels.is_empty() {
        table.labels.clear();
        notices.push("The labels are left out: they belong to what are columns now.".into());
    }
}

/// `rows` × `cols` values with rows and columns exchanged, a block at a time: both sides stay in the cache.
pub(crate) fn turned(values: &[f32], rows: usize, cols: usize) -> Vec<f32> {
    const BLOCK: usize = 32;
    let mut out = vec![0.0; values.len()];
    for top in (0..rows).step_by(BLOCK) {
        for left in (0..cols).step_by(BLOCK) {
            for row in top..rows.min(top + BLOCK) {
                for col in left..cols.min(left + BLOCK) {
                    if let (Some(to), Some(from)) =
                        (out.get_mut(col * rows + row), values.get(row * cols + col))
                    {
                        *to = *from;
                    }
                }
            }
        }
    }
    out
}

/// Drops the marked columns.
pub(crate) fn keep_columns(table: &mut Table, gone: &[bool]) {
    let cols = table.cols.max(1);
    let mut at = 0;
    table.values.retain(|_| {
        let gone = gone.get(at % cols).copied().unwrap_or(false);
        at += 1;
        !gone
    });
    let mut at = 0;
    if let Some(names) = &mut table.columns {
        names.retain(|_| {
            at += 1;
            !gone.get(at - 1).copied().unwrap_or(false)
        });
    }
    remainder::keep_columns(&mut table.remainders, gone);
    table.cols -= gone.iter().take(table.cols).filter(|gone| **gone).count();
}

fn fill_missing(table: &mut Table, sums: &Sums, choice: MissingChoice, notices: &mut Vec<String>) {
    let cols = table.cols.max(1);
    match choice {
        MissingChoice::Keep => {}
        MissingChoice::Zero | MissingChoice::Mean => {
            for row in table.values.chunks_exact_mut(cols) {
                for (value, column) in row.iter_mut().zip(&sums.columns) {
                    if value.is_nan() {
                        *value = if choice == MissingChoice::Zero { 0.0 } else { column.mean };
                    }
                }
            }
            let what = if choice == MissingChoice::Zero { "0" } else { "their column's mean" };
            notices.push(format!("Missing values that were replaced by {what}: {}.", sums.missing));
        }
        MissingChoice::DropColumns => {
            let gone: Vec<bool> = sums.columns.iter().map(|column| column.missing > 0).collect();
            notices.push(format!("Columns with missing values were left out: {}.", list(&gone, table)));
            keep_columns(table, &gone);
        }
        MissingChoice::DropRows => {
            let whole: Vec<bool> =
                table.values.chunks_exact(cols).map(|row| !row.iter().any(|v| v.is_nan())).collect();
            keep_rows(table, &whole);
            let gone = whole.iter().filter(|whole| !**whole).count();
            notices.push(format!("Rows that were left out for their missing values: {gone}."));
        }
    }
}

fn keep_rows(table: &mut Table, keep: &[bool]) {
    fn kept<T>(list: &mut Vec<T>, keep: &[bool], each: usize) {
        let mut at = 0;
        list.retain(|_| {
            at += 1;
            keep.get((at - 1) / each).copied().unwrap_or(false)
        });
    }
    kept(&mut table.values, keep, table.cols.max(1));
    table.remainders.iter_mut().for_each(|remainder| kept(&mut remainder.values, keep, 1));
    if let Some(ids) = &mut table.ids {
        kept(ids, keep, 1);
    }
    table.labels.iter_mut().for_each(|labels| kept(&mut labels.codes, keep, 1));
    table.rows = keep.iter().filter(|keep| **keep).count();
}

async fn repeated_rows(table: &Table, watch: &mut impl Watch) -> Result<usize, Trouble> {
    /// A set of more would take more memory than the answer is worth.
    const MOST: usize = 1 << 20;
    if table.rows > MOST {
        return Ok(0);
    }
    let mut seen = HashSet::with_capacity(table.rows);
    for (row, values) in table.values.chunks_exact(table.cols.max(1)).enumerate() {
        if row % STRIDE == STRIDE - 1 {
            watch.passed(row as u64, table.rows as u64).await?;
        }
        // Two sums of 64 bits: that different rows share both does not happen.
        let mix = |sum: u64, value: &f32| {
            (sum ^ u64::from(value.to_bits())).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        };
        let left: Vec<f32> =
            table.remainders.iter().map(|left| left.values.get(row).copied().unwrap_or(0.0)).collect();
        let all = || values.iter().chain(&left);
        seen.insert((all().fold(1, mix), all().rev().fold(2, mix)));
    }
    Ok(table.rows - seen.len())
}

fn corner(table: &Table) -> Vec<Vec<String>> {
    let (rows, cols) = Preview::CORNER;
    let row = |values: &[f32]| {
        values.iter().take(cols).map(|v| if v.is_nan() { String::new() } else { v.to_string() }).collect()
    };
    table.values.chunks_exact(table.cols.max(1)).take(rows).map(row).collect()
}
