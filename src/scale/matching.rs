//! A plan between all points, in whichever form it exists, looked at piece by piece.

use super::{Cancelled, Implicit, Watch};
use crate::geometry::Dense;
use crate::kernels::exp;

/// A plan that is held, or one that is computed where it is looked at.
pub enum Matching {
    Held(Dense),
    Computed(Implicit),
}

/// The masses between some rows and some columns of a plan, row by row.
#[derive(Clone, Copy, Debug)]
pub struct Tile<'a> {
    pub rows: &'a [u32],
    pub cols: &'a [u32],
    pub mass: &'a [f32],
}

/// Rows and columns of a tile that is computed: large enough for a fast product, small enough for a cache.
const TILE: [usize; 2] = [128, 512];
/// Entries between two looks at who is watching.
const PATIENCE: usize = 1 << 21;

impl Matching {
    pub fn rows(&self) -> usize {
        match self {
            Self::Held(plan) => plan.rows(),
            Self::Computed(plan) => plan.rows(),
        }
    }

    pub fn cols(&self) -> usize {
        match self {
            Self::Held(plan) => plan.cols(),
            Self::Computed(plan) => plan.cols(),
        }
    }

    /// The masses between some rows and some columns.
    pub fn part(&self, rows: &[u32], cols: &[u32]) -> Dense {
        match self {
            Self::Held(plan) => {
                Dense::from_fn(rows.len(), cols.len(), |i, j| plan.at(rows[i] as usize, cols[j] as usize))
            }
            Self::Computed(plan) => {
                let mut logs = plan.logs(rows, cols);
                logs.iter_mut().for_each(|v| *v = exp(*v));
                Dense::new(rows.len(), cols.len(), logs)
            }
        }
    }

    /// All masses: only for plans that can be held.
    pub fn whole(&self) -> Dense {
        let [rows, cols] = [self.rows(), self.cols()].map(|count| (0..count as u32).collect::<Vec<u32>>());
        self.part(&rows, &cols)
    }

    /// What orders the entries between some rows and some columns: their masses, or the logarithms of those, which
    /// still differ where the masses are too small to.
    pub fn order(&self, rows: &[u32], cols: &[u32]) -> Dense {
        match self {
            Self::Held(_) => self.part(rows, cols),
            Self::Computed(plan) => Dense::new(rows.len(), cols.len(), plan.logs(rows, cols)),
        }
    }

    /// Visits every entry once, in tiles.
    pub async fn visit(
        &self,
        watch: &mut impl Watch,
        mut look: impl FnMut(Tile<'_>),
    ) -> Result<(), Cancelled> {
        let [rows, cols] = [self.rows(), self.cols()].map(|count| (0..count as u32).collect::<Vec<u32>>());
        let mut seen = 0;
        let of = (rows.len() * cols.len()).max(1);
        let mut due = PATIENCE;
        for rows in rows.chunks(TILE[0]) {
            let widths = if matches!(self, Self::Held(_)) { cols.len().max(1) } else { TILE[1] };
            for cols in cols.chunks(widths) {
                match self {
                    Self::Held(plan) => {
                        let mass = &plan.data()[rows[0] as usize * cols.len()..][..rows.len() * cols.len()];
                        look(Tile { rows, cols, mass });
                    }
                    Self::Computed(_) => look(Tile { rows, cols, mass: self.part(rows, cols).data() }),
                }
                seen += rows.len() * cols.len();
                if seen >= due {
                    due = seen + PATIENCE;
                    watch.step(seen as f64 / of as f64).await?;
                }
            }
        }
        Ok(())
    }
}
