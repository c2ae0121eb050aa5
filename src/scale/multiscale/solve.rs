//! Sinkhorn's algorithm at one level and one ε, until the marginals are met.

use super::blocks::{Blocks, Scene};
use super::mixing::Mixing;
use super::pace::{Cancelled, Pace, Watch};
use super::side::Side;
use super::sweep::{Start, Swept, sweep};

/// How far `(φ_i + γ_j)/ε` may rise before blocks that were left out are looked at again.
const SLACK: f32 = 3.0;
/// The share of the tolerance that goes to what is left out.
const LEFT_OUT: f32 = 0.1;
/// The error below which steps are combined: further out the map is too far from linear.
const LINEAR: f64 = 0.5;

/// What to reach.
#[derive(Clone, Copy)]
pub(super) struct Goal {
    pub(super) eps: f32,
    /// The sum of all misses of the marginals.
    pub(super) tolerance: f32,
    /// Sweeps, at most.
    pub(super) most: u32,
    /// Which share of all work is done before and after.
    pub(super) share: [f64; 2],
}

/// What was reached, besides the potentials.
pub(super) struct Reached {
    /// The sum of all misses, those included that what is left out may cause.
    pub(super) error: f32,
    pub(super) sweeps: u32,
    pub(super) blocks: Blocks,
    /// A bound on the mass in the blocks that are left out.
    pub(super) left_out: f32,
}

/// The blocks that are visited, and the potentials for which it was shown that the others do not matter.
struct List {
    blocks: Blocks,
    phi: Vec<f32>,
    gamma: Vec<f32>,
    /// Whether it was made from masses, not from bounds.
    measured: bool,
}

impl List {
    /// Whether the others still do not matter. Only rising potentials make blocks heavier.
    fn holds(&self, phi: &[f32], gamma: &[f32], eps: f32) -> bool {
        let rise = |now: &[f32], then: &[f32]| {
            now.iter().zip(then).map(|(now, then)| now - then).fold(f32::MIN, f32::max)
        };
        rise(phi, &self.phi) + rise(gamma, &self.gamma) <= SLACK * eps
    }

    /// Leaves out what a sweep found to be light.
    fn narrow(&mut self, dense: Blocks, phi: &[f32], gamma: &[f32]) {
        let lower = |then: &mut [f32], now: &[f32]| {
            then.iter_mut().zip(now).for_each(|(then, now)| *then = then.min(*now));
        };
        lower(&mut self.phi, phi);
        lower(&mut self.gamma, gamma);
        (self.blocks, self.measured) = (dense, true);
    }
}

/// Improves the potentials φ and γ until the goal is reached, or as far as it goes.
pub(super) async fn solve<W: Watch>(
    sides: [&Side; 2],
    phi: &mut [f32],
    gamma: &mut Vec<f32>,
    goal: Goal,
    pace: &mut Pace<'_, W>,
) -> Result<Reached, Cancelled> {
    let [rows, cols] = sides;
    let Goal { eps, tolerance, most, .. } = goal;
    // Either marginal misses what is left out.
    let share = 0.5 * LEFT_OUT * tolerance;
    let least_density = share * (-SLACK).exp();
    let mut mixing = Mixing::default();
    let mut list: Option<List> = None;
    let (mut start, mut first, mut best) = (Start::Cold, None, f64::MAX);
    let mut sweeps = 0;
    loop {
        let visited = match list.take() {
            Some(list) if list.holds(phi, gamma, eps) => list,
            _ => {
                let scene = Scene { rows, cols, phi, gamma };
                let blocks = scene.blocks(eps * least_density.ln(), pace).await?;
                List { blocks, phi: phi.to_vec(), gamma: gamma.clone(), measured: false }
            }
        };
        let list = list.insert(visited);
        let Swept { sums, dense } =
            sweep(sides, eps, phi, gamma, &list.blocks, least_density, start, pace).await?;
        start = Start::Warm;
        sweeps += 1;
        let misses = sums.iter().zip(&cols.weights).map(|(sum, weight)| (sum - f64::from(*weight)).abs());
        let error: f64 = misses.sum();
        let first = *first.get_or_insert(error);
        let way = (first / error).ln() / (first / f64::from(tolerance)).ln().max(1e-9);
        pace.reach(goal.share[0] + (goal.share[1] - goal.share[0]) * way.clamp(0.0, 1.0));
        let holds = list.holds(phi, gamma, eps);
        let all = rows.len() as f64 * cols.len() as f64;
        let left_out = share * (1.0 - list.blocks.pairs(rows, cols) as f64 / all) as f32;
        let bound = error as f32 + 2.0 * left_out;
        if (holds && bound <= tolerance) || sweeps >= most || !error.is_finite() {
            return Ok(Reached { error: bound, sweeps, blocks: list.blocks.clone(), left_out });
        }
        if holds && !list.measured {
            list.narrow(dense, phi, gamma);
        }
        let residual: Vec<f32> = sums
            .iter()
            .zip(&cols.weights)
            .map(|(sum, weight)| eps * (weight / (*sum as f32).max(f32::MIN_POSITIVE)).ln())
            .collect();
        let plain = |gamma: &[f32]| gamma.iter().zip(&residual).map(|(g, r)| g + r).collect();
        *gamma = if error > LINEAR {
            mixing = Mixing::default();
            plain(gamma)
        } else if mixing.mixed() && error > 1.5 * best {
            mixing.restart().unwrap_or_else(|| plain(gamma))
        } else {
            mixing.next(gamma, &residual, &cols.weights)
        };
        best = best.min(error);
    }
}
