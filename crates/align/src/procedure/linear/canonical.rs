//! Canonical directions: the last step of a linear candidate. A rotation trusts all directions alike; here each counts as
//! much as both sides agree in it.
//!
//! With a relaxed plan Π of the map, its row sums r and column sums c, and both sides around the means that these give:
//! ```text
//! S_X = Xᵀ diag(r) X + κ_X I,   S_Y = Yᵀ diag(c) Y + κ_Y I,   S_X^-½ XᵀΠY S_Y^-½ = U diag(ρ) Vᵀ
//! A = S_X^-½ U diag(w),   B = S_Y^-½ V diag(w),   w² = ρ/(1 − ρ²)
//! ```
//! ρ are the canonical correlations of matched points. For normal points the inner product of `xA` and `yB` is, up to terms of
//! one side that a transport does not feel, the logarithm of how much likelier x and y are as a pair than as strangers. κ is
//! how far the moments of so many rows may be off: `√(d Σr²)` of the mean variance, which is `√(d/n)` where all count alike.
//! Where matched points agree as well as those of a side with itself there is nothing to weigh, and the map stays: the blur of
//! the plan would be taken for noise. What was measured, and other rules that were tried, stand in docs/decisions/canonical.md.

use super::super::control::{Control, Failure, Watching};
use super::super::transport::{COMPARABLE, transport_until};
use super::{as_encoder, block, dense, leading};
use crate::geometry::Dense;
use crate::geometry::cholesky::Cholesky;
use crate::geometry::eigen::symmetric_eigen_watched;
use crate::geometry::products::{product, transposed_product};
use crate::metrics::plan::sums;
use crate::procedure::Settings;
use crate::procedure::selection::cross_moments;
use crate::solver::cost::CostKind;
use crate::solver::infer::{Encoders, LinearMap};
use crate::watch::{Cancelled, Watch};
use compute::exec::Device;

/// Larger correlations count as this: points that agree in a direction to the last digit would drown all others.
const MOST: f64 = 0.98;
/// Matched points that agree this well, as a share of how well those of a side agree with itself, have no noise between them. Without
/// noise it is 1.00, on real sets 0.50 to 0.95, and 0.99 on digits seen through a rotation.
const EXACT: f64 = 0.97;

/// Turns maps into canonical directions, by plans between the same points.
pub(in crate::procedure) struct Canonical<'a> {
    device: &'a Device,
    settings: &'a Settings,
    /// Prepared for linear encoders.
    points: &'a [Dense; 2],
    /// How well both sides agree with themselves in so many leading coordinates: found once for all maps between these.
    alone: Option<([usize; 2], f64)>,
}

impl<'a> Canonical<'a> {
    pub(in crate::procedure) fn new(
        device: &'a Device,
        settings: &'a Settings,
        points: &'a [Dense; 2],
    ) -> Self {
        Self { device, settings, points, alone: None }
    }

    /// Turns the map of linear encoders; leaves others as they are.
    pub(in crate::procedure) async fn turn(
        &mut self,
        encoders: &mut Encoders,
        control: &mut impl Control,
    ) -> Result<(), Failure> {
        match self.turned(encoders, control).await {
            Ok(Some(turned)) => *encoders = turned,
            // The map is there all the same.
            Ok(None) | Err(Failure::Diverged { .. }) => {}
            Err(failure) => return Err(failure),
        }
        Ok(())
    }

    async fn turned(
        &mut self,
        encoders: &Encoders,
        control: &mut impl Control,
    ) -> Result<Option<Encoders>, Failure> {
        let Encoders::Linear { x: map, y: None } = encoders else { return Ok(None) };
        // A map between leading coordinates is zero beyond them.
        let used = used(map);
        let led = [0, 1].map(|side| leading(&self.points[side], used[side]));
        let part = block(&dense(map), used);
        let plan = self.plan(&super::encoders(&part), led.each_ref(), control).await?;
        let alone = match self.alone {
            Some((of, alone)) if of == used => alone,
            _ => self.agreement_alone(&led, control).await?,
        };
        self.alone = Some((used, alone));
        if agreement(&plan, [&product(&led[0], &part), &led[1]]) >= EXACT * alone {
            return Ok(None);
        }
        let watch = &mut Watching::new(control, "matching");
        let found = directions(&plan, led.each_ref(), watch).await?;
        Ok(found.map(|both| {
            let [x, y] = [0, 1].map(|side| {
                let (rows, found) = (self.points[side].cols(), &both[side]);
                as_encoder(&block(found, [rows, found.cols()]))
            });
            Encoders::Linear { x, y: Some(y) }
        }))
    }

    /// How well either side agrees with itself, blurred as a plan blurs: the geometric mean.
    async fn agreement_alone(&self, led: &[Dense; 2], control: &mut impl Control) -> Result<f64, Failure> {
        let mut product = 1.0;
        for side in led {
            let there = Encoders::Embedded { dim: side.cols() as u32, cost: CostKind::Sqm };
            let itself = [side, side];
            product *= agreement(&self.plan(&there, itself, control).await?, itself);
        }
        Ok(f64::max(product, 0.0).sqrt())
    }

    async fn plan(
        &self,
        encoders: &Encoders,
        points: [&Dense; 2],
        control: &mut impl Control,
    ) -> Result<Dense, Failure> {
        let (eps, relaxation) = (self.settings.eps, self.settings.telling());
        let solved = transport_until(COMPARABLE, self.device, encoders, points, eps, relaxation, control);
        Ok(solved.await?.plan)
    }
}

/// How alike points are that a plan matches: 1 if each pair coincides.
fn agreement(plan: &Dense, [x, y]: [&Dense; 2]) -> f64 {
    let cross = cross_moments(plan, [x, y]);
    (0..cross.rows().min(cross.cols())).map(|i| f64::from(cross.at(i, i))).sum()
}

/// How many leading coordinates of either side a map uses.
fn used(map: &LinearMap) -> [usize; 2] {
    let (rows, cols) = (map.rows as usize, map.cols as usize);
    let entry = |i: usize, j: usize| map.values[i * cols + j] != 0.0;
    let last = |most: usize, used: &dyn Fn(usize) -> bool| {
        (0..most).rev().find(|&at| used(at)).map_or(0, |at| at + 1)
    };
    [last(rows, &|i| (0..cols).any(|j| entry(i, j))), last(cols, &|j| (0..rows).any(|i| entry(i, j)))]
}

/// A and B; none where the sides have nothing in common.
async fn directions(
    plan: &Dense,
    [x, y]: [&Dense; 2],
    watch: &mut impl Watch,
) -> Result<Option<[Dense; 2]>, Cancelled> {
    let (r, c) = sums(plan);
    let [x, y] = [(x, &r), (y, &c)].map(|(side, weights)| around_mean(side, weights));
    let roots = [(&x, &r), (&y, &c)].map(|(side, weights)| Cholesky::new(&second_moments(side, weights)));
    let [Some(lx), Some(ly)] = roots else { return Ok(None) };
    watch.step(0.3).await?;
    // The singular values of L_X⁻¹ XᵀΠY L_Y⁻ᵀ are the correlations, whichever root of S is taken.
    let cross = transposed_product(&x, &product(plan, &y));
    let k = ly.undo(&lx.undo(&cross).transposed());
    watch.step(0.6).await?;
    // It is transposed: the left vectors are those of Y.
    let Some((rho, v, u)) = singular(&k, watch).await? else { return Ok(None) };
    let weights: Vec<f32> = rho
        .iter()
        .map(|rho| {
            let rho = rho.min(MOST);
            (rho / (1.0 - rho * rho)).sqrt() as f32
        })
        .collect();
    let both = [(lx, u), (ly, v)].map(|(root, directions)| {
        root.undo_transposed(&Dense::from_fn(directions.rows(), directions.cols(), |i, d| {
            directions.at(i, d) * weights[d]
        }))
    });
    let finite = both.iter().all(|side| side.data().iter().all(|v| v.is_finite()));
    Ok(finite.then_some(both))
}

/// Singular values, left and right vectors (the columns) of a matrix that is not zero, by its smaller Gram matrix.
async fn singular(k: &Dense, watch: &mut impl Watch) -> Result<Option<(Vec<f64>, Dense, Dense)>, Cancelled> {
    let across = k.transposed();
    let (tall, wide, turned) = if k.rows() < k.cols() { (&across, k, true) } else { (k, &across, false) };
    let n = tall.cols();
    let gram = product(wide, tall).data().iter().map(|v| f64::from(*v)).collect();
    let (values, vectors) = symmetric_eigen_watched(gram, n, watch).await?;
    let largest = values.first().copied().unwrap_or(0.0);
    let count = values.iter().take_while(|value| **value > NOTHING * largest).count();
    if count == 0 || !(largest > 0.0 && largest.is_finite()) {
        return Ok(None);
    }
    let rho: Vec<f64> = values[..count].iter().map(|value| value.sqrt()).collect();
    let short = Dense::from_fn(n, count, |i, d| vectors[i * n + d] as f32);
    let long = product(tall, &Dense::from_fn(n, count, |i, d| (vectors[i * n + d] / rho[d]) as f32));
    Ok(Some(if turned { (rho, short, long) } else { (rho, long, short) }))
}

/// Squares of singular values below this share of the largest are noise of float32.
const NOTHING: f64 = 1e-7;

/// Points around their weighted mean.
fn around_mean(points: &Dense, weights: &[f64]) -> Dense {
    let mut mean = vec![0.0; points.cols()];
    for (i, weight) in weights.iter().enumerate() {
        mean.iter_mut().zip(points.row(i)).for_each(|(sum, v)| *sum += weight * f64::from(*v));
    }
    let all: f64 = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    Dense::from_fn(points.rows(), points.cols(), |i, j| (f64::from(points.at(i, j)) - mean[j] / all) as f32)
}

/// `Xᵀ diag(weights) X + κI`.
fn second_moments(points: &Dense, weights: &[f64]) -> Dense {
    let weighted =
        Dense::from_fn(points.rows(), points.cols(), |i, j| (weights[i] * f64::from(points.at(i, j))) as f32);
    let moments = transposed_product(&weighted, points);
    let d = moments.rows();
    let (sum, squares) = weights.iter().fold((0.0, 0.0), |(sum, squares), w| (sum + w, squares + w * w));
    let uncertain = (d as f64 * squares).sqrt() / f64::max(sum, f64::MIN_POSITIVE);
    let ridge = uncertain * (0..d).map(|i| f64::from(moments.at(i, i))).sum::<f64>() / d.max(1) as f64;
    Dense::from_fn(d, d, |i, j| moments.at(i, j) + if i == j { ridge as f32 } else { 0.0 })
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::metrics::plan::matches;
    use crate::procedure::NoControl;
    use crate::procedure::linear::encoders;
    use compute::rng::Rng;
    use pollster::block_on;

    const ROWS: usize = 300;

    /// Six coordinates in which both sides agree but for some noise, and six of half their size that have nothing to do with each
    /// other.
    fn sides() -> [Dense; 2] {
        let mut rng = Rng::new(4);
        let mut normal = || (0..12).map(|_| rng.unit()).sum::<f32>() - 6.0;
        let shared = Dense::from_fn(ROWS, 6, |_, _| normal());
        [0.0, 0.1].map(|noise| {
            Dense::from_fn(
                ROWS,
                12,
                |i, j| if j < 6 { shared.at(i, j) + noise * normal() } else { 0.5 * normal() },
            )
        })
    }

    fn exact(encoders: &Encoders, [x, y]: [&Dense; 2]) -> f64 {
        let strict = crate::solver::marginals::Relaxation::STRICT;
        let control = &mut NoControl;
        let solved = transport_until(COMPARABLE, &Device::Cpu, encoders, [x, y], 0.05, strict, control);
        let plan = block_on(solved).expect("solved").plan;
        matches(&plan).iter().enumerate().filter(|(i, j)| i == *j).count() as f64 / ROWS as f64
    }

    #[test]
    fn directions_that_say_nothing_do_not_count() {
        let both = sides();
        let identity = encoders(&Dense::from_fn(12, 12, |i, j| f32::from(u8::from(i == j))));
        let mut found = identity.clone();
        let settings = Settings::default();
        block_on(Canonical::new(&Device::Cpu, &settings, &both).turn(&mut found, &mut NoControl))
            .expect("found");
        let [before, after] = [&identity, &found].map(|encoders| exact(encoders, both.each_ref()));
        assert!(
            after > before + 0.2,
            "{before} of the rows by the rotation, {after} by canonical directions"
        );
        let Encoders::Linear { x, y: Some(y) } = found else { panic!("both sides have a map") };
        assert_eq!([x.rows, y.rows, x.cols], [12, 12, y.cols]);
    }

    /// The weights would take the blur of the plan for noise.
    #[test]
    fn sides_that_coincide_keep_their_map() {
        let [x, _] = sides();
        let mut found = encoders(&Dense::from_fn(12, 12, |i, j| f32::from(u8::from(i == j))));
        let before = found.clone();
        let both = [x.clone(), x];
        let settings = Settings::default();
        block_on(Canonical::new(&Device::Cpu, &settings, &both).turn(&mut found, &mut NoControl))
            .expect("ends");
        assert_eq!(found, before);
    }

    #[test]
    fn coordinates_that_a_map_does_not_use_stay_unused() {
        let both = sides();
        let map = Dense::from_fn(12, 12, |i, j| f32::from(u8::from(i == j && i < 8)));
        let mut found = encoders(&map);
        let settings = Settings::default();
        block_on(Canonical::new(&Device::Cpu, &settings, &both).turn(&mut found, &mut NoControl))
            .expect("found");
        let Encoders::Linear { x, y: Some(y) } = found else { panic!("both sides have a map") };
        for map in [x, y] {
            assert_eq!((map.rows, map.cols), (12, 8));
            assert!(map.values[8 * 8..].iter().all(|v| *v == 0.0));
            assert!(map.values[..8 * 8].iter().any(|v| *v != 0.0));
        }
    }

    #[test]
    fn sides_without_anything_in_common_keep_their_map() {
        let flat = Dense::new(30, 3, vec![0.5; 90]);
        let mut found = encoders(&Dense::from_fn(3, 3, |i, j| f32::from(u8::from(i == j))));
        let before = found.clone();
        let sides = [flat.clone(), flat];
        let settings = Settings::default();
        block_on(Canonical::new(&Device::Cpu, &settings, &sides).turn(&mut found, &mut NoControl))
            .expect("ends");
        assert_eq!(found, before);
    }
}
