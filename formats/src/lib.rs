//! Files become tables, results become files.
//!
//! Everything here is a function of bytes. It knows nothing of alignment, of browsers, or of threads: bytes come
//! from a [`Source`], which may be a file on disk, a slice in a test or a `Blob` in a worker, and every long loop
//! passes a [`Watch`] on its way, which shows progress and may end it.

pub mod h5ad;
mod hdf5;
pub mod mtx;
mod source;
mod table;
mod trouble;

pub use source::{Bytes, NoWatch, Source, Watch};
pub use table::{Labels, Table};
pub use trouble::{Kind, Trouble};
