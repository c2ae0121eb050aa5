//! What is said about files: which one is meant for what, and what was found in it.

use formats::{Choices, Preview, Step};
use serde::{Deserialize, Serialize};

use super::AlignOptions;

/// One of the two data sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Side {
    X,
    Y,
}

impl Side {
    pub const BOTH: [Self; 2] = [Self::X, Self::Y];

    pub fn index(self) -> usize {
        self as usize
    }

    /// As it stands in names for automation.
    pub fn letter(self) -> &'static str {
        match self {
            Self::X => "x",
            Self::Y => "y",
        }
    }
}

/// What a file is used as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Slot {
    Features(Side),
    Labels(Side),
    /// Distances within a side, square.
    Distances(Side),
    /// Columns that both sides share, for the fused term.
    Shared(Side),
    /// Known pairs, for training.
    Pairs,
    /// All true pairs, for scoring only.
    Truth,
    /// Points for encoders that are trained already.
    New(Side),
    /// Labels of these.
    NewLabels(Side),
    /// The true pairs among these, for scoring only.
    NewTruth,
    Model,
    /// The record of a run, whose settings are taken over.
    Record,
}

impl Slot {
    /// What a file is used as, in words; they stand in records.
    pub fn words(self) -> String {
        let of = |what: &str, side: Side| format!("{what} {}", side.letter().to_uppercase());
        match self {
            Self::Features(side) => of("data set", side),
            Self::Labels(side) => of("labels of", side),
            Self::Distances(side) => of("distances of", side),
            Self::Shared(side) => of("shared columns of", side),
            Self::Pairs => "known pairs".into(),
            Self::Truth => "true pairs".into(),
            Self::New(side) => of("new rows of", side),
            Self::NewLabels(side) => of("labels of the new rows of", side),
            Self::NewTruth => "true pairs of the new rows".into(),
            Self::Model => "trained model".into(),
            Self::Record => "run record".into(),
        }
    }
}

/// A file the page holds: a `blob:` address, or one of our own samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileRef {
    pub name: String,
    pub url: String,
}

/// How a file is to be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    pub choices: Choices,
    /// What is done to the table afterwards, in this order.
    pub steps: Vec<Step>,
}

/// How new rows of a side follow those of training.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NewRows {
    /// What is done to them, in sentences.
    pub said: Vec<String>,
    /// Why the encoders cannot be applied to them.
    pub refused: Option<String>,
}

/// What a file turned out to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Content {
    Table(Box<Preview>),
    /// The columns of labels: the name of each, and how many different labels it has.
    Labels {
        rows: usize,
        columns: Vec<(String, usize)>,
    },
    /// How many, and how they were understood.
    Pairs {
        count: usize,
        note: String,
    },
    /// What it was trained on and how, in a sentence.
    Model {
        about: String,
    },
    /// The settings of a run and the pairs that were made by hand for it, and what it was.
    Record {
        about: String,
        pairs: Vec<(u32, u32)>,
        options: Box<AlignOptions>,
        /// The files that went into it.
        files: Vec<Recorded>,
        /// The alignment that was on show.
        chosen: Option<Chosen>,
    },
}

/// A file that went into a recorded run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    pub name: String,
    /// As by [`Slot::words`]; empty in records that do not say.
    pub used_as: String,
    pub sha256: String,
    /// How it was read, where that is understood.
    pub reading: Option<Reading>,
}

/// The alignment that was on show when a run was recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    /// Its place among the candidates, from 0, and how many there were.
    pub candidate: u32,
    pub of: u32,
    /// Where it comes from, in words.
    pub origin: String,
}

impl Content {
    /// Rows and columns of a table.
    pub fn size(&self) -> Option<(usize, usize)> {
        match self {
            Self::Table(preview) => Some((preview.rows, preview.cols)),
            _ => None,
        }
    }
}
