//! Scores of linear maps where rows are few for their coordinates: on rows that a map was not fitted on.

use super::scorer::{ANCHORS, EPS, PLAYED, Scale, Scorer, plan_of, spread};
use super::scores::{along, cross_moments, third_moment};
use super::{Candidate, mean};
use crate::exec::Device;
use crate::geometry::Dense;
use crate::geometry::products::product;
use crate::metrics::plan::spearman_of;
use crate::procedure::control::{Control, Failure, Watching};
use crate::procedure::linear::{From, REFINE_STEPS, Run, block};
use crate::solver::linear::refine_schedule;

impl Scorer<'_> {
    /// Scores a map on rows that it was not fitted on: with many coordinates for the rows there are, unrelated points fit
    /// each other well. From the map, each half of the rows is fitted by itself, and the other half is scored.
    pub(super) async fn hold_out(
        &self,
        device: &Device,
        map: &Dense,
        [x, y]: [&Dense; 2],
        candidate: &mut Candidate,
        control: &mut impl Control,
    ) -> Result<(), Failure> {
        let map = block(map, [x.cols(), y.cols()]);
        let (mut norm, mut third) = (0.0, 0.0);
        let mut spearman = vec![0.0; self.panel.len()];
        for half in [0, 1] {
            let [own, other] = [half, 1 - half].map(|half| {
                let rows = [&self.halves[0][half], &self.halves[1][half]];
                (rows, [x.picked(rows[0]), y.picked(rows[1])])
            });
            let named =
                [0, 1].map(|side| own.0[side].iter().map(|&at| self.rows[side][at]).collect::<Vec<_>>());
            let run = Run {
                what: format!("half {half} of {:?} {}", candidate.origin, digest(&map)),
                rows: [&named[0], &named[1]],
                points: own.1,
                from: From::Map(map.clone()),
            };
            let fitted = run.play(device, &refine_schedule(REFINE_STEPS), "refining", control).await?;
            let (rows, [bx, by]) = other;
            let plan = plan_of(device, [&bx, &by], &fitted, (EPS, PLAYED), control).await?;
            norm += 0.5 * along(&cross_moments(&plan, [&bx, &by]), &fitted);
            let watch = &mut Watching::new(control, "matching");
            third += 0.5 * third_moment(&product(&bx, &fitted), &by, watch).await?;
            let anchors = spread(bx.rows(), ANCHORS);
            for (sum, Scale { ranks, .. }) in spearman.iter_mut().zip(&self.panel) {
                let [rx, ry] = [0, 1].map(|side| {
                    let (ranks, rows) = (&ranks[side], rows[side]);
                    Dense::from_fn(rows.len(), rows.len(), |i, j| ranks.at(rows[i], rows[j]))
                });
                *sum += 0.5 * spearman_of(&anchors, &rx, &ry, &plan, watch).await?;
            }
        }
        candidate.scores.nuclear_norm = Some(norm);
        candidate.scores.third_moment = Some(third);
        candidate.scores.spearman = mean(&spearman);
        candidate.spearman = spearman;
        candidate.score = candidate.scores.total();
        Ok(())
    }
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
    use crate::geometry::polar::nuclear_norm;
    use crate::geometry::polar::polar;
    use crate::procedure::{NoControl, Settings, Sides};
    use crate::rng::Rng;
    use pollster::block_on;

    /// The scores of the place to which refinement comes from a random map.
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
        let map = block_on(run.play(&Device::Cpu, &stages, "refining", &mut NoControl)).expect("refined");
        let plan =
            block_on(plan_of(&Device::Cpu, [&a, &b], &map, (EPS, PLAYED), &mut NoControl)).expect("solved");
        let fitted = nuclear_norm(&cross_moments(&plan, [&a, &b]));
        let control = &mut NoControl;
        let scored = scorer.linear(&Device::Cpu, &map, usize::MAX, Start::Noise, control);
        (fitted, block_on(scored).expect("scored").scores.nuclear_norm.expect("of a map"))
    }

    /// 60 rows of noise in 16 coordinates come to a place where they seem to agree. Rows that were held back agree less: no
    /// more than nearest neighbours do anyway.
    #[test]
    fn what_was_only_fitted_does_not_count() {
        let mut rng = Rng::new(5);
        let mut cloud = || Dense::new(60, 16, rng.fill(960, -1.0, 1.0));
        let (x, unrelated) = (cloud(), cloud());
        let turn = polar(&Dense::new(16, 16, cloud().data()[..256].to_vec()));
        let (fitted, held_out) = scores(x.clone(), unrelated, &turn);
        assert!(fitted > 0.6 && held_out < fitted - 0.15, "fitted {fitted}, held out {held_out}");
        // Groups that both sides have are still there in either half.
        let grouped = Dense::from_fn(60, 16, |i, j| x.at(i % 6, j) + 0.05 * x.at(i, j));
        let one = Dense::from_fn(16, 16, |i, j| f32::from(u8::from(i == j)));
        let (fitted, held_out) = scores(grouped.clone(), grouped, &one);
        assert!(fitted > 0.9 && held_out > 0.85, "fitted {fitted}, held out {held_out}");
    }
}
