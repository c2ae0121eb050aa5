//! The nearest neighbours of every point, without ever holding all distances.

use super::Dense;
use super::tiles::{Cloud, Lengths, TILE};
use crate::watch::{Cancelled, Watch};
use compute::rng::Rng;

/// How neighbours are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// Among all points.
    Exact,
    /// Among those that fall together in random trees, and then among neighbours of neighbours.
    Approximate { seed: u64 },
}

/// How neighbours are to be looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchChoice {
    /// As their number suggests.
    #[default]
    Auto,
    Exact,
    Approximate,
}

impl SearchChoice {
    /// What that means for so many points.
    pub fn of(self, points: usize, seed: u64) -> Search {
        match self {
            Self::Auto => Search::of(points, seed),
            Self::Exact => Search::Exact,
            Self::Approximate => Search::Approximate { seed },
        }
    }
}

impl Search {
    /// Points up to which all pairs are looked at, which takes seconds. Beyond it trees, whose time grows little faster than
    /// the number of points, miss a few of a hundred neighbours.
    pub const EXACT: usize = 20_000;

    /// What is taken for so many points.
    pub fn of(points: usize, seed: u64) -> Self {
        if points <= Self::EXACT { Self::Exact } else { Self::Approximate { seed } }
    }
}

/// The nearest others of some points, nearest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbours {
    /// Neighbours of each: as many as were asked for, or all others.
    pub k: usize,
    /// Those of the first point, then those of the second, and so on.
    pub of: Vec<u32>,
    /// How far away they are.
    pub distance: Vec<f32>,
}

/// Candidates beyond the `k` that are wanted: products of vectors lose digits, and among those that come out nearly the same
/// it is the distance taken coordinate by coordinate that decides.
const SPARE: usize = 6;

impl Neighbours {
    /// The `k` nearest others of every point by the Euclidean distance. Of equally near points the first are taken.
    pub async fn find(
        points: &Dense,
        k: usize,
        search: Search,
        watch: &mut impl Watch,
    ) -> Result<Self, Cancelled> {
        let cloud = Cloud::new(points);
        let all: Vec<u32> = (0..points.rows() as u32).collect();
        match search {
            Search::Exact => Self::among(&cloud, &all, k, watch).await,
            Search::Approximate { seed } => approximate(&cloud, &all, k, seed, watch).await,
        }
    }

    /// The `k` nearest of all others for some points of a cloud, exactly.
    pub async fn among(
        cloud: &Cloud,
        some: &[u32],
        k: usize,
        watch: &mut impl Watch,
    ) -> Result<Self, Cancelled> {
        let all: Vec<u32> = (0..cloud.points() as u32).collect();
        let mut found = Self::none(cloud, k);
        let mut order = Vec::new();
        for rows in some.chunks(TILE[0]) {
            let mut best = vec![Best::new(found.k + SPARE); rows.len()];
            for cols in all.chunks(TILE[1]) {
                cloud.tile(rows, cols, &mut order);
                for ((&i, best), row) in rows.iter().zip(&mut best).zip(order.chunks_exact(cols.len())) {
                    cols.iter().zip(row).for_each(|(&j, &far)| {
                        if far < best.limit && i != j {
                            best.put(j, far);
                        }
                    });
                }
            }
            rows.iter().zip(&best).for_each(|(&i, best)| found.push(cloud, i, best));
            watch.step((found.of.len() / found.k.max(1)) as f64 / some.len() as f64).await?;
        }
        Ok(found)
    }

    fn none(cloud: &Cloud, k: usize) -> Self {
        Self { k: k.min(cloud.points().saturating_sub(1)), of: Vec::new(), distance: Vec::new() }
    }

    /// Adds the next point, given its candidates.
    fn push(&mut self, cloud: &Cloud, i: u32, best: &Best) {
        let mut near: Vec<(f32, u32)> = best.list.iter().map(|&(_, j)| (cloud.distance(i, j), j)).collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        near.truncate(self.k);
        self.of.extend(near.iter().map(|(_, j)| j));
        self.distance.extend(near.iter().map(|(far, _)| far));
    }
}

/// The nearest candidates of one point so far, nearest first.
#[derive(Clone, Debug)]
struct Best {
    list: Vec<(f32, u32)>,
    most: usize,
    /// What a candidate has to be nearer than.
    limit: f32,
}

impl Best {
    fn new(most: usize) -> Self {
        Self { list: Vec::with_capacity(most + 1), most, limit: f32::MAX }
    }

    /// Adds a candidate below the limit. Of equally near ones the first stays first.
    fn put(&mut self, j: u32, far: f32) {
        let place = self.list.partition_point(|(other, _)| *other <= far);
        self.list.insert(place, (far, j));
        self.list.truncate(self.most);
        if self.list.len() == self.most {
            self.limit = self.list.last().map_or(f32::MAX, |last| last.0);
        }
    }

    fn has(&self, j: u32) -> bool {
        self.list.iter().any(|(_, other)| *other == j)
    }
}

/// Trees, and the most points of a leaf.
const TREES: usize = 6;
const LEAF: usize = 64;
/// Rounds in which the neighbours of neighbours are looked at.
const ROUNDS: usize = 2;
/// Points between two looks at who is watching, where each meets hundreds of others, and where it meets those of its leaf.
const PATIENCE: usize = 256;
const TOGETHER: usize = 4096;

async fn approximate(
    cloud: &Cloud,
    all: &[u32],
    k: usize,
    seed: u64,
    watch: &mut impl Watch,
) -> Result<Neighbours, Cancelled> {
    let mut found = Neighbours::none(cloud, k);
    let mut best = vec![Best::new(found.k + SPARE); all.len()];
    let mut rng = Rng::new(seed);
    let mut order = Vec::new();
    let of = (TREES + ROUNDS) as f64;
    for tree in 0..TREES {
        let mut points = all.to_vec();
        let share = |done: usize| (tree as f64 + done as f64 / all.len() as f64) / of;
        let (mut done, mut since) = (0, 0);
        for leaf in leaves(cloud, &mut points, &mut rng, share(0), watch).await? {
            cloud.tile(leaf, leaf, &mut order);
            for (&i, row) in leaf.iter().zip(order.chunks_exact(leaf.len())) {
                offer(&mut best[i as usize], i, leaf, row);
            }
            (done, since) = (done + leaf.len(), since + leaf.len());
            if since >= TOGETHER {
                since = 0;
                watch.step(share(done)).await?;
            }
        }
    }
    for round in 0..ROUNDS {
        let known = both_ways(&best, found.k);
        // The point that last met each candidate: nobody is met twice.
        let mut met = vec![u32::MAX; all.len()];
        for &i in all {
            met[i as usize] = i;
            best[i as usize].list.iter().for_each(|&(_, j)| met[j as usize] = i);
            let mut next = Vec::new();
            for &j in &known[i as usize] {
                for &l in &known[j as usize] {
                    if std::mem::replace(&mut met[l as usize], i) != i {
                        next.push(l);
                    }
                }
            }
            cloud.tile(&[i], &next, &mut order);
            offer(&mut best[i as usize], i, &next, &order);
            if (i as usize).is_multiple_of(PATIENCE) {
                let share = f64::from(i) / all.len() as f64;
                watch.step(((TREES + round) as f64 + share) / of).await?;
            }
        }
    }
    all.iter().zip(&best).for_each(|(&i, best)| found.push(cloud, i, best));
    Ok(found)
}

/// Takes what is new and near enough of these candidates.
fn offer(best: &mut Best, i: u32, candidates: &[u32], order: &[f32]) {
    for (&j, &far) in candidates.iter().zip(order) {
        if far < best.limit && i != j && !best.has(j) {
            best.put(j, far);
        }
    }
}

/// For every point its `k` neighbours and as many of those whose neighbour it is.
fn both_ways(best: &[Best], k: usize) -> Vec<Vec<u32>> {
    let mut known: Vec<Vec<u32>> =
        best.iter().map(|b| b.list.iter().take(k).map(|(_, j)| *j).collect()).collect();
    for (i, b) in best.iter().enumerate() {
        for &(_, j) in b.list.iter().take(k) {
            let list = &mut known[j as usize];
            if list.len() < 2 * k && !list.contains(&(i as u32)) {
                list.push(i as u32);
            }
        }
    }
    known
}

/// Halves the points along the way between two of them, drawn at random, until few are left together.
async fn leaves<'a>(
    cloud: &Cloud,
    points: &'a mut [u32],
    rng: &mut Rng,
    share: f64,
    watch: &mut impl Watch,
) -> Result<Vec<&'a [u32]>, Cancelled> {
    let mut found = Vec::new();
    let mut placed_since = 0;
    let mut open = vec![points];
    while let Some(part) = open.pop() {
        if part.len() <= LEAF {
            found.push(&*part);
            continue;
        }
        placed_since += part.len();
        if placed_since >= TOGETHER {
            placed_since = 0;
            watch.step(share).await?;
        }
        let [a, b] = [0, 1].map(|_| part[rng.below(part.len())]);
        let way = cloud.way(a, b);
        let mut placed: Vec<(f32, u32)> = part.iter().map(|&i| (cloud.along(i, &way), i)).collect();
        let half = placed.len() / 2;
        // Points in the same place are told apart by their number, so that parts always shrink.
        placed.select_nth_unstable_by(half, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        part.iter_mut().zip(placed).for_each(|(i, (_, placed))| *i = placed);
        let (low, high) = part.split_at_mut(half);
        open.extend([low, high]);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::{Count, NoWatch, unwatched};

    fn find(points: &Dense, k: usize, search: Search) -> Neighbours {
        unwatched(Neighbours::find(points, k, search, &mut NoWatch)).expect("not given up")
    }

    /// All distances in float64, by their definition.
    fn plain(points: &Dense, i: usize) -> Vec<f64> {
        let far = |j: usize| {
            points.row(i).iter().zip(points.row(j)).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2))
        };
        (0..points.rows()).map(|j| far(j).sum::<f64>().sqrt()).collect()
    }

    /// Clouds of different kinds: clusters, uniform in ten dimensions, a surface in five, and many points in few places.
    fn clouds(n: usize) -> [(&'static str, Dense); 4] {
        let mut rng = Rng::new(4);
        let centres = Dense::new(12, 20, rng.fill(240, -5.0, 5.0));
        let clusters = Dense::from_fn(n, 20, |i, j| centres.at(i % 12, j) + rng.uniform(-1.0, 1.0));
        let uniform = Dense::new(n, 10, rng.fill(10 * n, 0.0, 1.0));
        let flat = rng.fill(2 * n, 0.0, 3.0);
        let surface = Dense::from_fn(n, 5, |i, j| {
            let [u, v] = [flat[2 * i], flat[2 * i + 1]];
            [u.sin(), u.cos(), v, (u * v).sin(), (2.0 * v).cos()][j]
        });
        let places = Dense::new(n / 4, 3, rng.fill(3 * (n / 4), 100.0, 101.0));
        let repeated = Dense::from_fn(n, 3, |i, j| places.at(i % (n / 4), j));
        [("clusters", clusters), ("uniform", uniform), ("surface", surface), ("repeated", repeated)]
    }

    #[test]
    fn the_exact_neighbours_are_those_of_all_distances() {
        for (name, points) in clouds(700) {
            let got = find(&points, 10, Search::Exact);
            assert_eq!((got.k, got.of.len(), got.distance.len()), (10, 7000, 7000));
            for i in 0..700 {
                let far = plain(&points, i);
                let (of, distance) = (&got.of[10 * i..][..10], &got.distance[10 * i..][..10]);
                let mut others: Vec<usize> = (0..700).filter(|&j| j != i).collect();
                others.sort_by(|&a, &b| far[a].total_cmp(&far[b]));
                for (place, (&j, &given)) in of.iter().zip(distance).enumerate() {
                    assert_ne!(j as usize, i, "{name}");
                    assert!(!of[..place].contains(&j), "{name}: {j} twice");
                    // Which of several equally near ones is taken does not matter.
                    assert!((far[j as usize] - far[others[place]]).abs() < 1e-5, "{name} {i} {place}");
                    assert!((f64::from(given) - far[j as usize]).abs() < 1e-5, "{name} {i} {place}");
                }
            }
        }
        let few = find(&Dense::new(3, 1, vec![0.0, 5.0, 1.0]), 9, Search::Exact);
        assert_eq!((few.k, few.of), (2, vec![2, 1, 2, 0, 0, 1]));
        assert!(find(&Dense::new(1, 1, vec![7.0]), 3, Search::Exact).of.is_empty());
        // All in one place: the first ones, all at no distance.
        let same = find(&Dense::new(300, 2, vec![0.1; 600]), 3, Search::Exact);
        assert_eq!((&same.of[..6], same.distance.iter().sum::<f32>()), (&[1, 2, 3, 0, 2, 3][..], 0.0));
    }

    /// How many of a hundred true neighbours trees find, counted by distance, because equally near ones are as good.
    #[test]
    fn trees_miss_few_neighbours() {
        for (name, points) in clouds(4000) {
            let exact = find(&points, 10, Search::Exact);
            let near = find(&points, 10, Search::Approximate { seed: 1 });
            let mut hits = 0;
            for (i, (want, got)) in exact.distance.chunks(10).zip(near.distance.chunks(10)).enumerate() {
                hits += got.iter().filter(|far| **far <= want[9]).count();
                let of = &near.of[10 * i..][..10];
                assert!(of.iter().enumerate().all(|(at, j)| *j as usize != i && !of[..at].contains(j)));
            }
            let recall = hits as f64 / 40_000.0;
            eprintln!("{name}: recall {recall:.4}");
            assert!(recall >= 0.95, "{name}: {recall}");
        }
        use SearchChoice::{Approximate, Auto, Exact};
        assert_eq!([Auto, Exact].map(|choice| choice.of(20_000, 1)), [Search::Exact; 2]);
        assert_eq!(Exact.of(20_001, 7), Search::Exact);
        assert_eq!(Auto.of(20_001, 7), Search::Approximate { seed: 7 });
        assert_eq!(Approximate.of(9, 7), Search::Approximate { seed: 7 });
    }

    #[test]
    fn growing_trees_is_looked_at() {
        let looks = |n: usize| {
            let points = Dense::new(n, 3, Rng::new(1).fill(3 * n, 0.0, 1.0));
            let search = Search::Approximate { seed: 1 };
            Count::looks(async |watch| Neighbours::find(&points, 6, search, watch).await)
        };
        // Without those of trees, a look for every 256 points in each of two rounds.
        let [small, large] = [1000, 9000].map(|n| looks(n) - 2 * n.div_ceil(256));
        assert!(small <= 6 && large >= 6 * 8, "{small} and {large} looks at trees");
    }
}
