//! Results become files: one module a format.
//!
//! Every function makes bytes, or adds them to a `Vec<u8>`, so that the same code serves a download in a browser and
//! a file on disk. The same input makes the same bytes: no clock and no random number is looked at.

pub mod csv;
pub mod model;
pub mod npy;
pub mod onnx;
pub mod png;
mod protobuf;
pub mod record;
pub mod safetensors;
pub mod sha256;
pub mod zip;
