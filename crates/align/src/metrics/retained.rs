//! What points keep of their weight in a plan whose marginals are relaxed: little where the other side has no partner
//! for them.

use crate::geometry::nearest::Neighbours;

/// Points over which masses are averaged: each with its nearest others. Groups without a partner are found by it, where
/// the mass of a single point says little.
pub const AVERAGED: usize = 15;
/// A point that keeps less than this share of the median has no partner.
const LITTLE: f32 = 0.5;

/// The masses of one side.
#[derive(Clone, Debug, PartialEq)]
pub struct Retained {
    /// `n·r_i`, which is 1 on average, averaged over each point and its nearest others.
    pub mass: Vec<f32>,
    least: f32,
}

impl Retained {
    /// From the sums of a plan's rows, or of its columns, and the [`AVERAGED`] − 1 nearest others of each point.
    pub fn new(sums: &[f64], near: &Neighbours) -> Self {
        let count = sums.len() as f64;
        let average = |point: usize| {
            let others = &near.of[point * near.k..][..near.k];
            let sum = sums[point] + others.iter().map(|&other| sums[other as usize]).sum::<f64>();
            (count * sum / (near.k + 1) as f64) as f32
        };
        let mass: Vec<f32> = (0..sums.len()).map(average).collect();
        let mut sorted = mass.clone();
        sorted.sort_by(f32::total_cmp);
        let least = sorted.get(sorted.len() / 2).map_or(0.0, |median| LITTLE * median);
        Self { mass, least }
    }

    /// Whether a point has no partner.
    pub fn alone(&self, point: usize) -> bool {
        self.mass[point] < self.least
    }

    /// What a point keeps as a share of the median, at most 1.
    pub fn share(&self, point: usize) -> f32 {
        let median = self.least / LITTLE;
        if median > 0.0 { (self.mass[point] / median).min(1.0) } else { 1.0 }
    }

    /// How many have none.
    pub fn count(&self) -> usize {
        self.mass.iter().filter(|mass| **mass < self.least).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Dense;
    use crate::geometry::nearest::Search;
    use crate::scale::{NoWatch, unwatched};

    /// A group of twenty far from eighty others.
    #[test]
    fn a_group_that_keeps_little_has_no_partner() {
        let points = Dense::from_fn(100, 1, |i, _| if i < 20 { 50.0 } else { 0.0 } + 0.01 * i as f32);
        let watch = &mut NoWatch;
        let found = Neighbours::find(&points, AVERAGED - 1, Search::Exact, watch);
        let near = unwatched(found).expect("nobody cancels");
        // Among those that keep little one has much, and the reverse: alone they say little.
        let mass = |i: usize| match i {
            7 | 20.. if i != 60 => 0.011,
            _ => 0.003,
        };
        let sums: Vec<f64> = (0..100).map(mass).collect();
        let retained = Retained::new(&sums, &near);
        assert!((0..100).all(|i| retained.alone(i) == (i < 20)), "{:?}", retained.mass);
        assert_eq!(retained.count(), 20);
        assert_eq!(retained.share(90), 1.0);
        assert!(retained.share(3) < 0.5);
        let others = 100.0 * (14.0 * 0.011 + 0.003) / 15.0;
        assert!((f64::from(retained.mass[60]) - others).abs() < 1e-6, "{}", retained.mass[60]);
    }

    #[test]
    fn points_that_keep_the_same_all_have_partners() {
        let points = Dense::from_fn(5, 1, |i, _| i as f32);
        let watch = &mut NoWatch;
        let found = Neighbours::find(&points, AVERAGED - 1, Search::Exact, watch);
        let retained = Retained::new(&[0.2; 5], &unwatched(found).expect("nobody cancels"));
        assert!(retained.mass.iter().all(|mass| (mass - 1.0).abs() < 1e-6));
        assert_eq!(retained.count(), 0);
    }
}
