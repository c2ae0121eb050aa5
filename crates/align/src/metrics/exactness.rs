//! How near a plan that was found on a shorter way is to the exact one, seen from some points of either side.
//!
//! The exact update of a point goes over all points of the other side, also over those that the shorter way has left out. A
//! plan that is solved does not change by it: neither the masses of a point, nor which partner is its strongest once its
//! strongest partners are updated as well.

use super::readout::Partners;
use crate::scale::{Cancelled, Implicit, Update, Watch};

/// Points of either side that are looked at.
const POINTS: usize = 250;
/// The strongest partners of each that are updated, besides the strongest over all points.
const CONTENDERS: usize = 2;

/// What the exact update changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exactness {
    /// Points that were looked at, of both sides together.
    pub points: usize,
    /// The share of them whose strongest partner stays the same.
    pub same: f64,
    /// By how much the logarithms of their masses change, on average and at most.
    pub mean: f64,
    pub largest: f64,
}

impl Exactness {
    /// Of a plan whose partners were read.
    pub async fn new(
        plan: &Implicit,
        partners: &[Partners; 2],
        watch: &mut impl Watch,
    ) -> Result<Self, Cancelled> {
        let (mut points, mut same, mut sum, mut largest) = (0, 0, 0.0, 0.0f64);
        for side in [0, 1] {
            let (own, other) = if side == 0 { (&plan.f, &plan.g) } else { (&plan.g, &plan.f) };
            let chosen = spread(own.len());
            let [tau, other_tau] = [side, 1 - side].map(|side| plan.relaxation.tau(side, plan.eps));
            let updates = plan.clouds.update(side, &chosen, plan.eps, other, watch).await?;
            let rivals: Vec<Vec<u32>> =
                chosen.iter().zip(&updates).map(|(&i, update)| rivals(&partners[side], i, update)).collect();
            let mut all = rivals.concat();
            all.sort_unstable();
            all.dedup();
            let exact = plan.clouds.update(1 - side, &all, plan.eps, own, watch).await?;
            let mut changes: Vec<f64> = (chosen.iter().zip(&updates))
                .map(|(&i, update)| f64::from((tau * update.potential - own[i as usize]) / plan.eps))
                .collect();
            if !plan.relaxation.is_strict() {
                // A constant makes no difference to a plan that is divided by its mass.
                let constant = changes.iter().sum::<f64>() / changes.len().max(1) as f64;
                changes.iter_mut().for_each(|change| *change -= constant);
            }
            for ((&i, change), rivals) in chosen.iter().zip(changes).zip(&rivals) {
                let (i, change) = (i as usize, change.abs());
                (points, sum, largest) = (points + 1, sum + change, largest.max(change));
                let strength = |j: u32| {
                    let cost = plan.clouds.cost_from(side, i, j as usize);
                    all.binary_search(&j).map_or(f32::MIN, |at| other_tau * exact[at].potential - cost)
                };
                let strongest = rivals
                    .iter()
                    .copied()
                    .reduce(|best, j| if strength(j) > strength(best) { j } else { best });
                same += usize::from(strongest.map(|j| j as usize) == partners[side].strongest(i));
            }
        }
        let count = points.max(1) as f64;
        Ok(Self { points, same: same as f64 / count, mean: sum / count, largest })
    }
}

/// Some of so many points, evenly.
fn spread(count: usize) -> Vec<u32> {
    let few = count.min(POINTS);
    (0..few).map(|k| (k * count / few) as u32).collect()
}

/// Who may be a point's strongest partner: those of the plan, strongest first, and the strongest over all.
fn rivals(partners: &Partners, point: u32, update: &Update) -> Vec<u32> {
    let mut rivals: Vec<u32> = partners.get(point as usize).0.iter().take(CONTENDERS).copied().collect();
    if !rivals.contains(&update.partner) {
        rivals.push(update.partner);
    }
    rivals
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::geometry::Dense;
    use crate::metrics::readout::Readout;
    use crate::scale::multiscale::multiscale;
    use crate::scale::{Clouds, CostKind, Matching, NoWatch, Relaxation};
    use compute::rng::Rng;
    use pollster::block_on;

    fn exactness(plan: &Matching) -> Exactness {
        let Matching::Near { plan: implicit, .. } = plan else { panic!("from coarse to fine") };
        let there = implicit.clouds.y.clone();
        let readout = block_on(Readout::new(plan, &there, &mut NoWatch)).expect("nobody cancels");
        block_on(Exactness::new(implicit, &readout.partners, &mut NoWatch)).expect("nobody cancels")
    }

    #[test]
    fn a_solved_plan_is_exact_and_a_wrong_one_is_not() {
        let mut rng = Rng::new(8);
        let x = Dense::new(1500, 4, rng.fill(6000, -1.0, 1.0));
        let y = Dense::from_fn(1400, 4, |i, j| x.at(i, j) + rng.uniform(-0.05, 0.05));
        let clouds = Clouds::new([&x, &y], CostKind::Sqm);
        let found = block_on(multiscale(clouds, 0.02, Relaxation::STRICT, 1e-3, None, &mut NoWatch))
            .expect("nobody cancels");
        let mut plan = Matching::from(found);
        let right = exactness(&plan);
        assert_eq!(right.points, 500);
        assert!(right.same > 0.97 && right.mean < 0.01 && right.largest < 0.3, "{right:?}");
        // Potentials that are off by a few ε.
        if let Matching::Near { plan, .. } = &mut plan {
            plan.f.iter_mut().chain(&mut plan.g).for_each(|v| *v += rng.uniform(-0.06, 0.06));
        }
        let wrong = exactness(&plan);
        assert!(wrong.same < 0.8 && wrong.mean > 0.3, "{wrong:?}");
    }
}
