//! The mathematics, recorded: everything here turns settings into stages of a plan and never runs one.

pub mod align;
pub mod annealing;
pub mod cost;
pub mod fit;
pub mod implicit;
pub mod infer;
pub mod linear;
pub mod losses;
pub mod marginals;
pub mod mlp;
pub mod momentum;
pub mod sinkhorn;
pub mod streamed;
pub mod terms;
pub mod whole;
