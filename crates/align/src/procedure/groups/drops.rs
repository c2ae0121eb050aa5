//! The groups that are left out in turn.

use std::ops::RangeInclusive;

use super::PHASE;
use crate::geometry::Dense;
use crate::geometry::kmeans::kmeans;
use crate::procedure::control::{Control, Failure, Watching};
use crate::procedure::linear::leading;

/// Groups a side.
pub(super) const GROUPS: usize = 6;
/// Leading coordinates that tell groups apart.
const COORDINATES: usize = 10;
/// Smaller groups hardly matter to a map, and without larger ones too little is left of their side.
const SHARES: RangeInclusive<f64> = 0.03..=0.6;
/// Fewer rows are not aligned.
const FEWEST: usize = 4;

/// A group that may be left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drop {
    pub(super) side: usize,
    pub(super) group: usize,
    /// The share of its side that it is.
    pub(super) share: f64,
}

/// The groups of both sides.
pub(super) struct Drops {
    /// The group of every judged row.
    of: [Vec<usize>; 2],
    pub(super) all: Vec<Drop>,
}

impl Drops {
    pub(super) async fn new(
        points: &[Dense; 2],
        seed: u64,
        control: &mut impl Control,
    ) -> Result<Self, Failure> {
        let mut drops = Self { of: [Vec::new(), Vec::new()], all: Vec::new() };
        for (side, points) in points.iter().enumerate() {
            let watch = &mut Watching::new(control, PHASE);
            let found = kmeans(&leading(points, COORDINATES), GROUPS, seed ^ 0x6772_6f75, watch).await?;
            for group in 0..found.count {
                let rows = found.rows(group).len();
                let share = rows as f64 / points.rows() as f64;
                if SHARES.contains(&share) && points.rows() - rows >= FEWEST {
                    drops.all.push(Drop { side, group, share });
                }
            }
            drops.of[side] = found.of;
        }
        Ok(drops)
    }

    /// Those of the rows that are not in a group.
    pub(super) fn without(&self, drop: Drop, rows: &[Vec<usize>; 2]) -> [Vec<usize>; 2] {
        let left = |&row: &usize| self.of[drop.side][row] != drop.group;
        let mut rows = rows.clone();
        rows[drop.side].retain(left);
        rows
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::procedure::NoControl;
    use pollster::block_on;

    fn drops(points: [Dense; 2]) -> Drops {
        block_on(Drops::new(&points, 1, &mut NoControl)).expect("nobody cancels")
    }

    /// X in groups of 60, 38 and 2 rows, Y in two of 50.
    #[test]
    fn groups_are_left_out_that_are_neither_tiny_nor_nearly_all() {
        let x = Dense::from_fn(100, 1, |i, _| [0.0, 5.0, 90.0][usize::from(i >= 60) + usize::from(i >= 98)]);
        let y = Dense::from_fn(100, 1, |i, _| f32::from(u8::from(i % 2 == 1)));
        let found = drops([x, y]);
        let sizes: Vec<(usize, f64)> = found.all.iter().map(|drop| (drop.side, drop.share)).collect();
        assert_eq!(sizes, [(0, 0.6), (0, 0.38), (1, 0.5), (1, 0.5)]);
        let all = [(0..100).collect(), (0..100).collect()];
        let left = found.without(found.all[1], &all);
        assert!(left[0].iter().copied().eq((0..60).chain(98..100)) && left[1] == all[1]);
    }

    #[test]
    fn rows_that_are_all_the_same_or_few_have_nothing_to_leave_out() {
        let same = || Dense::from_fn(50, 3, |_, _| 0.7);
        assert_eq!(drops([same(), same()]).all, []);
        let few = || Dense::from_fn(4, 2, |i, j| (i * j) as f32);
        assert_eq!(drops([few(), few()]).all, []);
    }
}
