//! Local search from a map that may be half right: it forgets all but the leading directions on which both sides agree,
//! finds the others again from these, and keeps what is better.
//!
//! Annealing fixes directions in the order of their strength. A map whose leading directions are right can have frozen
//! with wrong ones beyond them, and refinement never leaves that place. What is compared is the nuclear norm of `XᵀΠY`,
//! the objective of the linear solver itself, so that no truth is needed.

use super::super::control::{Control, Failure};
use super::super::selection::{Look, Start, plan_of};
use super::run::{From, Run};
use super::{ARRIVED_ALIKE, Search, block};
use crate::geometry::Dense;
use crate::geometry::eigen::symmetric_eigen;
use crate::geometry::polar::{nuclear_norm, polar};
use crate::geometry::products::{product, transposed_product};
use crate::solver::linear::refine_schedule;
use compute::rng::Rng;

/// How many of the maps of a space are searched from in each round, best first: many on few rows, then the best few on
/// more, where noise makes fewer wrong maps look good.
const WIDE: [usize; 3] = [16, 8, 4];
const DEEP: [usize; 5] = [3, 3, 2, 2, 2];
/// Numbers of leading directions that are kept, one of them at random each time.
const KEPT: [usize; 7] = [3, 4, 5, 6, 8, 10, 12];
/// Attempts in a row after which a map is left as it is.
const FAILURES: u32 = 2;
/// ε of the plans from which further directions are found, and of those that are compared.
const EPS_GROWING: f32 = 0.2;
const EPS: f32 = 0.1;
/// Plays of ten iterations for either.
const PLAYED_GROWING: u32 = 1;
const PLAYED: u32 = 3;
/// Steps of the refinement that ends an attempt.
const STEPS: u32 = 12;
/// An attempt has to raise the nuclear norm by this share.
const BETTER: f64 = 1e-4;
/// Leading coordinates, at most: all directions of more take long to tell apart.
const COORDINATES: usize = 128;

/// Rows a side of a wide search between so many coordinates, and of the small starts that it begins with.
pub fn search_size(dims: usize) -> usize {
    (20 * dims).clamp(400, 1000)
}

/// Rows a side of a deep search.
pub fn deep_size(dims: usize) -> usize {
    (40 * dims).clamp(1000, 2500)
}

/// A map within a local search.
struct Found {
    start: Start,
    /// Between the coordinates that are searched.
    map: Dense,
    norm: f64,
    failures: u32,
}

/// The rows on which maps are compared, the same for all.
struct Ground {
    /// In the data set.
    rows: [Vec<usize>; 2],
    points: [Dense; 2],
    /// What its runs are called.
    name: String,
}

impl Search<'_> {
    /// The different maps that a local search finds from those of one space, best first. Where kinds of starts agree, a
    /// single attempt is made from the best.
    pub(super) async fn searched(
        &self,
        begun: Vec<(Start, Dense)>,
        agreed: bool,
        coordinates: usize,
        control: &mut impl Control,
    ) -> Result<Vec<(Start, Dense)>, Failure> {
        let space = coordinates;
        let coordinates = coordinates.min(COORDINATES);
        let mut found: Vec<Found> =
            begun.into_iter().map(|(start, map)| Found { start, map, norm: 0.0, failures: 0 }).collect();
        let wide = self.ground(&format!("wide search of {space}"), search_size(coordinates), coordinates);
        let few = DEEP[0].max(self.settings.refined);
        self.enter(&wide, &mut found, control).await?;
        if agreed {
            // What different kinds have come to needs no more than a look, and refinement on more rows follows.
            self.rounds(&wide, &[1], &mut found, control).await?;
        } else {
            self.rounds(&wide, &WIDE, &mut found, control).await?;
            let deep = self.ground(&format!("deep search of {space}"), deep_size(coordinates), coordinates);
            self.keep_different(&mut found, few, control).await?;
            self.enter(&deep, &mut found, control).await?;
            self.rounds(&deep, &DEEP, &mut found, control).await?;
        }
        self.keep_different(&mut found, few, control).await?;
        let dims = self.points.each_ref().map(Dense::cols);
        Ok(found.into_iter().map(|held| (held.start, block(&held.map, dims))).collect())
    }

    fn ground(&self, name: &str, size: usize, coordinates: usize) -> Ground {
        let mut rng = Rng::new(self.settings.seed ^ 0x636f_6d70);
        let places = self.sample(size, &mut rng);
        Ground { rows: self.named(&places), points: self.picked(&places, coordinates), name: name.to_owned() }
    }

    /// Refines maps on the rows on which they will be compared.
    async fn enter(
        &self,
        ground: &Ground,
        found: &mut Vec<Found>,
        control: &mut impl Control,
    ) -> Result<(), Failure> {
        let dims = ground.points.each_ref().map(Dense::cols);
        for (place, held) in found.iter_mut().enumerate() {
            let from = block(&held.map, dims);
            (held.map, held.norm) = self.refined_on(ground, place, from, control).await?;
            held.failures = 0;
        }
        self.sort(found);
        Ok(())
    }

    /// Rounds of attempts, each from so many of the best.
    async fn rounds(
        &self,
        ground: &Ground,
        rounds: &[usize],
        found: &mut Vec<Found>,
        control: &mut impl Control,
    ) -> Result<(), Failure> {
        let smaller = ground.points[0].cols().min(ground.points[1].cols());
        let kept: Vec<usize> = KEPT.into_iter().filter(|kept| *kept < smaller).collect();
        let mut rng = Rng::new(self.settings.seed ^ 0x7265_6772);
        for (round, &most) in rounds.iter().enumerate() {
            for (place, held) in found.iter_mut().take(most).enumerate() {
                if kept.is_empty() || held.failures >= FAILURES {
                    continue;
                }
                let start =
                    self.grown(&ground.points, &held.map, kept[rng.below(kept.len())], control).await?;
                let place = 1000 * (round + 1) + place;
                let (map, norm) = self.refined_on(ground, place, start, control).await?;
                if norm > held.norm * (1.0 + BETTER) {
                    (held.map, held.norm, held.failures) = (map, norm, 0);
                } else {
                    held.failures += 1;
                }
            }
            self.sort(found);
        }
        Ok(())
    }

    /// A map after a short refinement, and how well it does.
    async fn refined_on(
        &self,
        ground: &Ground,
        place: usize,
        map: Dense,
        control: &mut impl Control,
    ) -> Result<(Dense, f64), Failure> {
        let (what, rows) = (format!("{} {place}", ground.name), [&ground.rows[0][..], &ground.rows[1][..]]);
        let run = Run { what, rows, points: ground.points.clone(), from: From::Map(map) };
        let map = run.play(self.device, &refine_schedule(STEPS), "refining", control).await?;
        let norm = self.norm(&ground.points, &map, control).await?;
        Ok((map, norm))
    }

    /// The best that are different alignments, so many at most.
    async fn keep_different(
        &self,
        found: &mut Vec<Found>,
        most: usize,
        control: &mut impl Control,
    ) -> Result<(), Failure> {
        let dims = self.points.each_ref().map(Dense::cols);
        let mut kept: Vec<(Dense, Look)> = Vec::new();
        let mut different = Vec::new();
        for held in found.drain(..) {
            if kept.len() == most {
                break;
            }
            let coordinates = held.map.rows().max(held.map.cols());
            let map = block(&held.map, dims);
            let look = self.scorer.look(self.device, &map, coordinates, control).await?;
            if !kept.iter().any(|(other, seen)| self.scorer.same((other, seen), (&map, &look))) {
                kept.push((map, look));
                different.push(held);
            }
        }
        *found = different;
        Ok(())
    }

    /// Best first, and of those that have come to the same place the best only.
    fn sort(&self, found: &mut Vec<Found>) {
        let dims = self.points.each_ref().map(Dense::cols);
        found.sort_by(|a, b| b.norm.total_cmp(&a.norm));
        let mut kept: Vec<Dense> = Vec::new();
        found.retain(|held| {
            let map = block(&held.map, dims);
            let new = kept.iter().all(|other| self.scorer.alike(other, &map) <= ARRIVED_ALIKE);
            if new {
                kept.push(map);
            }
            new
        });
    }

    /// The nuclear norm of `XᵀΠY` for the plan of a map.
    async fn norm(
        &self,
        points: &[Dense; 2],
        map: &Dense,
        control: &mut impl Control,
    ) -> Result<f64, Failure> {
        let [x, y] = points.each_ref();
        let plan = plan_of(self.device, [x, y], map, (EPS, PLAYED), control).await?;
        Ok(nuclear_norm(&transposed_product(x, &product(&plan, y))))
    }

    /// A map that is found from so many leading directions of another one.
    async fn grown(
        &self,
        points: &[Dense; 2],
        map: &Dense,
        mut kept: usize,
        control: &mut impl Control,
    ) -> Result<Dense, Failure> {
        let [x, y] = points.each_ref();
        let mut plan = plan_of(self.device, [x, y], map, (EPS, PLAYED), control).await?;
        loop {
            let cross = transposed_product(x, &product(&plan, y));
            if kept >= map.rows().min(map.cols()) {
                return Ok(polar(&cross));
            }
            let part = leading_polar(&cross, kept);
            plan = plan_of(self.device, [x, y], &part, (EPS_GROWING, PLAYED_GROWING), control).await?;
            kept = 8 * kept / 5 + 1;
        }
    }
}

/// `U_k V_kᵀ` of the `k` largest singular values of M.
fn leading_polar(m: &Dense, k: usize) -> Dense {
    if m.rows() < m.cols() {
        return leading_polar(&m.transposed(), k).transposed();
    }
    let d = m.cols();
    let gram = transposed_product(m, m);
    let (values, vectors) = symmetric_eigen(gram.data().iter().map(|v| f64::from(*v)).collect(), d);
    let mut order: Vec<usize> = (0..d).collect();
    order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
    let largest = order.first().map_or(0.0, |first| values[*first]);
    order.retain(|at| values[*at] > 1e-10 * largest);
    order.truncate(k);
    // V_k, and V_k divided by the singular values.
    let v = Dense::from_fn(d, order.len(), |i, at| vectors[i * d + order[at]] as f32);
    let divided = Dense::from_fn(d, order.len(), |i, at| {
        (vectors[i * d + order[at]] / values[order[at]].sqrt()) as f32
    });
    let u = product(m, &divided);
    let across = Dense::from_fn(order.len(), d, |at, i| v.at(i, at));
    product(&u, &across)
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::super::super::selection::Scorer;
    use super::*;
    use crate::procedure::{NoControl, Settings, Sides};
    use compute::exec::Device;
    use pollster::block_on;

    #[test]
    fn leading_directions_are_those_of_the_largest_singular_values() {
        // U diag(5, 3, 1) Vᵀ with rotations in the plane of two axes.
        let (s, c) = 0.4f32.sin_cos();
        let u = Dense::new(4, 3, vec![c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
        let (s, c) = 1.1f32.sin_cos();
        let v = Dense::new(3, 3, vec![1.0, 0.0, 0.0, 0.0, c, -s, 0.0, s, c]);
        let times = |values: [f32; 3]| {
            Dense::from_fn(4, 3, |i, j| (0..3).map(|a| u.at(i, a) * values[a] * v.at(j, a)).sum())
        };
        let m = times([5.0, 3.0, 1.0]);
        for (k, wanted) in [(1, [1.0, 0.0, 0.0]), (2, [1.0, 1.0, 0.0]), (3, [1.0; 3])] {
            let wanted = times(wanted);
            let got = leading_polar(&m, k);
            let turned = Dense::from_fn(3, 4, |i, j| m.at(j, i));
            let turned = leading_polar(&turned, k);
            for (i, j) in (0..4).flat_map(|i| (0..3).map(move |j| (i, j))) {
                assert!((got.at(i, j) - wanted.at(i, j)).abs() < 1e-4, "{k}: {i} {j}");
                assert!((turned.at(j, i) - wanted.at(i, j)).abs() < 1e-4, "{k} turned: {i} {j}");
            }
        }
        assert!(leading_polar(&Dense::new(3, 2, vec![0.0; 6]), 2).data().iter().all(|v| *v == 0.0));
    }

    /// Groups in 24 coordinates on both sides, the second turned by a map that only the test knows. A map that has the first
    /// five directions right and the others at random is finished by the search, and not by refinement alone.
    #[test]
    fn a_map_that_is_right_in_its_leading_directions_is_finished() {
        let (rows, dims, groups) = (400, 24, 30);
        let mut rng = Rng::new(11);
        let centres = Dense::new(groups, dims, rng.fill(groups * dims, -1.0, 1.0));
        let scale = |j: usize| 1.0 / (1.0 + j as f32).sqrt();
        let x = Dense::from_fn(rows, dims, |i, j| {
            scale(j) * (centres.at(i % groups, j) + 0.35 * (rng.unit() - 0.5))
        });
        let turn = polar(&Dense::new(dims, dims, rng.fill(dims * dims, -1.0, 1.0)));
        let y = product(&x, &turn);
        let sides = Sides::new(x, y).expect("usable");
        let settings = Settings { seed: 3, ..Settings::default() };
        let scorer = block_on(Scorer::new(&sides, &settings, &mut NoControl)).expect("computed");
        let search = Search::new(&Device::Cpu, &sides, &settings, &scorer);
        let [a, b] = search.points.each_ref();
        // Rows correspond, so this is the map that is looked for.
        let right = polar(&transposed_product(a, b));
        let leading = leading_polar(&transposed_product(a, b), 5);
        let mut half = polar(&Dense::new(dims, dims, rng.fill(dims * dims, -1.0, 1.0)));
        half = polar(&Dense::from_fn(dims, dims, |i, j| 10.0 * leading.at(i, j) + half.at(i, j)));
        let overlap = |map: &Dense| scorer.alike(map, &right);
        let ground = search.ground("wide", search_size(dims), dims);
        let refined =
            block_on(search.refined_on(&ground, 0, half.clone(), &mut NoControl)).expect("refined").0;
        let mut found = vec![Found { start: Start::Noise, map: half.clone(), norm: 0.0, failures: 0 }];
        block_on(search.enter(&ground, &mut found, &mut NoControl)).expect("refined");
        let before = found[0].norm;
        block_on(search.rounds(&ground, &[1; 6], &mut found, &mut NoControl)).expect("searched");
        assert!(overlap(&refined) < 0.98, "refinement alone: {}", overlap(&refined));
        assert!(overlap(&found[0].map) > 0.999, "searched: {}", overlap(&found[0].map));
        assert!(found[0].norm > before);
    }
}
