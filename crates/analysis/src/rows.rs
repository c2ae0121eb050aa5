//! What is known about rows beside their features: names, and labels that can be compared between the sides.

use formats::Labels;

/// What is known about the rows of a side beside their features.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub ids: Option<Vec<String>>,
    pub labels: Option<Labels>,
}

impl Rows {
    /// What is known about some of the rows.
    pub fn picked(&self, rows: &[usize]) -> Self {
        let ids = self.ids.as_ref().map(|ids| rows.iter().filter_map(|row| ids.get(*row).cloned()).collect());
        let labels = self.labels.as_ref().map(|labels| Labels {
            name: labels.name.clone(),
            names: labels.names.clone(),
            codes: rows.iter().filter_map(|row| labels.codes.get(*row).copied()).collect(),
        });
        Self { ids, labels }
    }

    /// The id of a row, as it is in the file; empty where there are none.
    pub fn id(&self, row: usize) -> &str {
        self.ids.as_ref().and_then(|ids| ids.get(row)).map_or("", String::as_str)
    }

    /// What a row is called in a sentence: its id, or its number. People count from 1 and their programs from 0.
    pub fn name(&self, row: usize) -> String {
        match self.id(row) {
            "" => format!("row {} (counted from 1)", row + 1),
            id => id.to_owned(),
        }
    }

    pub fn label(&self, row: usize) -> &str {
        let code = self.labels.as_ref().and_then(|labels| labels.codes.get(row).copied());
        let names = self.labels.as_ref().map(|labels| labels.names.as_slice()).unwrap_or_default();
        code.and_then(|code| names.get(code as usize)).map_or("", String::as_str)
    }
}

/// Classes that measurements are put into when they stand where labels do.
const CLASSES: usize = 8;

/// Measurements in the place of labels (a position, an age) become classes of equal width, the same on both sides;
/// labels that are different for nearly every row are none.
pub fn classed(rows: [Rows; 2]) -> [Rows; 2] {
    let crowded = |labels: &Labels| labels.names.len() > 30 && 2 * labels.names.len() > labels.codes.len();
    let both = rows.each_ref().map(|rows| rows.labels.as_ref().filter(|labels| crowded(labels)));
    let [Some(x), Some(y)] = both else {
        return rows.map(|side| Rows { labels: side.labels.filter(|labels| !crowded(labels)), ..side });
    };
    let numbers = |labels: &Labels| -> Option<Vec<f64>> {
        labels.names.iter().map(|name| name.trim().parse().ok().filter(|v: &f64| v.is_finite())).collect()
    };
    let (Some(nx), Some(ny)) = (numbers(x), numbers(y)) else {
        return rows.map(|side| Rows { labels: None, ..side });
    };
    let (low, high) = nx.iter().chain(&ny).fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
    let width = (high - low) / CLASSES as f64;
    let names: Vec<String> = (0..CLASSES)
        .map(|k| format!("{:.3}–{:.3}", low + width * k as f64, low + width * (k + 1) as f64))
        .collect();
    let class = |v: f64| (((v - low) / width.max(1e-300)) as usize).min(CLASSES - 1) as u32;
    let made = |labels: &Labels, values: &[f64]| Labels {
        name: labels.name.clone(),
        names: names.clone(),
        codes: labels
            .codes
            .iter()
            .map(|code| values.get(*code as usize).map_or(Labels::MISSING, |v| class(*v)))
            .collect(),
    };
    let (lx, ly) = (made(x, &nx), made(y, &ny));
    let [x, y] = rows;
    [Rows { labels: Some(lx), ..x }, Rows { labels: Some(ly), ..y }]
}
