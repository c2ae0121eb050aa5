//! Geodesics within a large side: paths between a few of its points run through a graph of many, so that they follow the
//! cloud and not a thin sample of it.

use super::Dense;
use super::geodesic::geodesics_among;
use super::graph::{EdgeWeight, Graph};
use super::nearest::{Neighbours, SearchChoice};
use super::panel::NEIGHBOURS;
use super::tiles::Cloud;
use crate::watch::{Cancelled, Watch};
use compute::rng::Rng;

/// What the points of a graph are drawn by, where they are not all.
const SEED: u64 = 0x7465_7272;

/// A graph of many points of a side.
#[derive(Clone, Debug)]
pub struct Terrain {
    /// The rows that are its points, in ascending order.
    rows: Vec<usize>,
    graph: Graph,
}

impl Terrain {
    /// The points of a graph, at most. What takes time are the paths: their number times the points they may go through. At
    /// this number those between 2000 points take seconds, and follow a roll as well as those through more.
    pub const MOST: usize = 6_000;

    /// The graph of the nearest neighbours among `most` points of a side. If it falls apart it is joined by its shortest bridges.
    pub async fn new(
        points: &Dense,
        most: usize,
        search: SearchChoice,
        watch: &mut impl Watch,
    ) -> Result<Self, Cancelled> {
        let mut rows = Rng::new(SEED).sample(points.rows(), most);
        rows.sort_unstable();
        let points = points.picked(&rows);
        let search = search.of(points.rows(), SEED);
        let found = Neighbours::find(&points, NEIGHBOURS, search, watch).await?;
        let mut graph = Graph::of(&found, EdgeWeight::Distance);
        graph.join_watched(&Cloud::new(&points), EdgeWeight::Distance, watch).await?;
        Ok(Self { rows, graph })
    }

    /// Geodesics between some rows of the side. Those that the graph does not have are added to it for as long.
    pub async fn geodesics(
        &self,
        points: &Dense,
        chosen: &[usize],
        watch: &mut impl Watch,
    ) -> Result<Dense, Cancelled> {
        let mut rows = self.rows.clone();
        let mut places = Vec::with_capacity(chosen.len());
        for row in chosen {
            let place = self.rows.binary_search(row).unwrap_or_else(|_| {
                rows.push(*row);
                rows.len() - 1
            });
            places.push(place as u32);
        }
        let added: Vec<u32> = (self.rows.len() as u32..rows.len() as u32).collect();
        if added.is_empty() {
            return geodesics_among(&self.graph, &places, watch).await;
        }
        let cloud = Cloud::new(&points.picked(&rows));
        let found = Neighbours::among(&cloud, &added, NEIGHBOURS, watch).await?;
        let mut graph = self.graph.clone();
        graph.grow(&found, EdgeWeight::Distance);
        // Points that are added far out may know only each other.
        graph.join_watched(&cloud, EdgeWeight::Distance, watch).await?;
        geodesics_among(&graph, &places, watch).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::panel::Distance;
    use crate::watch::{NoWatch, unwatched};

    /// A sheet rolled up in one and a half turns: the points, and where they lie on the sheet. Along the roll `r = t`, so that
    /// the way to the angle `t` is `½ (t √(1+t²) + asinh t)`.
    fn roll(n: usize) -> (Dense, Vec<[f64; 2]>) {
        let mut rng = Rng::new(3);
        let sheet: Vec<[f64; 2]> = (0..n)
            .map(|_| [rng.uniform(1.5, 4.5), rng.uniform(0.0, 12.0)].map(f64::from))
            .map(|[t, across]| [std::f64::consts::PI * t, across])
            .collect();
        let points = Dense::from_fn(n, 3, |i, j| {
            let [t, across] = sheet[i];
            [t * t.cos(), across, t * t.sin()][j] as f32
        });
        let way = |t: f64| 0.5 * (t * (1.0 + t * t).sqrt() + t.asinh());
        (points, sheet.into_iter().map(|[t, across]| [way(t), across]).collect())
    }

    /// How well the distances of the chosen points agree with those on the sheet.
    fn agreement(got: &Dense, flat: &[[f64; 2]], chosen: &[usize]) -> f64 {
        let mut sums = [0.0; 5];
        for (i, a) in chosen.iter().map(|&i| flat[i]).enumerate() {
            for (j, b) in chosen.iter().map(|&j| flat[j]).enumerate().take(i) {
                let (x, y) = (f64::from(got.at(i, j)), (a[0] - b[0]).hypot(a[1] - b[1]));
                sums.iter_mut().zip([x, y, x * x, y * y, x * y]).for_each(|(sum, v)| *sum += v);
            }
        }
        let pairs = (chosen.len() * (chosen.len() - 1) / 2) as f64;
        let [x, y, xx, yy, xy] = sums.map(|sum| sum / pairs);
        (xy - x * y) / ((xx - x * x) * (yy - y * y)).sqrt()
    }

    #[test]
    fn paths_through_many_points_follow_the_roll_better_than_those_through_few() {
        let (points, flat) = roll(20_000);
        let chosen = Rng::new(9).sample(20_000, 500);
        let few = Distance::Geodesic.matrix(&points.picked(&chosen)).expect("computed from points");
        let terrain =
            unwatched(Terrain::new(&points, 6_000, SearchChoice::Auto, &mut NoWatch)).expect("not given up");
        let many = unwatched(terrain.geodesics(&points, &chosen, &mut NoWatch)).expect("not given up");
        let [few, many] = [&few, &many].map(|got| agreement(got, &flat, &chosen));
        eprintln!("through 500 points {few:.4}, through 6000 {many:.4}");
        assert!(many > 0.999 && 1.0 - many < 0.2 * (1.0 - few), "through few {few}, through many {many}");
    }

    /// More of them than a point has neighbours, and none in the graph.
    #[test]
    fn a_remote_group_is_joined_when_it_is_added() {
        let mut rng = Rng::new(7);
        let points = Dense::from_fn(4000, 2, |i, _| rng.uniform(0.0, 1.0) + if i < 20 { 50.0 } else { 0.0 });
        let terrain =
            unwatched(Terrain::new(&points, 100, SearchChoice::Auto, &mut NoWatch)).expect("not given up");
        assert!(terrain.rows[0] >= 20, "drawn without any of the group");
        let chosen: Vec<usize> = (0..40).collect();
        let got = unwatched(terrain.geodesics(&points, &chosen, &mut NoWatch)).expect("not given up");
        let farthest = got.data().iter().copied().fold(0.0, f32::max);
        assert!((60.0..90.0).contains(&farthest), "{farthest}");
    }

    #[test]
    fn points_are_added_where_the_graph_does_not_have_them() {
        let points = Dense::from_fn(60, 1, |i, _| (i * i) as f32);
        let terrain =
            unwatched(Terrain::new(&points, 30, SearchChoice::Auto, &mut NoWatch)).expect("not given up");
        assert_eq!((terrain.rows.len(), terrain.graph.part_sizes()), (30, vec![30]));
        let chosen: Vec<usize> = (0..60).rev().collect();
        let got = unwatched(terrain.geodesics(&points, &chosen, &mut NoWatch)).expect("not given up");
        // On a line every path is as long as its ends are apart.
        for i in 0..60 {
            for j in 0..60 {
                let want = (points.at(59 - i, 0) - points.at(59 - j, 0)).abs();
                assert!((got.at(i, j) - want).abs() < 1e-2, "{i} {j}: {} {want}", got.at(i, j));
            }
        }
        // All points and nothing to add: as if all distances were held.
        let points = Dense::new(60, 2, Rng::new(2).fill(120, -1.0, 1.0));
        let whole =
            unwatched(Terrain::new(&points, 60, SearchChoice::Auto, &mut NoWatch)).expect("not given up");
        let all: Vec<usize> = (0..60).collect();
        let got = unwatched(whole.geodesics(&points, &all, &mut NoWatch)).expect("not given up");
        let want = Distance::Geodesic.matrix(&points).expect("computed from points");
        assert!(got.data().iter().zip(want.data()).all(|(a, b)| (a - b).abs() < 1e-4));
    }
}
