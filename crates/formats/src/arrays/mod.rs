//! NumPy's arrays, alone or several in an archive.

mod columns;
pub(crate) mod header;
pub(crate) mod npy;
pub(crate) mod npz;
mod zip;
