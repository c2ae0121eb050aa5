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
    },
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
