//! Transport between so many points that their plan cannot be held: it exists as embeddings and potentials, and every
//! entry is computed where it is needed.

mod clouds;
mod matching;
mod watch;

pub use crate::solver::cost::CostKind;
pub use clouds::{Clouds, Implicit};
pub use matching::{Matching, Tile};
pub use watch::{Cancelled, NoWatch, Watch};
