//! Ascent over rotations: many small ones at once, each to the nearest place where the moments of both sides agree best.
//!
//! For W in O(k), with `C` and `T` of each side of length 1,
//! ```text
//! F(W) = 0.3 ⟨C_X, W C_Y Wᵀ⟩ + ⟨T_X, (W⊗W⊗W) T_Y⟩
//! M = 0.6 C_X W C_Y + 3 T_X₍₁₎ (W⊗W) T_Y₍₁₎ᵀ,   W ← polar(√k M/‖M‖ + 0.3 W)
//! ```
//! M is the gradient of F, and both of its parts are homogeneous in W, so that F follows from M for nothing.

use super::lanes::{Lane, TILE, add_scaled, common_times, dots, product, times_common};
use super::moments::Moments;
use crate::geometry::polar::{CONVERGING, LIFTING};
use crate::watch::{Cancelled, Watch};

/// What second moments count beside third ones.
const SECOND: f32 = 0.3;
/// How much of the last rotation is added to the gradient: it keeps the ascent from swinging to and fro.
const SHIFT: f32 = 0.3;

/// A rotation of the first `k` coordinates, row-major, and how well the moments agree under it.
#[derive(Clone, Debug)]
pub struct Rotation {
    pub map: Vec<f32>,
    pub objective: f32,
}

/// The moments of both sides at one size.
pub(super) struct Ascent {
    pub(super) k: usize,
    /// `k`, filled up to whole tiles.
    padded: usize,
    cx: Vec<f32>,
    cy: Vec<f32>,
    /// T_X, for every pair b ≥ c the values of all a; those that stand for two pairs count twice.
    tx: Vec<f32>,
    /// T_Y as it is: symmetric slices.
    ty: Vec<f32>,
}

/// Room for the matrices of one step.
struct Scratch<const L: usize> {
    through: Vec<Lane<L>>,
    turned: Vec<Lane<L>>,
    second: Vec<Lane<L>>,
    third: Vec<Lane<L>>,
}

impl Ascent {
    pub(super) fn new(x: &Moments, y: &Moments, k: usize) -> Self {
        let padded = k.next_multiple_of(TILE);
        let (cx, full) = x.leading(k, padded);
        let (cy, ty) = y.leading(k, padded);
        let mut tx = Vec::with_capacity(padded * padded * (padded + 1) / 2);
        for b in 0..padded {
            for c in 0..=b {
                let weight = if b == c { 1.0 } else { 2.0 };
                tx.extend((0..padded).map(|a| weight * full[(a * padded + b) * padded + c]));
            }
        }
        Self { k, padded, cx, cy, tx, ty }
    }

    /// Climbs from every rotation, at most so many steps, and says where it ended.
    pub(super) async fn climb(
        &self,
        rotations: &mut [Rotation],
        steps: usize,
        watch: &mut impl Watch,
    ) -> Result<(), Cancelled> {
        let all = rotations.len().max(1) as f64;
        let together = (WORK / (self.padded.pow(4) * steps * LANES).max(1)).clamp(1, 64) * LANES;
        let mut done = 0;
        for group in rotations.chunks_mut(together) {
            group.chunks_mut(LANES).for_each(|few| self.few(few, steps));
            done += group.len();
            watch.step(done as f64 / all).await?;
        }
        Ok(())
    }

    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    fn few(&self, rotations: &mut [Rotation], steps: usize) {
        if compute::kernels::has_fma() {
            // SAFETY: this processor has both features.
            unsafe { self.few_fused(rotations, steps) }
        } else {
            self.few_in_lanes::<LANES, false>(rotations, steps);
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn few(&self, rotations: &mut [Rotation], steps: usize) {
        self.few_in_lanes::<LANES, false>(rotations, steps);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn few_fused(&self, rotations: &mut [Rotation], steps: usize) {
        self.few_in_lanes::<LANES, true>(rotations, steps);
    }

    /// At most `L` rotations, each in a lane.
    #[inline(always)]
    fn few_in_lanes<const L: usize, const FUSED: bool>(&self, rotations: &mut [Rotation], steps: usize) {
        let (k, p) = (self.k, self.padded);
        let mut w = vec![[0.0; L]; p * p];
        for (e, lane) in w.iter_mut().enumerate() {
            let (i, j) = (e / p, e % p);
            for (l, value) in lane.iter_mut().enumerate() {
                *value = match rotations.get(l) {
                    Some(rotation) if i < k && j < k => rotation.map[i * k + j],
                    _ => f32::from(u8::from(i == j)),
                };
            }
        }
        let zeros = || vec![[0.0; L]; p * p];
        let mut room = Scratch { through: zeros(), turned: zeros(), second: zeros(), third: zeros() };
        let mut last = [f32::MIN; L];
        for _ in 0..steps {
            let objective = self.gradient::<L, FUSED>(&w, &mut room);
            let settled = objective.iter().zip(&last).all(|(now, last)| (now - last).abs() < SETTLED);
            last = objective;
            if settled {
                break;
            }
            let Scratch { second, third, through, turned } = &mut room;
            // The gradient and its length.
            third.iter_mut().zip(&*second).for_each(|(t, s)| add_scaled::<L, FUSED>(t, s, 1.0));
            let sizes = dots::<L, FUSED>(third, third);
            let scales: Lane<L> = std::array::from_fn(|l| (k as f32).sqrt() / sizes[l].max(1e-30).sqrt());
            for (w, m) in w.iter_mut().zip(&*third) {
                *w = std::array::from_fn(|l| scales[l] * m[l] + SHIFT * w[l]);
            }
            polar::<L, FUSED>(&mut w, [through, turned, second], p, ROUGH);
        }
        let Scratch { second, through, turned, .. } = &mut room;
        polar::<L, FUSED>(&mut w, [through, turned, second], p, EXACT);
        let objective = self.gradient::<L, FUSED>(&w, &mut room);
        for (l, rotation) in rotations.iter_mut().enumerate() {
            rotation.objective = objective[l];
            for (i, row) in rotation.map.chunks_exact_mut(k).enumerate() {
                row.iter_mut().enumerate().for_each(|(j, value)| *value = w[i * p + j][l]);
            }
        }
    }

    /// Both parts of the gradient, into `second` and `third`, and the objective.
    #[inline(always)]
    fn gradient<const L: usize, const FUSED: bool>(&self, w: &[Lane<L>], room: &mut Scratch<L>) -> Lane<L> {
        let p = self.padded;
        let Scratch { through, turned, second, third } = room;
        times_common::<L, FUSED>(w, &self.cy, through, p);
        common_times::<L, FUSED>(&self.cx, through, second, p);
        second.iter_mut().for_each(|lane| lane.iter_mut().for_each(|v| *v *= 2.0 * SECOND));
        for (i, slice) in self.ty.chunks_exact(p * p).enumerate() {
            // W T_i Wᵀ, of which one half says all.
            times_common::<L, FUSED>(w, slice, through, p);
            product::<L, FUSED, true, true>(through, w, turned, p);
            contract::<L, FUSED>(&self.tx, turned, third, p, i);
        }
        let (s, t) = (dots::<L, FUSED>(second, w), dots::<L, FUSED>(third, w));
        std::array::from_fn(|l| 0.5 * s[l] + t[l] / 3.0)
    }
}

/// The `i`-th column of the third moments' gradient: `3 Σ_bc T_X,abc Q_bc` for every a.
#[inline(always)]
fn contract<const L: usize, const FUSED: bool>(
    tx: &[f32],
    q: &[Lane<L>],
    out: &mut [Lane<L>],
    p: usize,
    i: usize,
) {
    for first in (0..p).step_by(TILE) {
        let mut sums = [[0.0; L]; TILE];
        let mut pair = 0;
        for b in 0..p {
            for q in &q[b * p..][..b + 1] {
                let weights = &tx[pair * p + first..][..TILE];
                sums.iter_mut().zip(weights).for_each(|(sum, t)| add_scaled::<L, FUSED>(sum, q, *t));
                pair += 1;
            }
        }
        for (a, sum) in sums.iter().enumerate() {
            out[(first + a) * p + i] = sum.map(|v| 3.0 * v);
        }
    }
}

/// Rotations that are climbed together.
const LANES: usize = 8;
/// Products of two numbers between two looks at who is watching.
const WORK: usize = 100_000_000;
/// A climb whose objective moves less than this in a step has arrived: rotations that are told apart differ by far more.
const SETTLED: f32 = 1e-6;
/// How far rows may be from orthonormal, within a climb and at its end.
const ROUGH: f32 = 1e-2;
const EXACT: f32 = 1e-5;
/// Iterations towards the polar factor, at most.
const ITERATIONS: usize = 24;

/// The polar factor, the nearest rotation, by odd polynomials of the singular values: `X ← (a + b XXᵀ + c (XXᵀ)²) X`
/// lifts small ones more than threefold until all are near 1, and ends with the quintic that converges cubically.
#[inline(always)]
fn polar<const L: usize, const FUSED: bool>(
    x: &mut Vec<Lane<L>>,
    [gram, square, next]: [&mut Vec<Lane<L>>; 3],
    p: usize,
    tolerance: f32,
) {
    let mut lift = LIFTS;
    for iteration in 0..ITERATIONS {
        product::<L, FUSED, true, true>(x, x, gram, p);
        if iteration == 0 {
            // Singular values up to 1: the largest is at most the root of the largest row sum of the Gram matrix.
            let mut most = [0f32; L];
            for row in gram.chunks_exact(p) {
                let mut sum = [0f32; L];
                row.iter().for_each(|v| sum.iter_mut().zip(v).for_each(|(sum, v)| *sum += v.abs()));
                most.iter_mut().zip(sum).for_each(|(most, sum)| *most = most.max(sum));
            }
            let scale: Lane<L> = most.map(|m| 1.0 / m.max(1e-30));
            gram.iter_mut().for_each(|v| v.iter_mut().zip(scale).for_each(|(v, s)| *v *= s));
            x.iter_mut().for_each(|v| v.iter_mut().zip(scale).for_each(|(v, s)| *v *= s.sqrt()));
        }
        let mut off = 0f32;
        for (e, lane) in gram.iter().enumerate() {
            let want = if e % (p + 1) == 0 { 1.0 } else { 0.0 };
            lane.iter().for_each(|v| off = off.max((v - want).abs()));
        }
        if off < tolerance {
            break;
        }
        let [a, b, c] = if off > NEAR && lift > 0 {
            lift -= 1;
            LIFTING
        } else {
            CONVERGING
        };
        product::<L, FUSED, true, true>(gram, gram, square, p);
        for (e, (square, gram)) in square.iter_mut().zip(&*gram).enumerate() {
            let diagonal = if e % (p + 1) == 0 { a } else { 0.0 };
            *square = std::array::from_fn(|l| diagonal + b * gram[l] + c * square[l]);
        }
        product::<L, FUSED, false, false>(square, x, next, p);
        std::mem::swap(x, next);
    }
}

/// How far from orthonormal rows are worth lifting, and how often that is done.
const NEAR: f32 = 0.6;
const LIFTS: u32 = 4;
