//! The rows on the terminal. What cannot be known of a set is a dash.

use serde_json::Value;

pub fn head() {
    println!(
        "{:<26} {:>4} {:>11} {:>8} {:>17} {:>13} {:>6} {:>8} {:>7} {:>7} {:>7}",
        "set",
        "seed",
        "points",
        "encoder",
        "FOSCTTM",
        "labels",
        "exact",
        "Spearman",
        "alone",
        "train",
        "infer"
    );
}

pub fn row(row: &Value) {
    let word = |key: &str| row[key].as_str().unwrap_or("").to_owned();
    let count = |key: &str| row[key].as_u64().unwrap_or(0);
    let variant = row["variant"].as_str().map_or(String::new(), |variant| format!(" {variant}"));
    println!(
        "{:<26} {:>4} {:>11} {:>8} {}",
        word("set") + &variant,
        count("seed"),
        format!("{}×{}", count("n"), count("m")),
        word("encoder"),
        figures(|key| row[key].as_f64())
    );
}

pub fn medians(set: &str, rows: &[Value]) {
    let median = |key: &str| {
        let mut values: Vec<f64> =
            rows.iter().filter(|row| row["set"] == set).filter_map(|row| row[key].as_f64()).collect();
        values.sort_by(f64::total_cmp);
        let n = values.len();
        (n > 0).then(|| (values[(n - 1) / 2] + values[n / 2]) / 2.0)
    };
    println!("{set:<26} {:>4} {:>11} {:>8} {}", "", "", "median", figures(median));
}

fn figures(value: impl Fn(&str) -> Option<f64>) -> String {
    let number = |key: &str, wide: usize, digits: usize| match value(key) {
        Some(value) => format!("{value:>wide$.digits$}"),
        None => format!("{:>wide$}", "–"),
    };
    [
        number("foscttm_xy", 8, 4),
        number("foscttm_yx", 8, 4),
        number("label_transfer_xy", 6, 3),
        number("label_transfer_yx", 6, 3),
        number("exact_match", 6, 3),
        number("plan_spearman", 8, 4),
        number("no_partner_auc", 7, 3),
        number("train_s", 6, 1) + "s",
        number("infer_s", 6, 1) + "s",
    ]
    .join(" ")
}
