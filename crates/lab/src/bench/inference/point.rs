//! One measurement, and what is said about several.

use serde_json::{Value, json};

/// A transport of one size by one method.
#[derive(Clone, Debug)]
pub struct Point {
    pub method: String,
    pub n: usize,
    pub dim: usize,
    pub seconds: f64,
    pub iterations: u64,
    /// The sum of the columns' misses, where it was told.
    pub error: Option<f64>,
    pub memory_mb: Option<f64>,
}

impl Point {
    /// From what a process has said.
    pub fn read(method: &str, n: usize, dim: usize, answer: &Value) -> Result<Self, String> {
        let missing = |key: &str| format!("'{answer}' has no {key}");
        Ok(Self {
            method: method.to_owned(),
            n,
            dim,
            seconds: answer["seconds"].as_f64().ok_or_else(|| missing("seconds"))?,
            iterations: answer["iterations"].as_u64().ok_or_else(|| missing("iterations"))?,
            error: answer["error"].as_f64(),
            memory_mb: answer["memory_mb"].as_f64(),
        })
    }

    /// Whether it went on until it was solved; others are stopped after a few iterations.
    pub fn solved(&self) -> bool {
        self.error.is_some_and(|error| error <= f64::from(super::TOLERANCE))
    }

    pub fn seconds_per_iteration(&self) -> f64 {
        self.seconds / self.iterations.max(1) as f64
    }

    pub fn json(&self) -> Value {
        json!({
            "method": self.method,
            "n": self.n,
            "dim": self.dim,
            "seconds": self.seconds,
            "iterations": self.iterations,
            "seconds_per_iteration": self.seconds_per_iteration(),
            "error": self.error,
            "memory_mb": self.memory_mb,
        })
    }
}

/// The points as a table.
pub fn table(points: &[Point]) -> String {
    let mut text = format!(
        "{:<24}{:>8}{:>5}{:>12}{:>6}{:>14}{:>12}{:>12}\n",
        "method", "N", "d", "seconds", "it.", "s/iteration", "error", "memory/MB"
    );
    for point in points {
        let or_dash = |value: Option<String>| value.unwrap_or_else(|| "–".into());
        text += &format!(
            "{:<24}{:>8}{:>5}{:>12.2}{:>6}{:>14.4}{:>12}{:>12}\n",
            point.method,
            point.n,
            point.dim,
            point.seconds,
            point.iterations,
            point.seconds_per_iteration(),
            or_dash(point.error.map(|error| format!("{error:.1e}"))),
            or_dash(point.memory_mb.map(|memory| format!("{memory:.0}"))),
        );
    }
    text
}

/// The exponent k of the best `y ∝ xᵏ`, by least squares of the logarithms.
pub fn exponent(pairs: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> = pairs.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let mean_x = logs.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = logs.iter().map(|(_, y)| y).sum::<f64>() / count;
    let spread: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let shared: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    (spread > 0.0).then(|| shared / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_law_has_its_exponent_and_a_point_none() {
        let law = [1e3, 2e3, 5e3].map(|x: f64| (x, 3.0 * x.powf(1.7)));
        assert!(exponent(&law).is_some_and(|k| (k - 1.7).abs() < 1e-9));
        assert_eq!(exponent(&law[..1]), None);
        assert_eq!(exponent(&[]), None);
    }

    #[test]
    fn an_answer_becomes_a_point() {
        let answer = json!({ "seconds": 6.0, "iterations": 12, "error": 1e-3, "memory_mb": null });
        let point = Point::read("ours", 10, 2, &answer).expect("a point");
        assert_eq!((point.seconds_per_iteration(), point.memory_mb), (0.5, None));
        assert!(table(&[point]).contains("0.5000"));
        assert!(Point::read("ours", 10, 2, &json!({ "seconds": 6.0 })).is_err());
    }
}
