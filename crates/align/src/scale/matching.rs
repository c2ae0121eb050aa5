//! A plan between all points, in whichever form it exists, looked at piece by piece.

use super::multiscale::{Found, Near, Rows};
use super::{Cancelled, Implicit, Watch};
use crate::geometry::Dense;
use compute::kernels::exp;

/// A plan that is held, or one that is computed where it is looked at.
pub enum Matching {
    Held(Dense),
    Computed(Implicit),
    /// Computed, and known to have nearly all its mass in some blocks.
    Near {
        plan: Implicit,
        near: Box<Near>,
    },
}

impl From<Found> for Matching {
    fn from(found: Found) -> Self {
        Self::Near { plan: found.solved.plan, near: Box::new(found.near) }
    }
}

/// The masses between some rows and some columns of a plan, row by row.
#[derive(Clone, Copy, Debug)]
pub struct Tile<'a> {
    pub rows: &'a [u32],
    pub cols: &'a [u32],
    pub mass: &'a [f32],
    /// The logarithms of the masses, where they were at hand.
    pub log_mass: Option<&'a [f32]>,
}

/// Rows and columns of a tile that is computed: large enough for a fast product, small enough for a cache.
const TILE: [usize; 2] = [128, 512];
/// Entries between two looks at who is watching, of a plan that is held or whose points have few dimensions.
const PATIENCE: usize = 1 << 21;
const FEW: usize = 16;

impl Matching {
    /// Entries of which as many can be computed between two looks at who is watching.
    pub fn between_looks(&self) -> usize {
        match self {
            Self::Held(_) => PATIENCE,
            Self::Computed(plan) | Self::Near { plan, .. } => {
                PATIENCE * 2 * FEW / (FEW + plan.clouds.x.cols().max(FEW))
            }
        }
    }

    pub fn rows(&self) -> usize {
        match self {
            Self::Held(plan) => plan.rows(),
            Self::Computed(plan) | Self::Near { plan, .. } => plan.rows(),
        }
    }

    pub fn cols(&self) -> usize {
        match self {
            Self::Held(plan) => plan.cols(),
            Self::Computed(plan) | Self::Near { plan, .. } => plan.cols(),
        }
    }

    /// The masses between some rows and some columns.
    pub fn part(&self, rows: &[u32], cols: &[u32]) -> Dense {
        match self {
            Self::Held(plan) => {
                Dense::from_fn(rows.len(), cols.len(), |i, j| plan.at(rows[i] as usize, cols[j] as usize))
            }
            Self::Computed(plan) | Self::Near { plan, .. } => {
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
            Self::Computed(plan) | Self::Near { plan, .. } => {
                Dense::new(rows.len(), cols.len(), plan.logs(rows, cols))
            }
        }
    }

    /// Visits the entries in tiles, each once; those that are known to hold next to nothing are left out.
    pub async fn visit(
        &self,
        watch: &mut impl Watch,
        mut look: impl FnMut(Tile<'_>),
    ) -> Result<(), Cancelled> {
        let [rows, cols] = [self.rows(), self.cols()].map(|count| (0..count as u32).collect::<Vec<u32>>());
        let mut pace =
            Pace { watch, rows: rows.len() as f64, done: 0.0, since: 0, piece: self.between_looks() };
        match self {
            Self::Held(plan) => {
                for part in rows.chunks(TILE[0]) {
                    let mass = &plan.data()[part[0] as usize * cols.len()..][..part.len() * cols.len()];
                    look(Tile { rows: part, cols: &cols, mass, log_mass: None });
                    pace.spend(part.len(), mass.len()).await?;
                }
            }
            Self::Computed(plan) => {
                let mut mass = Vec::new();
                for rows in rows.chunks(TILE[0]) {
                    for part in cols.chunks(TILE[1]) {
                        let logs = plan.logs(rows, part);
                        exponentials(&logs, &mut mass);
                        look(Tile { rows, cols: part, mass: &mass, log_mass: Some(&logs) });
                        pace.spend(0, mass.len()).await?;
                    }
                    pace.spend(rows.len(), 0).await?;
                }
            }
            Self::Near { plan, near } => {
                let mut visit = near.visit(plan);
                let mut mass = Vec::new();
                while let Some(Rows { rows, cols, log_mass }) = visit.next_rows() {
                    exponentials(log_mass, &mut mass);
                    look(Tile { rows, cols, mass: &mass, log_mass: Some(log_mass) });
                    pace.spend(rows.len(), mass.len()).await?;
                }
            }
        }
        Ok(())
    }
}

fn exponentials(logs: &[f32], mass: &mut Vec<f32>) {
    mass.resize(logs.len(), 0.0);
    mass.iter_mut().zip(logs).for_each(|(mass, log)| *mass = exp(*log));
}

/// Tells the watcher how far a visit is, every now and then.
struct Pace<'a, W> {
    watch: &'a mut W,
    rows: f64,
    done: f64,
    since: usize,
    piece: usize,
}

impl<W: Watch> Pace<'_, W> {
    async fn spend(&mut self, rows: usize, entries: usize) -> Result<(), Cancelled> {
        self.done += rows as f64 / self.rows;
        self.since += entries;
        if self.since < self.piece {
            return Ok(());
        }
        self.since = 0;
        self.watch.step(self.done.min(1.0)).await
    }
}
