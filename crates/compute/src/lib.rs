//! Recordings of kernel dispatches, the kernels (WGSL and a Rust twin each), and the executors that play them. Knows no
//! alignment.

pub mod check;
pub mod exec;
pub mod kernels;
pub mod plan;
pub mod rng;
