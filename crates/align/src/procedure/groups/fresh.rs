//! Maps that are looked for afresh between the rows that are left.

use super::STEPS as REFINED;
use super::rest::{Fitted, Rest};
use crate::geometry::skew::{FINE, Ladder, MOST};
use crate::procedure::control::{Control, Failure};
use crate::procedure::linear::{From, Signatures, is_skewed, leading, means, rotated, rotations, skewness};
use crate::solver::linear::{lift_schedule, start_schedule};

/// Steps of a rotation's lift and of a start from signatures.
const LIFT: u32 = 40;
const START: u32 = 50;
/// Steps of all of it, each with its comparison: two rotations and a start from signatures, refined.
pub(super) const STEPS: u32 = 2 * LIFT + START + 3 * (REFINED + 2 * 4);
/// The search by third moments begins with fewer rotations than that over all rows: it is made for every group.
const LADDER: Ladder = Ladder { starts: 250, ..FINE };

impl Rest<'_> {
    /// Maps from third moments and from signatures.
    pub(super) async fn fresh(&self, seed: u64, control: &mut impl Control) -> Result<Vec<Fitted>, Failure> {
        let [x, y] = self.points.each_ref();
        let most = x.cols().max(y.cols()).min(MOST);
        let sides = [x, y].map(|side| leading(side, most));
        let mut starts = Vec::new();
        if is_skewed(skewness(sides.each_ref(), seed, control).await?) {
            let means = sides.each_ref().map(means);
            for rotation in rotations(sides.each_ref(), seed, &[LADDER], control).await? {
                let guide = rotated(&rotation, [x, y], [&means[0], &means[1]]);
                starts.push((From::Guide { guide, weight: 0.0 }, lift_schedule(LIFT)));
            }
        }
        let all = [x, y].map(|side| (0..side.rows()).collect::<Vec<_>>());
        let guide = Signatures::default().guide([x, y], [&all[0], &all[1]], seed, control).await?;
        starts.push((From::Guide { guide, weight: 1.0 }, start_schedule(START)));
        let mut found = Vec::new();
        for (place, (from, stages)) in starts.into_iter().enumerate() {
            let begun = match self.fit(&format!("start {place}"), from, &stages, control).await {
                // Others may still succeed.
                Err(Failure::Diverged { .. }) => continue,
                begun => begun?,
            };
            found.push(self.refined(&format!("refined start {place}"), begun.map, REFINED, control).await?);
        }
        Ok(found)
    }
}
