//! Transport between so many points that their plan cannot be held: it exists as embeddings and potentials, and every
//! entry is computed where it is needed.

mod clouds;

pub use clouds::{Clouds, Implicit};

/// A transport between all points, and how well it was solved.
#[derive(Clone, Debug)]
pub struct Solved {
    pub plan: Implicit,
    /// How far the columns of the plan are from their weights, summed.
    pub error: f32,
    pub iterations: u32,
}
