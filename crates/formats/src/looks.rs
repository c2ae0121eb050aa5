//! What sort of numbers a table holds, and what is usually done with such numbers before they are compared.

use crate::finish::Sums;
use crate::{Looks, Step, Suggestion, Table};

/// How many rows are looked at.
const ROWS: usize = 2000;
/// More columns than this are worth reducing, and to how many.
const WIDE: usize = 200;
const REDUCED: usize = 50;

pub(crate) fn look(table: &Table, sums: &Sums) -> (Looks, Vec<Suggestion>) {
    let looks = sort(table, sums);
    let mut suggestions = Vec::new();
    let mut suggest = |kind, why: String| suggestions.push(Suggestion { kind, why });
    if lies_on_its_side(table) {
        let why = format!(
            "There are {} rows and {} columns, and the rows are named like genes or the columns like cells: rows should be the points.",
            table.rows, table.cols
        );
        suggest(Step::Transpose, why);
    }
    match looks {
        Looks::Counts => suggest(
            Step::Log1pNormalise,
            "The values are counts: rows with larger totals would seem far from all others.".into(),
        ),
        Looks::Proportions => suggest(
            Step::SqrtShares,
            "Every row adds up to the same: square roots make distances between shares meaningful.".into(),
        ),
        Looks::Distances => suggest(
            Step::UseAsDistances,
            "The table is square and symmetric with zeros on its diagonal: it seems to hold distances."
                .into(),
        ),
        Looks::General if uneven(sums) => suggest(
            Step::ZScore,
            "The columns vary on very different scales: the largest would decide every distance.".into(),
        ),
        _ => {}
    }
    if looks != Looks::Distances && table.cols > WIDE && table.rows > REDUCED {
        let why = format!(
            "There are {} columns; their {REDUCED} main directions are faster and less noisy.",
            table.cols
        );
        suggest(Step::Pca(REDUCED), why);
    }
    (looks, suggestions)
}

fn sort(table: &Table, sums: &Sums) -> Looks {
    if is_distances(table) {
        return Looks::Distances;
    }
    // Evenly spread rows: files are often sorted.
    let step = table.rows.div_ceil(ROWS).max(1);
    let rows = || table.values.chunks_exact(table.cols.max(1)).step_by(step);
    let values = || rows().flatten().filter(|value| !value.is_nan());
    let count = values().count();
    if count == 0 || table.cols < 2 {
        return Looks::General;
    }
    let total = |row: &[f32]| row.iter().filter(|v| !v.is_nan()).map(|v| f64::from(*v)).sum::<f64>();
    let length = |row: &[f32]| row.iter().filter(|v| !v.is_nan()).map(|v| f64::from(*v).powi(2)).sum::<f64>();
    let all_near =
        |sum: &dyn Fn(&[f32]) -> f64, want: f64| rows().all(|row| (sum(row) - want).abs() < want * 1e-3);
    let lowest = sums.columns.iter().map(|column| column.min).fold(f32::INFINITY, f32::min);
    let highest = sums.columns.iter().map(|column| column.max).fold(f32::NEG_INFINITY, f32::max);
    if lowest >= 0.0 {
        if all_near(&total, 1.0) || (highest <= 100.0 && all_near(&total, 100.0)) {
            return Looks::Proportions;
        }
        // Codes, flags and the brightness of pixels are whole numbers, too; counts go further, and include zero or
        // are large.
        let zeros = values().filter(|value| **value == 0.0).count();
        let far = highest > 100.0 || (highest >= 5.0 && zeros * 100 > count);
        if far && highest != 255.0 && values().all(|value| value.fract() == 0.0) {
            return Looks::Counts;
        }
        if zeros * 3 > count && highest < 20.0 && highest > 1.0 {
            return Looks::Logged;
        }
    }
    if all_near(&length, 1.0) {
        return Looks::UnitRows;
    }
    let standard = |(column, variance): (&crate::Column, &f64)| {
        column.constant || (column.mean.abs() < 0.02 && (variance - 1.0).abs() < 0.05)
    };
    if table.rows > 2 && sums.columns.iter().zip(&sums.variances).all(standard) {
        return Looks::Standardised;
    }
    Looks::General
}

fn is_distances(table: &Table) -> bool {
    let size = table.rows;
    if size < 3 || table.cols != size {
        return false;
    }
    let at = |row: usize, col: usize| table.values.get(row * size + col).copied().unwrap_or(f32::NAN);
    let largest = table.values.iter().copied().fold(0.0, f32::max);
    let near = largest * 1e-5;
    largest > 0.0
        && (0..size).all(|row| at(row, row).abs() <= near)
        && (0..size)
            .all(|row| (0..row).all(|col| at(row, col) >= 0.0 && (at(row, col) - at(col, row)).abs() <= near))
}

fn uneven(sums: &Sums) -> bool {
    let varied = || sums.variances.iter().copied().filter(|variance| *variance > 0.0);
    let (least, most) = varied().fold((f64::INFINITY, 0f64), |(a, b), v| (a.min(v), b.max(v)));
    varied().count() > 1 && most > least * 100.0
}

/// Whether points seem to be columns: genes in rows, as sequencing pipelines write them.
fn lies_on_its_side(table: &Table) -> bool {
    let share = |names: &Option<Vec<String>>, test: fn(&str) -> bool| {
        let names = names.as_deref().unwrap_or_default();
        let step = names.len().div_ceil(ROWS).max(1);
        let seen = || names.iter().step_by(step);
        !names.is_empty() && seen().filter(|name| test(name)).count() * 10 > seen().count() * 7
    };
    let wide = table.cols > table.rows * 5;
    (share(&table.ids, is_gene) && (wide || share(&table.columns, is_barcode)))
        || (share(&table.columns, is_barcode) && !share(&table.ids, is_barcode))
}

/// ENSG00000141510, TP53, Gapdh, MT-CO1.
fn is_gene(name: &str) -> bool {
    if name.starts_with("ENS") && name.len() > 10 {
        return true;
    }
    let ends_well = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    let letters = name.chars().filter(char::is_ascii_alphabetic).count();
    (2..=12).contains(&name.len())
        && letters >= 2
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && (name.chars().all(ends_well)
            || name.chars().skip(1).all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()))
        && !is_barcode(name)
}

/// AAACCTGAGAAGGCCT-1, perhaps after the name of a sample.
fn is_barcode(name: &str) -> bool {
    name.split(['-', '_', ':', '#', '.'])
        .any(|word| word.len() >= 10 && word.chars().all(|c| matches!(c, 'A' | 'C' | 'G' | 'T' | 'N')))
}
