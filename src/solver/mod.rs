//! The mathematics, recorded: everything here turns settings into stages of a plan and never runs one.

pub mod fit;
pub mod mlp;
