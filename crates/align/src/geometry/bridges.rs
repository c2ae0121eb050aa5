//! How the parts of a neighbour graph are joined, without listing all pairs of points.

use std::cmp::Ordering;

use super::graph::{Bridge, EdgeWeight, Graph};
use super::tiles::{Lengths, TILE};
use crate::watch::{Cancelled, NoWatch, Watch, unwatched};

impl Graph {
    /// Joins all parts by the shortest bridges there are, and tells which it built, shortest first.
    pub fn join(&mut self, lengths: &impl Lengths, weight: EdgeWeight) -> Vec<Bridge> {
        // Nobody is there to give it up.
        unwatched(self.join_watched(lengths, weight, &mut NoWatch)).unwrap_or_default()
    }

    /// As [`Graph::join`], which takes its time where large parts have to be joined.
    ///
    /// Borůvka's algorithm: every part but the largest finds its shortest way to any other, and so on until one part is left.
    pub async fn join_watched(
        &mut self,
        lengths: &impl Lengths,
        weight: EdgeWeight,
        watch: &mut impl Watch,
    ) -> Result<Vec<Bridge>, Cancelled> {
        let mut part = self.parts();
        let mut built: Vec<Way> = Vec::new();
        loop {
            let mut ways: Vec<Way> = shortest(&part, lengths, watch).await?.into_iter().flatten().collect();
            if ways.is_empty() {
                break;
            }
            ways.sort_by(Way::compare);
            // Two parts may have found the same way, from either end.
            let mut first: Vec<u32> = (0..=part.iter().copied().max().unwrap_or(0)).collect();
            for way in ways {
                let [a, b] = [way.low, way.high].map(|i| leader(&first, part[i as usize]));
                if a != b {
                    first[b as usize] = a;
                    built.push(way);
                }
            }
            part.iter_mut().for_each(|p| *p = leader(&first, *p));
        }
        built.sort_by(Way::compare);
        let bridges: Vec<Bridge> = built.into_iter().map(|way| way.bridge(lengths)).collect();
        bridges.iter().for_each(|&bridge| self.build(bridge, weight));
        Ok(bridges)
    }
}

/// A pair of points in different parts. Equally long ones are told apart by their ends, so that which are built depends on
/// nothing else.
#[derive(Clone, Copy)]
struct Way {
    order: f32,
    high: u32,
    low: u32,
}

impl Way {
    fn compare(&self, other: &Self) -> Ordering {
        self.order.total_cmp(&other.order).then((self.high, self.low).cmp(&(other.high, other.low)))
    }

    fn bridge(self, lengths: &impl Lengths) -> Bridge {
        Bridge { from: self.low, to: self.high, distance: lengths.distance(self.low, self.high) }
    }
}

/// The part that a part belongs to by now.
fn leader(first: &[u32], mut part: u32) -> u32 {
    while first[part as usize] != part {
        part = first[part as usize];
    }
    part
}

/// The shortest way out of every part but the largest.
async fn shortest(
    part: &[u32],
    lengths: &impl Lengths,
    watch: &mut impl Watch,
) -> Result<Vec<Option<Way>>, Cancelled> {
    let mut sizes = vec![0usize; part.iter().max().map_or(0, |&last| last as usize + 1)];
    part.iter().for_each(|&p| sizes[p as usize] += 1);
    let largest = (0..sizes.len()).rev().max_by_key(|&p| sizes[p]);
    let all: Vec<u32> = (0..part.len() as u32).collect();
    let outside = |i: &u32| Some(part[*i as usize] as usize) != largest;
    let rows: Vec<u32> = all.iter().copied().filter(outside).collect();
    let mut best: Vec<Option<Way>> = vec![None; sizes.len()];
    let mut order = Vec::new();
    for (done, rows) in rows.chunks(TILE[0]).enumerate() {
        for cols in all.chunks(TILE[1]) {
            lengths.tile(rows, cols, &mut order);
            for (&i, row) in rows.iter().zip(order.chunks_exact(cols.len())) {
                let own = part[i as usize];
                let best = &mut best[own as usize];
                for (&j, &order) in cols.iter().zip(row) {
                    let far = best.is_some_and(|best| order > best.order);
                    if far || part[j as usize] == own {
                        continue;
                    }
                    let way = Way { order, high: i.max(j), low: i.min(j) };
                    if best.is_none_or(|best| way.compare(&best) == Ordering::Less) {
                        *best = Some(way);
                    }
                }
            }
        }
        watch.step((done * TILE[0]) as f64 / part.len() as f64).await?;
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Dense;
    use crate::geometry::distance::{Metric, pairwise};
    use crate::geometry::tiles::Cloud;
    use compute::rng::Rng;

    /// Kruskal's algorithm on all pairs of points in different parts.
    fn kruskal(graph: &Graph, distances: &Dense) -> Vec<(u32, u32)> {
        let mut part = graph.parts();
        let mut pairs: Vec<(u32, u32)> =
            (0..part.len() as u32).flat_map(|i| (0..i).map(move |j| (j, i))).collect();
        pairs.sort_by(|a, b| {
            let length = |(i, j): &(u32, u32)| distances.at(*i as usize, *j as usize);
            length(a).total_cmp(&length(b))
        });
        let mut built = Vec::new();
        for (i, j) in pairs {
            let [a, b] = [part[i as usize], part[j as usize]];
            if a != b {
                part.iter_mut().filter(|p| **p == b).for_each(|p| *p = a);
                built.push((i, j));
            }
        }
        built
    }

    #[test]
    fn the_bridges_are_those_of_kruskal() {
        let mut joined = 0;
        for seed in 0..12 {
            let mut rng = Rng::new(seed);
            // On a coarse grid many distances are the same; one of the sides is scattered.
            let grid = seed % 2 == 0;
            let points = Dense::from_fn(150, 2, |_, _| {
                let v = rng.uniform(0.0, 14.0);
                if grid { v.floor() } else { v }
            });
            let distances = pairwise(&points, Metric::Euclidean);
            let graph = Graph::nearest(&distances, 1 + seed as usize % 3, EdgeWeight::Distance);
            let want = kruskal(&graph, &distances);
            let mut held = graph.clone();
            let bridges = held.join(&distances, EdgeWeight::Distance);
            let ends: Vec<(u32, u32)> = bridges.iter().map(|b| (b.from, b.to)).collect();
            assert_eq!(ends, want, "seed {seed}");
            assert_eq!(held.part_sizes(), [150]);
            joined += ends.len();
            // From points, where nothing is held: as long in all.
            let mut computed = graph.clone();
            let again = computed.join(&Cloud::new(&points), EdgeWeight::Distance);
            assert_eq!((again.len(), computed.part_sizes()), (want.len(), vec![150]));
            let length = |bridges: &[Bridge]| bridges.iter().map(|b| b.distance).sum::<f32>();
            assert!((length(&bridges) - length(&again)).abs() < 1e-3, "seed {seed}");
            if !grid {
                assert!(again.iter().zip(&want).all(|(b, want)| (b.from, b.to) == *want), "seed {seed}");
            }
        }
        assert!(joined > 200, "{joined} bridges in all");
    }
}
