//! Scores of linear maps where rows are few for their coordinates: on rows that a map was not fitted on.
//!
//! One side at a time gives up a part of its rows. The other keeps all of its own, so that every row that is scored still
//! has its partner there: were both sides halved, half of the partners would be gone, and files whose rows come in the same
//! order on both sides would be scored otherwise than shuffled ones.

use super::scorer::{ANCHORS, EPS, PLAYED, Scale, Scorer, plan_of, spread};
use super::scores::{Scores, along, third_moment};
use super::{Candidate, mean};
use crate::geometry::Dense;
use crate::geometry::polar::polar;
use crate::geometry::products::{product, transposed_product};
use crate::metrics::plan::spearman_of;
use crate::procedure::control::{Control, Failure, Watching};
use crate::procedure::linear::{From, REFINE_STEPS, Run, block, leading};
use crate::solver::linear::refine_schedule;
use compute::exec::Device;
use compute::rng::Rng;

/// Parts that are held out: which half of which side.
const FOLDS: [[usize; 2]; 4] = [[0, 0], [1, 1], [0, 1], [1, 0]];
/// With more rows than this a side, the first two tell enough.
const MANY: usize = 500;

impl Scorer<'_> {
    fn folds(&self) -> &'static [[usize; 2]] {
        let most = self.rows.each_ref().map(Vec::len).into_iter().max().unwrap_or(0);
        if most > MANY { &FOLDS[..2] } else { &FOLDS }
    }

    /// Places of the rows of both sides, of which one side has so much of its own only.
    fn rows_of(&self, side: usize, half: usize) -> [Vec<usize>; 2] {
        [0, 1].map(|at| match at == side {
            true => self.halves[side][half].clone(),
            false => (0..self.rows[at].len()).collect(),
        })
    }

    /// What random maps between so many leading coordinates reach. A plan matches what is near in these coordinates,
    /// whether the map means something or not, and nearest neighbours look nearer in few coordinates than in many.
    pub(in crate::procedure) async fn by_chance(
        &self,
        device: &Device,
        coordinates: usize,
        control: &mut impl Control,
    ) -> Result<f64, Failure> {
        let mut sum = 0.0;
        let mut rng = Rng::new(self.seed ^ 0x6e75_6c6c);
        for &[side, half] in self.folds() {
            let rows = self.rows_of(side, half);
            let [x, y] = [0, 1].map(|at| leading(&self.linear[at].picked(&rows[at]), coordinates));
            let size = x.cols() * y.cols();
            let map = polar(&Dense::new(x.cols(), y.cols(), rng.fill(size, -1.0, 1.0)));
            sum += self.along_plan(device, [&x, &y], &map, control).await?.0;
        }
        Ok(sum / self.folds().len() as f64)
    }

    /// `⟨XᵀΠY, W⟩` for the plan of a map, and this plan. Rows have length 1 in all coordinates, so that it is at most 1.
    async fn along_plan(
        &self,
        device: &Device,
        [x, y]: [&Dense; 2],
        map: &Dense,
        control: &mut impl Control,
    ) -> Result<(f64, Dense), Failure> {
        let plan = plan_of(device, [x, y], map, (EPS, PLAYED), control).await?;
        Ok((along(&transposed_product(x, &product(&plan, y)), map), plan))
    }

    /// Scores a map between so many leading coordinates on rows that it was not fitted on: with many coordinates for the
    /// rows there are, unrelated points fit each other well. From the map, all but the rows that are held out are fitted,
    /// and these are scored, beyond what chance reaches.
    pub(super) async fn hold_out(
        &self,
        device: &Device,
        map: &Dense,
        (coordinates, by_chance): (usize, f64),
        candidate: &mut Candidate,
        control: &mut impl Control,
    ) -> Result<(), Failure> {
        let [x, y] = self.linear.each_ref().map(|side| leading(side, coordinates));
        let map = block(map, [x.cols(), y.cols()]);
        let share = 1.0 / self.folds().len() as f64;
        let (mut norm, mut third) = (-by_chance, 0.0);
        let mut spearman = vec![0.0; self.panel.len()];
        for &[side, half] in self.folds() {
            let [fitted, scored] = [1 - half, half].map(|half| self.rows_of(side, half));
            let of = |rows: &[Vec<usize>; 2]| [x.picked(&rows[0]), y.picked(&rows[1])];
            let named =
                [0, 1].map(|side| fitted[side].iter().map(|&at| self.rows[side][at]).collect::<Vec<_>>());
            let run = Run {
                what: format!("without half {half} of side {side}, {:?} {}", candidate.origin, digest(&map)),
                rows: [&named[0], &named[1]],
                points: of(&fitted),
                from: From::Map(map.clone()),
            };
            let fitted = run.play(device, &refine_schedule(REFINE_STEPS), "refining", control).await?;
            let [bx, by] = of(&scored);
            let (along, plan) = self.along_plan(device, [&bx, &by], &fitted, control).await?;
            norm += share * along;
            let watch = &mut Watching::new(control, "matching");
            third += share * third_moment(&product(&bx, &fitted), &by, watch).await?;
            let anchors = spread(bx.rows(), ANCHORS);
            for (sum, Scale { ranks, .. }) in spearman.iter_mut().zip(&self.panel) {
                let [rx, ry] = [0, 1].map(|side| square(&ranks[side], &scored[side]));
                *sum += share * spearman_of(&anchors, &rx, &ry, &plan, watch).await?;
            }
        }
        candidate.scores.nuclear_norm = Some(norm);
        candidate.scores.third_moment = Some(third);
        // The rank agreement that is shown stays that of the plan between all rows.
        candidate.score = Scores { spearman: mean(&spearman), ..candidate.scores }.total();
        Ok(())
    }
}

/// The rows and columns of a square matrix at these places.
pub(super) fn square(of: &Dense, places: &[usize]) -> Dense {
    Dense::from_fn(places.len(), places.len(), |i, j| of.at(places[i], places[j]))
}

/// A name for a map.
fn digest(map: &Dense) -> String {
    let mix = |held: u64, v: &f32| (held ^ u64::from(v.to_bits())).wrapping_mul(0x0000_0100_0000_01b3);
    format!("{:016x}", map.data().iter().fold(0xcbf2_9ce4_8422_2325, mix))
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::super::Start;
    use super::*;
    use crate::procedure::{NoControl, Settings, Sides};
    use compute::rng::Rng;
    use pollster::block_on;

    /// The scores of the place to which refinement comes from a random map: what it was fitted to, and what was held out.
    fn scores(x: Dense, y: Dense, from: &Dense) -> (f64, f64) {
        let sides = Sides::new(x, y).expect("usable");
        let settings = Settings::default();
        let scorer = block_on(Scorer::new(&sides, &settings, &mut NoControl)).expect("computed");
        let [a, b] = scorer.linear.clone();
        let all: Vec<usize> = (0..a.rows()).collect();
        let run = Run {
            what: "refined".into(),
            rows: [&all, &all],
            points: [a.clone(), b.clone()],
            from: From::Map(from.clone()),
        };
        let stages = refine_schedule(REFINE_STEPS);
        let control = &mut NoControl;
        let map = block_on(run.play(&Device::Cpu, &stages, "refining", control)).expect("refined");
        let fitted = block_on(scorer.along_plan(&Device::Cpu, [&a, &b], &map, control)).expect("solved").0;
        let coordinates = a.cols().max(b.cols());
        let by_chance = block_on(scorer.by_chance(&Device::Cpu, coordinates, control)).expect("computed");
        let space = (coordinates, Some(by_chance));
        let scored = scorer.linear(&Device::Cpu, &map, space, Start::Noise, control);
        (fitted - by_chance, block_on(scored).expect("scored").scores.nuclear_norm.expect("of a map"))
    }

    fn noise(seed: u64) -> Dense {
        Dense::new(60, 16, Rng::new(seed).fill(960, -1.0, 1.0))
    }

    /// 60 rows of noise in 16 coordinates come to a place where they seem to agree. Rows that were held back agree no more
    /// than chance does.
    #[test]
    fn what_was_only_fitted_does_not_count() {
        let turn = polar(&Dense::new(16, 16, noise(7).data()[..256].to_vec()));
        let (fitted, held_out) = scores(noise(5), noise(6), &turn);
        assert!(fitted > 0.1 && held_out < 0.05, "fitted {fitted}, held out {held_out}");
    }

    /// What both sides share is still there for the rows that were held out; and the order of the rows says nothing: were
    /// both sides halved, rows in the same order would keep all partners, and shuffled ones half of them.
    #[test]
    fn the_order_of_the_rows_does_not_matter() {
        // Each row is near one of the axes, so that there is a direction for the rows that are left.
        let held = noise(5);
        let x = Dense::from_fn(60, 6, |i, j| {
            held.at(i, j) + if i % 6 == j { 1.0 + i as f32 / 10.0 } else { 0.0 }
        });
        let one = Dense::from_fn(6, 6, |i, j| f32::from(u8::from(i == j)));
        let (fitted, paired) = scores(x.clone(), x.clone(), &one);
        let (_, shuffled) = scores(x.clone(), x.picked(&Rng::new(3).sample(60, 60)), &one);
        assert!(paired > 0.5 * fitted && (paired - shuffled).abs() < 0.05, "{fitted}: {paired}, {shuffled}");
    }
}
