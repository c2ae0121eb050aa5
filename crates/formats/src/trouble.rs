//! What is wrong with a file, where, and what to do about it.

use std::fmt;

use crate::Way;

/// A file that cannot be used, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Trouble {
    pub kind: Kind,
    /// The file's name; filled in by the front door, empty until then.
    pub file: String,
    /// Where: "row 17, column 'age'"; empty when it is about the whole file.
    pub place: String,
    /// What was found: a full sentence.
    pub what: String,
    /// The way out: a full sentence that begins with a verb.
    pub fix: String,
    /// Other ways to read the file that get round it.
    #[serde(default)]
    pub ways: Box<[Way]>,
}

/// The sorts of trouble, for code that has to tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Kind {
    Cancelled,
    /// The file has no content.
    Empty,
    /// A format we do not read, or not the one it claims to be.
    Format,
    /// A variant of a readable format that we do not read (a compression, an element type).
    Unsupported,
    /// It ends early.
    Truncated,
    /// It contradicts itself.
    Broken,
    /// Text where a number belongs.
    NotANumber,
    /// Rows of different lengths.
    Ragged,
    /// Infinite values.
    Infinite,
    /// The same id twice.
    Duplicate,
    /// Too few rows or columns for the use it is put to.
    TooSmall,
    /// More than memory allows.
    TooLarge,
    /// Two files that do not fit each other, or indices out of range.
    Mismatch,
    /// Several arrays, and none was chosen.
    Ambiguous,
    /// The file could not be read at all (it was moved, or changed).
    Unreadable,
}

impl Trouble {
    pub fn new(kind: Kind, what: impl Into<String>, fix: impl Into<String>) -> Self {
        let (file, place) = (String::new(), String::new());
        Self { kind, file, place, what: what.into(), fix: fix.into(), ways: Box::default() }
    }

    /// Names ways round it.
    #[must_use]
    pub(crate) fn round(self, ways: impl Into<Box<[Way]>>) -> Self {
        Self { ways: ways.into(), ..self }
    }

    #[must_use]
    pub fn at(self, place: impl Into<String>) -> Self {
        Self { place: place.into(), ..self }
    }

    /// Names the file, unless it is named already.
    #[must_use]
    pub fn of(self, file: &str) -> Self {
        if self.file.is_empty() { Self { file: file.to_owned(), ..self } } else { self }
    }

    pub fn cancelled() -> Self {
        Self::new(Kind::Cancelled, "Reading was cancelled.", "Choose the file again to read it.")
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in [&self.file, &self.place] {
            if !part.is_empty() {
                write!(out, "{part}: ")?;
            }
        }
        write!(out, "{} {}", self.what, self.fix)
    }
}

impl std::error::Error for Trouble {}
