//! Transport between so many points that their plan cannot be held: it exists as embeddings and potentials, and every
//! entry is computed where it is needed.

mod clouds;
mod matching;

pub use crate::watch::{Cancelled, NoWatch, Watch};
pub use clouds::{Clouds, Implicit};
pub use matching::{Matching, Tile};
