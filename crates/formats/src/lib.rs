//! Files become tables, results become files.
//!
//! Everything here is a function of bytes. It knows nothing of alignment, of browsers, or of threads: bytes come
//! from a [`Source`], which may be a file on disk, a slice in a test or a `Blob` in a worker, and every long loop
//! passes a [`Watch`] on its way, which shows progress and may end it.

mod arrays;
mod choices;
mod chunks;
mod coarse;
mod extremes;
mod finish;
pub mod h5ad;
mod hdf5;
mod lists;
mod looks;
pub mod mtx;
mod preview;
mod read;
mod remainder;
mod sniff;
mod source;
mod table;
mod text;
mod trouble;
mod ways;
pub mod write;

pub use choices::{Choices, ColumnChoice, MissingChoice};
pub use lists::{Listed, Pairs, labels, pairs};
pub use preview::{Column, Decision, Field, Loaded, Looks, Part, Preview, Role, Step, Suggestion};
pub use read::{parts, read};
pub use remainder::{Remainder, Remainders};
pub use source::{Bytes, NoWatch, Source, Watch};
pub use table::{Labels, Table};
pub use trouble::{Kind, Trouble};
pub use ways::Way;
