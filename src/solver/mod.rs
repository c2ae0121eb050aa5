//! The mathematics, recorded: everything here turns settings into stages of a plan and never runs one.

pub mod cost;
pub mod fit;
pub mod implicit;
pub mod losses;
pub mod mlp;
pub mod sinkhorn;
