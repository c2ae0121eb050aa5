//! Sinkhorn's algorithm at one level and one ε, until the marginals are met.

use super::balance::Coarse;
use super::blocks::{Blocks, Scene};
use super::mixing::Mixing;
use super::pace::{Cancelled, Pace, Watch};
use super::side::Side;
use super::sweep::{Start, Swept, Task, sweep};

/// The share of the tolerance that goes to what is left out.
const LEFT_OUT: f32 = 0.2;
/// Of the mass that may be left out, what is at first: potentials may rise by the rest before blocks are looked at again.
const BY_BOUNDS: f32 = 0.05;
const BY_MASS: f32 = 0.15;
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

/// The blocks that are visited, and what is known of the others.
struct List {
    blocks: Blocks,
    /// The potentials for which it is known.
    phi: Vec<f32>,
    gamma: Vec<f32>,
    /// At most these masses were in the others.
    left_out: Coarse,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// Made from bounds.
    Bounded,
    /// Swept: blocks below this density can be left out.
    Seen(f32),
    /// Made from masses: blocks below this density were left out.
    Measured(f32),
}

impl List {
    /// A bound on the mass that is left out now. Only rising potentials make blocks heavier.
    fn left_out(&self, [rows, cols]: [&Side; 2], phi: &[f32], gamma: &[f32], eps: f32) -> f32 {
        let rise = |side: &Side, now: &[f32], then: &[f32]| {
            let rises: Vec<f32> = now.iter().zip(then).map(|(now, then)| (now - then) / eps).collect();
            side.tops(&rises)
        };
        self.left_out.risen([&rise(rows, phi, &self.phi), &rise(cols, gamma, &self.gamma)])
    }

    /// Learns from a sweep.
    fn learn(&mut self, swept: Swept, most: f32, phi: &[f32], gamma: &[f32]) {
        match self.stage {
            Stage::Bounded => self.stage = Stage::Seen(swept.densities.below(most)),
            Stage::Seen(density) => {
                let lower = |then: &mut [f32], now: &[f32]| {
                    then.iter_mut().zip(now).for_each(|(then, now)| *then = then.min(*now));
                };
                lower(&mut self.phi, phi);
                lower(&mut self.gamma, gamma);
                self.left_out.join(&swept.light);
                (self.blocks, self.stage) = (swept.heavy, Stage::Measured(density));
            }
            Stage::Measured(_) => {}
        }
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
    if rows.len() == 0 || cols.len() == 0 {
        let mut blocks = Blocks::none();
        (0..rows.leaves()).for_each(|_| blocks.push([]));
        return Ok(Reached { error: 0.0, sweeps: 0, blocks, left_out: 0.0 });
    }
    // Either marginal misses what is left out.
    let budget = 0.5 * LEFT_OUT * tolerance;
    let mut mixing = Mixing::default();
    let mut list: Option<List> = None;
    let (mut start, mut first, mut best) = (Start::Cold, None, f64::MAX);
    let mut sweeps = 0;
    loop {
        let visited = match list.take() {
            Some(list) if list.left_out(sides, phi, gamma, eps) <= budget => list,
            outdated => {
                let scene = Scene { rows, cols, phi, gamma };
                let least = BY_BOUNDS * budget;
                let blocks = scene.blocks(eps * least.ln(), pace).await?;
                let left_out = Coarse::independent(rows, cols, least);
                let stage = match outdated.map(|list| list.stage) {
                    Some(Stage::Seen(density) | Stage::Measured(density)) => Stage::Seen(density),
                    _ => Stage::Bounded,
                };
                List { blocks, phi: phi.to_vec(), gamma: gamma.clone(), left_out, stage }
            }
        };
        let list = list.insert(visited);
        let light = if let Stage::Seen(density) = list.stage { density } else { 0.0 };
        let task = Task { sides, eps, blocks: &list.blocks, start, light };
        let swept = sweep(task, phi, gamma, pace).await?;
        start = Start::Warm;
        sweeps += 1;
        let error: f64 =
            swept.sums.iter().zip(&cols.weights).map(|(sum, weight)| (sum - f64::from(*weight)).abs()).sum();
        let first = *first.get_or_insert(error);
        let way = (first / error).ln() / (first / f64::from(tolerance)).ln().max(1e-9);
        pace.reach(goal.share[0] + (goal.share[1] - goal.share[0]) * way.clamp(0.0, 1.0));
        let left_out = list.left_out(sides, phi, gamma, eps);
        let bound = error as f32 + 2.0 * left_out;
        if bound <= tolerance || sweeps >= most || !error.is_finite() {
            return Ok(Reached { error: bound, sweeps, blocks: list.blocks.clone(), left_out });
        }
        let residual = residual(&swept, cols, eps);
        if left_out <= budget {
            list.learn(swept, BY_MASS * budget, phi, gamma);
        }
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

/// By how much γ rises in a step: what scales every column to its weight, and what balances sets of them.
fn residual(swept: &Swept, cols: &Side, eps: f32) -> Vec<f32> {
    let corrections = swept.coarse.corrections();
    let mut residual = Vec::with_capacity(cols.len());
    for (leaf, correction) in corrections.into_iter().enumerate() {
        residual.extend(cols.leaf(leaf).map(|j| {
            let sum = (swept.sums[j] as f32).max(f32::MIN_POSITIVE);
            eps * ((cols.weights[j] / sum).ln() + correction)
        }));
    }
    residual
}
