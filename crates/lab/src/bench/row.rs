//! A line of the result: in the JSON file and on the terminal.

use serde_json::{Value, json};

use super::timing::Timing;

/// A measurement, perhaps beside that of a peer.
#[derive(Clone, Debug)]
pub struct Row {
    pub name: String,
    /// The median.
    pub seconds: f64,
    /// The fastest repeat, where there were several. On the terminal only.
    pub least: Option<f64>,
    pub peer: Option<String>,
    pub peer_seconds: Option<f64>,
    /// The peak of the process that did what `name` says.
    pub memory_mb: Option<f64>,
}

impl Row {
    pub fn new(name: impl Into<String>, timing: Timing) -> Self {
        let least = Some(timing.least);
        Self {
            name: name.into(),
            seconds: timing.median,
            least,
            peer: None,
            peer_seconds: None,
            memory_mb: None,
        }
    }

    /// The same measurement beside a peer's.
    pub fn beside(&self, peer: &Row) -> Self {
        Self { peer: Some(peer.name.clone()), peer_seconds: Some(peer.seconds), ..self.clone() }
    }

    /// How many times faster than the peer.
    pub fn ratio(&self) -> Option<f64> {
        self.peer_seconds.map(|peer| peer / self.seconds)
    }

    pub fn json(&self) -> Value {
        json!({
            "name": self.name,
            "seconds": self.seconds,
            "peer": self.peer,
            "peer_seconds": self.peer_seconds,
            "ratio": self.ratio(),
            "memory_mb": self.memory_mb,
        })
    }
}

/// The rows as a table.
pub fn table(rows: &[Row]) -> String {
    let number = |value: Option<f64>| value.map_or_else(|| "–".into(), |value| format!("{value:.1}"));
    let mut cells =
        vec![["", "median", "fastest", "memory/MB", "peer", "peer's time", "ratio"].map(String::from)];
    cells.extend(rows.iter().map(|row| {
        [
            row.name.clone(),
            duration(row.seconds),
            row.least.map_or_else(|| "–".into(), duration),
            number(row.memory_mb),
            row.peer.clone().unwrap_or_else(|| "–".into()),
            row.peer_seconds.map_or_else(|| "–".into(), duration),
            number(row.ratio()),
        ]
    }));
    let widths: Vec<usize> =
        (0..7).map(|c| cells.iter().map(|line| line[c].chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for line in &cells {
        for (c, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let padding = " ".repeat(width - cell.chars().count());
            // Words to the left, numbers to the right.
            let words = c == 0 || c == 4;
            text += &if words { format!("{cell}{padding}  ") } else { format!("{padding}{cell}  ") };
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

fn duration(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.3} ms", 1e3 * seconds) } else { format!("{seconds:.2} s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_how_many_times_faster_and_null_where_nothing_was_measured() {
        let timing = |seconds| Timing { median: seconds, least: seconds };
        let (ours, peer) = (Row::new("ours", timing(2.0)), Row::new("theirs", timing(30.0)));
        assert_eq!(
            ours.json().to_string(),
            r#"{"name":"ours","seconds":2.0,"peer":null,"peer_seconds":null,"ratio":null,"memory_mb":null}"#
        );
        let beside = ours.beside(&peer);
        assert_eq!(beside.ratio(), Some(15.0));
        assert_eq!(beside.json()["peer"], "theirs");
        let table = table(&[ours, beside]);
        assert_eq!(table.lines().count(), 3);
        assert!(table.contains("15.0"), "{table}");
    }
}
