//! Rotations that make the third moments of both sides agree: starts for the linear encoders that need neither pairs nor
//! anything between points.
//!
//! Signatures of points forget directions. A cloud with groups is skewed, and its third-moment tensor turns with it; the
//! leading components of both sides span nearly the same space, so that a small rotation is enough to start from.
//! From few coordinates to more (a ladder): many random rotations climb at the smallest size, the best that differ are
//! extended by random blocks and climb at the next.

mod climb;
mod lanes;
mod moments;
#[cfg(test)]
mod tests;

pub use climb::Rotation;
pub use moments::{Moments, split_half};

use crate::watch::{Cancelled, Watch};
use climb::Ascent;
use compute::rng::Rng;

/// One size of a ladder, and how many different rotations go on from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    pub size: usize,
    pub keep: usize,
}

/// A ladder of sizes, and the random rotations that it begins with.
#[derive(Clone, Copy, Debug)]
pub struct Ladder {
    pub levels: &'static [Level],
    pub starts: usize,
}

const fn level(size: usize, keep: usize) -> Level {
    Level { size, keep }
}

/// From few coordinates, where all rotations can be tried.
pub const FINE: Ladder = Ladder {
    levels: &[level(6, 400), level(8, 100), level(12, 40), level(16, 15), level(24, 10)],
    starts: 1000,
};
/// From more, for data whose first coordinates look alike in any order.
pub const COARSE: Ladder = Ladder { levels: &[level(16, 400), level(24, 100), level(32, 40)], starts: 1000 };

/// The most coordinates of any ladder.
pub const MOST: usize = 32;

/// Steps of a climb at the first size, and at later ones.
const FIRST_STEPS: usize = 40;
const LATER_STEPS: usize = 60;
/// Rotations that overlap more than this count as the same.
const SAME: f32 = 0.9;

impl Ladder {
    /// The different rotations at the last size, best first. Sizes beyond the coordinates that there are, are left out.
    pub async fn search(
        &self,
        x: &Moments,
        y: &Moments,
        seed: u64,
        watch: &mut impl Watch,
    ) -> Result<Vec<Rotation>, Cancelled> {
        let most = x.len().min(y.len());
        let mut levels: Vec<Level> = self.levels.iter().copied().filter(|l| l.size <= most).collect();
        if levels.is_empty() {
            levels.extend(self.levels.first().map(|first| Level { size: most, ..*first }));
        }
        let mut rng = Rng::new(seed);
        let mut found: Vec<Rotation> = Vec::new();
        for (place, Level { size, keep }) in levels.iter().copied().enumerate() {
            let first = place == 0;
            let ascent = Ascent::new(x, y, size);
            let mut next: Vec<Rotation> = if first {
                (0..self.starts).map(|_| Rotation { map: haar(size, &mut rng), objective: 0.0 }).collect()
            } else {
                found
                    .iter()
                    .map(|rotation| extended(rotation, levels[place - 1].size, size, &mut rng))
                    .collect()
            };
            let steps = if first { FIRST_STEPS } else { LATER_STEPS };
            ascent.climb(&mut next, steps / 3, watch).await?;
            next.sort_by(|a, b| b.objective.total_cmp(&a.objective));
            // The worse half after a third of the way has not been seen to win.
            next.truncate((next.len() / 2).max(keep));
            ascent.climb(&mut next, steps - steps / 3, watch).await?;
            next.sort_by(|a, b| b.objective.total_cmp(&a.objective));
            found = distinct(next, size, keep);
        }
        Ok(found)
    }
}

/// Of the rotations, best first, those that differ from all better ones.
fn distinct(sorted: Vec<Rotation>, size: usize, keep: usize) -> Vec<Rotation> {
    let mut kept: Vec<Rotation> = Vec::new();
    for rotation in sorted {
        if kept.len() == keep {
            break;
        }
        let overlap = |other: &Rotation| {
            let sum: f32 = rotation.map.iter().zip(&other.map).map(|(a, b)| a * b).sum();
            sum / size as f32
        };
        if kept.iter().all(|other| overlap(other) < SAME) {
            kept.push(rotation);
        }
    }
    kept
}

/// A rotation of more coordinates: the same for the first ones, random among the others.
fn extended(rotation: &Rotation, from: usize, to: usize, rng: &mut Rng) -> Rotation {
    let rest = haar(to - from, rng);
    let mut map = vec![0.0; to * to];
    for (i, row) in map.chunks_exact_mut(to).enumerate() {
        match i.checked_sub(from) {
            None => row[..from].copy_from_slice(&rotation.map[i * from..][..from]),
            Some(i) => row[from..].copy_from_slice(&rest[i * (to - from)..][..to - from]),
        }
    }
    Rotation { map, objective: 0.0 }
}

/// A random orthogonal matrix, every one as likely, reflections included: normal numbers, made orthonormal row by row.
fn haar(k: usize, rng: &mut Rng) -> Vec<f32> {
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(k);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    while rows.len() < k {
        let mut row: Vec<f64> = (0..k).map(|_| normal(rng)).collect();
        // Twice is as good as exact.
        for _ in 0..2 {
            for other in &rows {
                let along = dot(&row, other);
                row.iter_mut().zip(other).for_each(|(v, other)| *v -= along * other);
            }
        }
        let size = dot(&row, &row).sqrt();
        if size > 1e-6 {
            row.iter_mut().for_each(|v| *v /= size);
            rows.push(row);
        }
    }
    rows.into_iter().flatten().map(|v| v as f32).collect()
}

/// A normal number, by Box and Muller.
fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - f64::from(rng.unit())).ln()).sqrt();
    radius * (std::f64::consts::TAU * f64::from(rng.unit())).cos()
}
