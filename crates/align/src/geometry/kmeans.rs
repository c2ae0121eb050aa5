//! k-means: groups of rows that lie near each other.

use super::Dense;
use crate::watch::{Cancelled, Watch};
use compute::rng::Rng;

/// Rounds of assigning rows and moving centres, at most.
const ROUNDS: usize = 30;
/// Starts, of which the one with the smallest sum of squared distances is kept.
const STARTS: u64 = 3;

/// Groups that rows belong to. There may be fewer than were asked for, and none is empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Groups {
    /// The group of every row.
    pub of: Vec<usize>,
    pub count: usize,
}

impl Groups {
    /// The rows of a group.
    pub fn rows(&self, group: usize) -> Vec<usize> {
        (0..self.of.len()).filter(|&row| self.of[row] == group).collect()
    }
}

/// Lloyd's algorithm from centres that are drawn far apart (k-means++), the best of a few starts.
pub async fn kmeans(
    points: &Dense,
    groups: usize,
    seed: u64,
    watch: &mut impl Watch,
) -> Result<Groups, Cancelled> {
    let mut best: Option<(f64, Vec<usize>)> = None;
    for start in 0..STARTS {
        let mut centres = drawn(points, groups, &mut Rng::new(seed.wrapping_add(start)));
        let mut of = vec![0; points.rows()];
        let mut sum = f64::MAX;
        for round in 0..ROUNDS {
            let (now, nearest) = assigned(points, &centres);
            watch.step((start as f64 + round as f64 / ROUNDS as f64) / STARTS as f64).await?;
            let arrived = nearest == of && round > 0;
            (sum, of) = (now, nearest);
            if arrived {
                break;
            }
            centres = moved(points, &of, &centres);
        }
        if best.as_ref().is_none_or(|(least, _)| sum < *least) {
            best = Some((sum, of));
        }
    }
    Ok(numbered(best.map(|(_, of)| of).unwrap_or_default()))
}

fn squared(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum()
}

/// Rows of the points, each drawn with a probability in proportion to its squared distance from those before it. Rows that
/// are all the same give one.
fn drawn(points: &Dense, groups: usize, rng: &mut Rng) -> Dense {
    if points.rows() == 0 {
        return points.clone();
    }
    let mut rows = vec![rng.below(points.rows())];
    let mut far = vec![f64::MAX; points.rows()];
    while rows.len() < groups {
        let newest = points.row(rows[rows.len() - 1]);
        far.iter_mut().enumerate().for_each(|(i, far)| *far = far.min(squared(points.row(i), newest)));
        let all: f64 = far.iter().sum();
        let mut left = f64::from(rng.unit()) * all;
        let next = far.iter().position(|far| {
            left -= far;
            left < 0.0
        });
        match next {
            Some(next) if all.is_finite() => rows.push(next),
            _ => break,
        }
    }
    points.picked(&rows)
}

/// The sum of squared distances to the nearest centres, and which these are.
fn assigned(points: &Dense, centres: &Dense) -> (f64, Vec<usize>) {
    let mut sum = 0.0;
    let nearest = (0..points.rows()).map(|i| {
        let far = (0..centres.rows()).map(|c| squared(points.row(i), centres.row(c)));
        let (at, least) = far.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0));
        sum += least;
        at
    });
    let nearest = nearest.collect();
    (sum, nearest)
}

/// The means of all groups. A centre that has lost its rows stays where it is.
fn moved(points: &Dense, of: &[usize], centres: &Dense) -> Dense {
    let (mut sums, mut counts) = (vec![0f64; centres.rows() * centres.cols()], vec![0usize; centres.rows()]);
    for (i, &group) in of.iter().enumerate() {
        counts[group] += 1;
        let own = &mut sums[group * centres.cols()..][..centres.cols()];
        own.iter_mut().zip(points.row(i)).for_each(|(sum, v)| *sum += f64::from(*v));
    }
    Dense::from_fn(centres.rows(), centres.cols(), |c, j| match counts[c] {
        0 => centres.at(c, j),
        count => (sums[c * centres.cols() + j] / count as f64) as f32,
    })
}

/// The same groups without the empty ones, the largest first.
fn numbered(of: Vec<usize>) -> Groups {
    let mut sizes: Vec<(usize, usize)> = Vec::new();
    for group in 0..of.iter().max().map_or(0, |most| most + 1) {
        let size = of.iter().filter(|&&other| other == group).count();
        if size > 0 {
            sizes.push((group, size));
        }
    }
    sizes.sort_by_key(|&(_, size)| std::cmp::Reverse(size));
    let place = |group: usize| sizes.iter().position(|&(other, _)| other == group).unwrap_or(0);
    Groups { of: of.into_iter().map(place).collect(), count: sizes.len() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::{Count, NoWatch, unwatched};

    fn groups(points: &Dense, count: usize, seed: u64) -> Groups {
        unwatched(kmeans(points, count, seed, &mut NoWatch)).expect("nobody cancels")
    }

    /// Groups of 60, 30 and 10 rows, mixed.
    #[test]
    fn clear_groups_are_found_whatever_the_seed() {
        let kind = |i: usize| [0, 0, 0, 1, 0, 2, 1, 0, 1, 0][i % 10];
        let mut rng = Rng::new(4);
        let points =
            Dense::from_fn(100, 3, |i, j| f32::from(u8::from(kind(i) == j)) * 4.0 + rng.uniform(-0.5, 0.5));
        for seed in 0..20 {
            let found = groups(&points, 3, seed);
            assert!(
                found.of.iter().enumerate().all(|(i, &group)| group == kind(i)),
                "{seed}: {:?}",
                found.of
            );
            assert_eq!([0, 1, 2].map(|group| found.rows(group).len()), [60, 30, 10]);
            assert_eq!(found, groups(&points, 3, seed));
        }
    }

    #[test]
    fn few_and_equal_rows_give_fewer_groups() {
        let line = Dense::from_fn(3, 1, |i, _| i as f32);
        assert_eq!(groups(&line, 6, 1).count, 3);
        let same = Dense::from_fn(40, 2, |_, _| 1.5);
        assert_eq!(groups(&same, 6, 1), Groups { of: vec![0; 40], count: 1 });
        let two = Dense::from_fn(40, 2, |i, _| if i < 10 { 0.0 } else { 1.0 });
        assert_eq!(groups(&two, 6, 1).count, 2);
        assert_eq!(groups(&Dense::new(0, 2, Vec::new()), 6, 1).count, 0);
    }

    #[test]
    fn every_round_can_be_cancelled() {
        let cloud = Dense::new(300, 4, Rng::new(2).fill(1200, -1.0, 1.0));
        assert!(Count::looks(async |watch| kmeans(&cloud, 6, 1, watch).await) >= 6);
    }
}
