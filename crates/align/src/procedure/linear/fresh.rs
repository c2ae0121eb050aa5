//! Maps from one start on a part of the rows, without any choice: what they have in common does not depend on the rows
//! or on the start.

use super::run::{From, Run};
use super::starts::{Signatures, is_skewed, means, noise, rotated, rotations, skewness};
use super::{START_STEPS, block, centred, encoders, leading, pool, sample_size, seen};
use crate::geometry::Dense;
use crate::geometry::skew::{FINE, Ladder, MOST};
use crate::procedure::control::{Control, Failure, Watching};
use crate::procedure::{Settings, Sides, Start};
use crate::solver::infer::Encoders;
use crate::solver::linear::{lift_schedule, start_schedule};
use compute::exec::Device;
use compute::rng::Rng;

/// Steps of a fit.
const STEPS: u32 = START_STEPS / 2;
/// Share of the rows of either side that a fit sees.
const SHARE: f64 = 0.7;
/// Leading coordinates between which a fit maps, at most: more take more rows and find the same.
pub const COORDINATES: usize = 32;
/// The search by third moments begins with fewer rotations than one whose result is to be chosen.
const LADDER: Ladder = Ladder { starts: 250, ..FINE };
/// What fits start from, in turn.
const STARTS: [Start; 4] = [Start::Skew, Start::Fused, Start::Skew, Start::Signature];

/// Fits one after the other.
pub(in crate::procedure) struct FreshMaps<'a> {
    device: &'a Device,
    settings: &'a Settings,
    /// The rows that are looked at, and what linear encoders see of them.
    rows: [Vec<usize>; 2],
    points: [Dense; 2],
    signatures: Signatures,
}

impl<'a> FreshMaps<'a> {
    /// Fits between some rows, around their middle, or between any.
    pub(in crate::procedure) fn new(
        device: &'a Device,
        sides: &Sides,
        settings: &'a Settings,
        some: Option<[Vec<usize>; 2]>,
    ) -> Self {
        let middle = if some.is_some() { centred } else { Dense::clone };
        let rows = some.unwrap_or_else(|| pool(sides, settings.seed));
        let points = seen(sides, [&rows[0], &rows[1]]).each_ref().map(middle);
        Self { device, settings, rows, points, signatures: Signatures::default() }
    }

    /// The encoders of the `place`-th fit.
    pub(in crate::procedure) async fn next(
        &mut self,
        place: u32,
        control: &mut impl Control,
    ) -> Result<Encoders, Failure> {
        let seed = self.settings.seed.wrapping_mul(10_007) ^ 0x6672_6573_0000 ^ u64::from(place);
        let mut rng = Rng::new(seed);
        let dims = self.points.each_ref().map(Dense::cols);
        let coordinates = dims[0].max(dims[1]).min(COORDINATES);
        let part = self.points.each_ref().map(|side| {
            let count = (SHARE * side.rows() as f64).ceil() as usize;
            rng.sample(side.rows(), count)
        });
        let few = part.each_ref().map(|part| part[..part.len().min(sample_size(coordinates))].to_vec());
        let points = [0, 1].map(|side| leading(&self.points[side].picked(&few[side]), coordinates));
        let mut start = STARTS[place as usize % STARTS.len()];
        let mut from = None;
        if start == Start::Skew {
            let most = coordinates.min(MOST);
            let whole = [0, 1].map(|side| leading(&self.points[side].picked(&part[side]), most));
            let found = match is_skewed(skewness(whole.each_ref(), seed, control).await?) {
                true => rotations(whole.each_ref(), seed, &[LADDER], control).await?,
                false => Vec::new(),
            };
            let means = whole.each_ref().map(means);
            from = found.first().map(|best| rotated(best, points.each_ref(), [&means[0], &means[1]]));
            // Without skewness there is another.
            start = if from.is_some() { Start::Skew } else { Start::Noise };
        }
        let guide = match (from, start) {
            (Some(guide), _) => guide,
            (None, Start::Noise) => {
                let watch = &mut Watching::new(control, "describing points");
                noise(points[0].rows(), points[1].rows(), &mut rng, watch).await?
            }
            (None, _) => {
                let within = [&few[0][..], &few[1][..]];
                self.signatures.guide(self.points.each_ref(), within, self.settings.seed, control).await?
            }
        };
        let weight = f32::from(u8::from(start == Start::Fused));
        let stages = if start == Start::Skew { lift_schedule(STEPS) } else { start_schedule(STEPS) };
        let named = [0, 1].map(|side| few[side].iter().map(|&at| self.rows[side][at]).collect::<Vec<_>>());
        let what = format!("fresh fit {place}");
        let run = Run { what, rows: [&named[0], &named[1]], points, from: From::Guide { guide, weight } };
        let map = run.play(self.device, &stages, "linear starts", control).await?;
        Ok(encoders(&block(&map, dims)))
    }
}
