//! The record of a run: all that somebody else needs to get the same result, and the result to compare with.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Kind, Trouble};

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Grows when older programs would misread a record.
    pub format: u32,
    /// Versions of the program and of what it ran in, by name.
    pub versions: BTreeMap<String, String>,
    /// When it was saved, in UTC: 2026-01-31T12:00:00.000Z.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub date: String,
    pub seed: u64,
    pub settings: Value,
    /// The alignment that was chosen of those the run had found: where it comes from, and its score.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub chosen: Value,
    /// What computed it: a graphics card or processor, by name.
    pub executor: String,
    pub inputs: Vec<Input>,
    /// Rows that were said by hand to belong together, from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<(u64, u64)>,
    /// Seconds that each part took, in the order they ran.
    pub timings: Vec<Timing>,
    /// What was measured, by name; none where it could not be.
    pub metrics: BTreeMap<String, Option<f64>>,
}

/// One file that went in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    pub name: String,
    /// What it was used as, in words; empty in older records.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub used_as: String,
    pub bytes: u64,
    /// In hexadecimal digits, of the whole file.
    pub sha256: String,
    /// Of the table that was made of it.
    pub rows: u64,
    pub cols: u64,
    /// What was chosen when it was read: the array, the columns, what was done to missing values.
    pub choices: Value,
    /// What was found when it was read: its format, what was decided and why, and what was noticed.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub found: Value,
}

/// How long a part took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    pub name: String,
    pub seconds: f64,
}

impl Record {
    /// The format that is written, and the only one that is read.
    pub const FORMAT: u32 = 1;

    /// The record as JSON, with its lines indented for people. Metrics that are not finite become null, that is none.
    pub fn write(&self) -> Result<Vec<u8>, Trouble> {
        self.check()?;
        let mut file = serde_json::to_vec_pretty(self)
            .map_err(|error| broken(format!("The record cannot be written: {error}.")))?;
        file.push(b'\n');
        Ok(file)
    }

    /// The record in a file.
    pub fn read(file: &[u8]) -> Result<Self, Trouble> {
        if file.trim_ascii().is_empty() {
            return Err(Trouble::new(Kind::Empty, "The file has no content.", "Choose another file."));
        }
        let value: Value = serde_json::from_slice(file).map_err(|error| {
            let what = format!("The file is not valid JSON: {error}.");
            Trouble::new(Kind::Format, what, "Choose a record that was saved here.")
        })?;
        // The number first: nothing else of a newer record may be understood.
        match value.get("format").and_then(Value::as_u64) {
            Some(format) => known(format)?,
            None => return Err(broken("It is JSON, but not the record of a run: it has no format.")),
        }
        let record: Self = serde_json::from_value(value)
            .map_err(|error| broken(format!("It is not the record of a run: {error}.")))?;
        record.check()?;
        Ok(record)
    }

    fn check(&self) -> Result<(), Trouble> {
        known(self.format.into())?;
        for Input { name, sha256, .. } in &self.inputs {
            if sha256.len() != 64 || !sha256.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
                return Err(broken("Its SHA-256 does not have 64 small hexadecimal digits.").at(name));
            }
        }
        for Timing { name, seconds } in &self.timings {
            if !(seconds.is_finite() && *seconds >= 0.0) {
                return Err(broken(format!("It cannot have taken {seconds} seconds.")).at(name));
            }
        }
        Ok(())
    }
}

fn known(format: u64) -> Result<(), Trouble> {
    if format == u64::from(Record::FORMAT) {
        return Ok(());
    }
    let what = format!("The record is of format {format}, and only {} is known.", Record::FORMAT);
    Err(Trouble::new(Kind::Unsupported, what, "Open it with a newer version."))
}

fn broken(what: impl Into<String>) -> Trouble {
    Trouble::new(Kind::Broken, what, "Save the record again from the run that made it.")
}
