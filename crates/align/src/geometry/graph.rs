//! Neighbour graphs: who is next to whom, and in how many parts.

use super::Dense;
use super::nearest::Neighbours;
use crate::watch::{Cancelled, NoWatch, Watch, unwatched};

/// What an edge of a neighbour graph weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeWeight {
    /// 1: paths count steps.
    Step,
    /// The distance between its ends.
    Distance,
}

impl EdgeWeight {
    fn of(self, distance: f32) -> f32 {
        match self {
            Self::Step => 1.0,
            Self::Distance => distance,
        }
    }
}

/// Distances that are looked through between two looks at who is watching.
const PATIENCE: usize = 1 << 20;

/// An undirected graph with positive weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    neighbours: Vec<Vec<(u32, f32)>>,
}

/// An edge that joins two parts of a graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bridge {
    pub from: u32,
    pub to: u32,
    /// The distance between its ends.
    pub distance: f32,
}

impl Graph {
    /// Connects every point with its `k` nearest others. An edge counts for both its ends, whoever chose
    /// it. Of equally near points the first are taken.
    pub fn nearest(distances: &Dense, k: usize, weight: EdgeWeight) -> Self {
        // Nobody is there to give it up.
        let empty = Self { neighbours: Vec::new() };
        unwatched(Self::nearest_watched(distances, k, weight, &mut NoWatch)).unwrap_or(empty)
    }

    /// As [`Graph::nearest`], which takes its time where there are many points.
    pub async fn nearest_watched(
        distances: &Dense,
        k: usize,
        weight: EdgeWeight,
        watch: &mut impl Watch,
    ) -> Result<Self, Cancelled> {
        let n = distances.rows();
        let mut neighbours = vec![Vec::new(); n];
        let every = PATIENCE / n.max(1) + 1;
        for i in 0..n {
            let row = distances.row(i);
            let nearer = |a: &usize, b: &usize| row[*a].total_cmp(&row[*b]).then(a.cmp(b));
            let mut others: Vec<usize> = (0..n).filter(|&j| j != i).collect();
            if k < others.len() {
                others.select_nth_unstable_by(k, nearer);
                others.truncate(k);
            }
            others.sort_unstable_by(nearer);
            for &j in &others {
                connect(&mut neighbours, i as u32, j as u32, weight.of(row[j]));
            }
            if (i + 1) % every == 0 {
                watch.step((i + 1) as f64 / n as f64).await?;
            }
        }
        Ok(Self::tidy(neighbours))
    }

    /// Connects every point with its neighbours. An edge counts for both its ends, whoever chose it.
    pub fn of(found: &Neighbours, weight: EdgeWeight) -> Self {
        let mut graph = Self { neighbours: Vec::new() };
        graph.grow(found, weight);
        graph
    }

    /// Adds points, connected with their neighbours among the old ones and the new.
    pub fn grow(&mut self, found: &Neighbours, weight: EdgeWeight) {
        let mut neighbours = std::mem::take(&mut self.neighbours);
        let old = neighbours.len();
        // A single point has no neighbours; nothing tells it from none at all.
        neighbours.resize(old + found.of.len() / found.k.max(1), Vec::new());
        let lists = found.of.chunks_exact(found.k.max(1)).zip(found.distance.chunks_exact(found.k.max(1)));
        for (i, (of, distance)) in (old as u32..).zip(lists) {
            of.iter().zip(distance).for_each(|(&j, &d)| connect(&mut neighbours, i, j, weight.of(d)));
        }
        *self = Self::tidy(neighbours);
    }

    fn tidy(mut neighbours: Vec<Vec<(u32, f32)>>) -> Self {
        for list in &mut neighbours {
            list.sort_by_key(|(j, _)| *j);
            list.dedup_by_key(|(j, _)| *j);
        }
        Self { neighbours }
    }

    pub fn points(&self) -> usize {
        self.neighbours.len()
    }

    pub fn neighbours(&self, i: usize) -> &[(u32, f32)] {
        &self.neighbours[i]
    }

    /// The part each point belongs to, numbered by their first points.
    pub fn parts(&self) -> Vec<u32> {
        const NONE: u32 = u32::MAX;
        let mut part = vec![NONE; self.points()];
        let mut next = 0;
        for start in 0..self.points() {
            if part[start] != NONE {
                continue;
            }
            let mut reached = vec![start];
            part[start] = next;
            while let Some(i) = reached.pop() {
                for &(j, _) in &self.neighbours[i] {
                    if part[j as usize] == NONE {
                        part[j as usize] = next;
                        reached.push(j as usize);
                    }
                }
            }
            next += 1;
        }
        part
    }

    /// How many points each part has.
    pub fn part_sizes(&self) -> Vec<usize> {
        let parts = self.parts();
        let mut sizes = vec![0; parts.iter().max().map_or(0, |&last| last as usize + 1)];
        parts.iter().for_each(|&p| sizes[p as usize] += 1);
        sizes
    }

    /// Builds a bridge.
    pub(super) fn build(&mut self, bridge: Bridge, weight: EdgeWeight) {
        connect(&mut self.neighbours, bridge.from, bridge.to, weight.of(bridge.distance));
    }

    /// The combinatorial Laplacian `L = diag(W·1) − W`.
    pub fn laplacian(&self) -> Dense {
        let n = self.points();
        let mut laplacian = Dense::new(n, n, vec![0.0; n * n]);
        for i in 0..n {
            for &(j, w) in &self.neighbours[i] {
                laplacian.row_mut(i)[j as usize] -= w;
                laplacian.row_mut(i)[i] += w;
            }
        }
        laplacian
    }
}

fn connect(neighbours: &mut [Vec<(u32, f32)>], i: u32, j: u32, weight: f32) {
    neighbours[i as usize].push((j, weight));
    neighbours[j as usize].push((i, weight));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::distance::{Metric, pairwise};
    use crate::geometry::nearest::Search;
    use crate::watch::{NoWatch, unwatched};
    use compute::rng::Rng;

    /// Three clusters on a line: 0, 1, 2 | 10, 11 | 30, 31.
    fn line() -> Dense {
        let at = [0.0f32, 1.0, 2.0, 10.0, 11.0, 30.0, 31.0];
        Dense::from_fn(7, 7, |i, j| (at[i] - at[j]).abs())
    }

    #[test]
    fn parts_are_found_and_joined_by_the_shortest_bridges() {
        let distances = line();
        let mut graph = Graph::nearest(&distances, 1, EdgeWeight::Distance);
        assert_eq!(graph.parts(), [0, 0, 0, 1, 1, 2, 2]);
        assert_eq!(graph.part_sizes(), [3, 2, 2]);
        let bridges = graph.join(&distances, EdgeWeight::Distance);
        let built: Vec<_> = bridges.iter().map(|b| (b.from, b.to, b.distance)).collect();
        assert_eq!(built, [(2, 3, 8.0), (4, 5, 19.0)]);
        assert_eq!(graph.part_sizes(), [7]);
    }

    #[test]
    fn neighbours_make_the_graph_that_all_distances_make() {
        let points = Dense::new(90, 3, Rng::new(5).fill(270, -1.0, 1.0));
        let distances = pairwise(&points, Metric::Euclidean);
        let found = unwatched(Neighbours::find(&points, 4, Search::Exact, &mut NoWatch)).expect("found");
        let [got, want] =
            [Graph::of(&found, EdgeWeight::Distance), Graph::nearest(&distances, 4, EdgeWeight::Distance)];
        for i in 0..90 {
            let ends = |graph: &Graph| graph.neighbours(i).iter().map(|(j, _)| *j).collect::<Vec<u32>>();
            assert_eq!(ends(&got), ends(&want));
            let weights = got.neighbours(i).iter().zip(want.neighbours(i));
            assert!(weights.into_iter().all(|(a, b)| (a.1 - b.1).abs() < 1e-5));
        }
        // Two more points, each next to the other and to an old one.
        let mut grown = got.clone();
        let k = 2;
        grown.grow(
            &Neighbours { k, of: vec![91, 0, 90, 7], distance: vec![0.5, 2.0, 0.5, 3.0] },
            EdgeWeight::Distance,
        );
        assert_eq!(
            (grown.points(), grown.neighbours(90), grown.neighbours(91)),
            (92, &[(0, 2.0), (91, 0.5)][..], &[(7, 3.0), (90, 0.5)][..])
        );
        assert_eq!(grown.neighbours(0).last(), Some(&(90, 2.0)));
    }

    #[test]
    fn an_edge_belongs_to_both_ends_once() {
        let graph = Graph::nearest(&line(), 2, EdgeWeight::Step);
        for i in 0..graph.points() {
            let list = graph.neighbours(i);
            assert!(list.windows(2).all(|w| w[0].0 < w[1].0), "sorted, each once");
            assert!(list.iter().all(|&(j, _)| graph.neighbours(j as usize).iter().any(|e| e.0 == i as u32)));
        }
    }

    #[test]
    fn rows_of_the_laplacian_sum_to_zero() {
        let laplacian = Graph::nearest(&line(), 2, EdgeWeight::Distance).laplacian();
        for i in 0..7 {
            assert!(laplacian.row(i).iter().sum::<f32>().abs() < 1e-5);
            assert!((0..7).all(|j| laplacian.at(i, j) == laplacian.at(j, i)));
        }
    }
}
