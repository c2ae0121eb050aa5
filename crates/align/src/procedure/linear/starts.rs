//! What the runs of the linear solver start from: plans that need no map.

use super::super::control::{Control, Failure, Watching};
use crate::geometry::Dense;
use crate::geometry::products::product;
use crate::geometry::signature::{likeness, signatures};
use crate::geometry::skew::{FINE, Ladder, MOST, Moments, Rotation, split_half};
use crate::watch::{Cancelled, Watch};
use compute::rng::Rng;

/// Maps of each ladder that are lifted to all coordinates.
const LIFTED: usize = 2;

/// Third moments of two halves of a cloud that correlate less than this are noise. A Gaussian cloud of 1000 points has
/// 0.04, 177 cells that the moments still align 0.57.
const SKEWED: f64 = 0.1;

/// Coordinates whose third moments say whether a side is skewed.
const HALVED: usize = 16;

/// How well the third moments of two halves of either side agree.
pub(in crate::procedure) async fn skewness(
    sides: [&Dense; 2],
    seed: u64,
    control: &mut impl Control,
) -> Result<[f64; 2], Failure> {
    let watch = &mut Watching::new(control, "comparing third moments");
    Ok([split_half(sides[0], HALVED, seed, watch).await?, split_half(sides[1], HALVED, seed, watch).await?])
}

/// Whether third moments hold more than noise.
pub fn is_skewed(skewness: [f64; 2]) -> bool {
    skewness.into_iter().all(|side| side >= SKEWED)
}

/// Rotations of the leading coordinates under which the third moments of both sides agree, best first within each of the
/// ladders.
pub(in crate::procedure) async fn rotations(
    [x, y]: [&Dense; 2],
    seed: u64,
    ladders: &[Ladder],
    control: &mut impl Control,
) -> Result<Vec<Rotation>, Failure> {
    let watch = &mut Watching::new(control, "comparing third moments");
    let (mx, my) = (Moments::new(x, MOST, watch).await?, Moments::new(y, MOST, watch).await?);
    let mut found = Vec::new();
    let coordinates = mx.len().min(my.len());
    // The coarse one begins where there are enough coordinates.
    let fit = |ladder: &&Ladder| ladder.levels == FINE.levels || ladder.levels[0].size <= coordinates;
    for (place, ladder) in ladders.iter().filter(fit).enumerate() {
        let mut own = ladder.search(&mx, &my, seed.wrapping_add(place as u64), watch).await?;
        own.truncate(LIFTED);
        found.append(&mut own);
    }
    Ok(found)
}

/// The guide of a rotation of leading coordinates: similarities `Z_X W Z_Yᵀ`, of deviation 1.
pub(in crate::procedure) fn rotated(rotation: &Rotation, [x, y]: [&Dense; 2], means: [&[f32]; 2]) -> Dense {
    let k = rotation.map.len().isqrt();
    let [zx, zy] = [(x, means[0]), (y, means[1])]
        .map(|(side, mean)| Dense::from_fn(side.rows(), k, |i, j| side.at(i, j) - mean[j]));
    likeness(&product(&zx, &Dense::new(k, k, rotation.map.clone())), &zy)
}

/// The mean of every coordinate.
pub(in crate::procedure) fn means(points: &Dense) -> Vec<f32> {
    let mut sums = vec![0f64; points.cols()];
    for i in 0..points.rows() {
        sums.iter_mut().zip(points.row(i)).for_each(|(sum, v)| *sum += f64::from(*v));
    }
    sums.into_iter().map(|sum| (sum / points.rows().max(1) as f64) as f32).collect()
}

/// Signatures of all rows of both sides, made when they are first asked for.
#[derive(Default)]
pub(in crate::procedure) struct Signatures(Option<[Dense; 2]>);

impl Signatures {
    /// The guide for some rows: how alike their signatures are.
    pub(in crate::procedure) async fn guide(
        &mut self,
        [x, y]: [&Dense; 2],
        rows: [&[usize]; 2],
        seed: u64,
        control: &mut impl Control,
    ) -> Result<Dense, Failure> {
        let held = match &self.0 {
            Some(held) => held,
            None => {
                let watch = &mut Watching::new(control, "describing points");
                let made = [signatures(x, seed, watch).await?, signatures(y, seed, watch).await?];
                self.0.insert(made)
            }
        };
        Ok(likeness(&held[0].picked(rows[0]), &held[1].picked(rows[1])))
    }
}

/// Rows of noise between two looks at whether the run goes on.
const ROWS_BETWEEN_LOOKS: usize = 256;

/// A guide that says nothing: a plan near the uniform one to start from.
pub(super) async fn noise(
    n: usize,
    m: usize,
    rng: &mut Rng,
    watch: &mut impl Watch,
) -> Result<Dense, Cancelled> {
    // The sum of twelve uniform numbers is nearly normal. A tenth of it, at the start's ε, is nearly nothing.
    let mut data = Vec::with_capacity(n * m);
    for i in 0..n {
        data.extend((0..m).map(|_| 0.1 * ((0..12).map(|_| rng.unit()).sum::<f32>() - 6.0)));
        if (i + 1) % ROWS_BETWEEN_LOOKS == 0 {
            watch.step((i + 1) as f64 / n as f64).await?;
        }
    }
    Ok(Dense::new(n, m, data))
}
