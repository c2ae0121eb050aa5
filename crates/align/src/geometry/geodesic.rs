//! Lengths of shortest paths in a neighbour graph.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::Dense;
use super::graph::Graph;
use crate::watch::{Cancelled, NoWatch, Watch, unwatched};

/// A graph that does not hang together has no geodesics. What to do is the caller's decision
/// ([`Graph::join`], or more neighbours); nothing is clamped silently.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("The neighbour graph falls into {} parts (of {} points).", sizes.len(), list(sizes))]
pub struct Disconnected {
    /// Points in each part.
    pub sizes: Vec<usize>,
}

fn list(sizes: &[usize]) -> String {
    let shown: Vec<String> = sizes.iter().take(8).map(usize::to_string).collect();
    let more = if sizes.len() > 8 { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// All shortest paths.
pub fn geodesics(graph: &Graph) -> Result<Dense, Disconnected> {
    let sizes = graph.part_sizes();
    let all: Vec<u32> = (0..graph.points() as u32).collect();
    match unwatched(geodesics_among(graph, &all, &mut NoWatch)) {
        Ok(lengths) if sizes.len() <= 1 => Ok(lengths),
        _ => Err(Disconnected { sizes }),
    }
}

/// Points that are reached between two looks at who is watching.
const PATIENCE: usize = 1 << 17;

/// The shortest paths between some points of a graph that hangs together.
pub async fn geodesics_among(
    graph: &Graph,
    some: &[u32],
    watch: &mut impl Watch,
) -> Result<Dense, Cancelled> {
    let mut lengths = Dense::new(some.len(), some.len(), vec![0.0; some.len() * some.len()]);
    let mut row = vec![0.0; graph.points()];
    let mut heap = BinaryHeap::new();
    let mut reached = 0;
    for (i, &source) in some.iter().enumerate() {
        paths(graph, source as usize, &mut row, &mut heap);
        lengths.row_mut(i).iter_mut().zip(some).for_each(|(length, &j)| *length = row[j as usize]);
        reached += row.len();
        if reached >= PATIENCE {
            reached = 0;
            watch.step((i + 1) as f64 / some.len() as f64).await?;
        }
    }
    Ok(lengths)
}

/// The shortest paths from one point to all, by Dijkstra's algorithm. The heap is empty before and after.
fn paths(graph: &Graph, source: usize, row: &mut [f32], heap: &mut BinaryHeap<Reached>) {
    row.fill(f32::MAX);
    row[source] = 0.0;
    heap.push(Reached { length: 0.0, point: source as u32 });
    while let Some(Reached { length, point }) = heap.pop() {
        if length > row[point as usize] {
            continue; // A shorter way was found meanwhile.
        }
        for &(next, weight) in graph.neighbours(point as usize) {
            let length = length + weight;
            if length < row[next as usize] {
                row[next as usize] = length;
                heap.push(Reached { length, point: next });
            }
        }
    }
}

/// A heap entry; the shortest comes first.
#[derive(PartialEq)]
struct Reached {
    length: f32,
    point: u32,
}

impl Eq for Reached {}

impl Ord for Reached {
    fn cmp(&self, other: &Self) -> Ordering {
        other.length.total_cmp(&self.length).then_with(|| other.point.cmp(&self.point))
    }
}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::graph::EdgeWeight;

    #[test]
    fn a_graph_in_parts_is_refused_with_their_sizes() {
        let at = [0.0f32, 1.0, 2.0, 10.0, 11.0];
        let distances = Dense::from_fn(5, 5, |i, j| (at[i] - at[j]).abs());
        let mut graph = Graph::nearest(&distances, 1, EdgeWeight::Distance);
        let error = geodesics(&graph).expect_err("two parts");
        assert_eq!(error.to_string(), "The neighbour graph falls into 2 parts (of 3, 2 points).");
        graph.join(&distances, EdgeWeight::Distance);
        assert_eq!(geodesics(&graph).expect("joined").at(0, 4), 11.0);
    }
}
