//! Optional terms, one file each, recorded without their weight: [`Graded::add`](super::losses::Graded::add)
//! adds them to a loss.

pub mod dirichlet;
pub mod fused;
pub mod pairs;
