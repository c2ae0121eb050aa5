//! Neighbour graphs: who is next to whom, in how many parts, and how the parts can be joined.

use super::Dense;

/// What an edge of a neighbour graph weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeWeight {
    /// 1: paths count steps.
    Step,
    /// The distance between its ends.
    Distance,
}

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
        let n = distances.rows();
        let mut neighbours = vec![Vec::new(); n];
        for i in 0..n {
            let row = distances.row(i);
            let mut others: Vec<usize> = (0..n).filter(|&j| j != i).collect();
            others.sort_by(|&a, &b| row[a].total_cmp(&row[b]));
            for &j in others.iter().take(k) {
                let w = match weight {
                    EdgeWeight::Step => 1.0,
                    EdgeWeight::Distance => row[j],
                };
                neighbours[i].push((j as u32, w));
                neighbours[j].push((i as u32, w));
            }
        }
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

    /// Joins all parts by the shortest bridges there are, shortest first, and tells which it built.
    pub fn join(&mut self, distances: &Dense, weight: EdgeWeight) -> Vec<Bridge> {
        let mut part = self.parts();
        let mut candidates = Vec::new();
        for i in 0..self.points() {
            candidates.extend((0..i).filter(|&j| part[i] != part[j]).map(|j| (j as u32, i as u32)));
        }
        let length = |(i, j): &(u32, u32)| distances.at(*i as usize, *j as usize);
        candidates.sort_by(|a, b| length(a).total_cmp(&length(b)));
        let mut bridges = Vec::new();
        for (i, j) in candidates {
            let [a, b] = [part[i as usize], part[j as usize]];
            if a == b {
                continue;
            }
            let distance = length(&(i, j));
            let w = match weight {
                EdgeWeight::Step => 1.0,
                EdgeWeight::Distance => distance,
            };
            self.neighbours[i as usize].push((j, w));
            self.neighbours[j as usize].push((i, w));
            part.iter_mut().filter(|p| **p == b).for_each(|p| *p = a);
            bridges.push(Bridge { from: i, to: j, distance });
        }
        bridges
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

#[cfg(test)]
mod tests {
    use super::*;

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
