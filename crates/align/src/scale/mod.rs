//! Transport between so many points that their plan cannot be held: it exists as embeddings and potentials, and every
//! entry is computed where it is needed.

mod clouds;
mod matching;
pub mod multiscale;
mod update;

pub use crate::solver::cost::CostKind;
pub use crate::solver::marginals::Relaxation;
#[cfg(any(test, feature = "testing"))]
pub use crate::watch::Count;
pub use crate::watch::{Cancelled, NoWatch, Watch, unwatched};
pub use clouds::{Clouds, Implicit};
pub use matching::{Matching, Tile};
pub use update::Update;

/// A plan, and how well it was solved.
#[derive(Clone, Debug)]
pub struct Solved {
    pub plan: Implicit,
    /// How far its rows and columns are from their marginals, summed; where these are relaxed, from what the potentials
    /// ask for.
    pub error: f32,
    pub iterations: u32,
}
