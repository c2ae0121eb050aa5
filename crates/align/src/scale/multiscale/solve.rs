//! Sinkhorn's algorithm at one level and one ε, until the marginals are met.

use super::balance::Coarse;
use super::blocks::{Blocks, Scene};
use super::extend::at_points;
use super::in_own_order;
use super::mixing::Mixing;
use super::pace::{Cancelled, Pace, Watch};
use super::side::Side;
use super::stubborn::Stubborn;
use super::sweep::{Start, Swept, Task, asked, sweep};
use crate::solver::marginals::Relaxation;

/// The share of the tolerance that goes to what is left out.
const LEFT_OUT: f32 = 0.2;
/// Of the mass that may be left out, what is at first: potentials may rise by the rest before blocks are looked at again.
const BY_BOUNDS: f32 = 0.05;
const BY_MASS: f32 = 0.15;
/// The error below which steps are combined: further out the map is too far from linear.
const LINEAR: f64 = 0.5;
/// How far a combination may go beyond a plain step, in units of ε.
const REACH: f32 = 3.0;
/// Sweeps that may pass without the error falling by a tenth; then it goes no further.
const STALE: u32 = 80;
/// What a column receives, of its weight, if nothing reaches it: too little to be scaled.
const NOTHING: f64 = 1e-25;

/// No plan misses its columns by more than this.
const WORST: f64 = 2.0;

/// What to reach.
#[derive(Clone, Copy)]
pub(super) struct Goal<'a> {
    pub(super) eps: f32,
    pub(super) relaxation: Relaxation,
    /// The sum of all misses of the marginals.
    pub(super) tolerance: f32,
    /// Sweeps, at most.
    pub(super) most: u32,
    /// Which share of all work is done before and after.
    pub(super) share: [f64; 2],
    /// The density below which blocks could be left out at the level before, if that is known: a first guess.
    pub(super) light: Option<f32>,
    /// How near the rows' potential is.
    pub(super) start: Start,
    /// The order of either side's points, where these are all there are: then potentials are worth telling.
    pub(super) orders: Option<[&'a [u32]; 2]>,
}

/// What was reached, besides the potentials.
pub(super) struct Reached {
    /// The sum of all misses, those included that what is left out may cause.
    pub(super) error: f32,
    pub(super) sweeps: u32,
    pub(super) blocks: Blocks,
    /// A bound on the mass in the blocks that are left out.
    pub(super) left_out: f32,
    /// The mass of the plan of these potentials; 1 where either side meets its weights.
    pub(super) mass: f32,
    /// The density below which blocks were left out, or could be.
    pub(super) light: Option<f32>,
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
    /// The same, but blocks below this density may well be left out: the next sweep tells.
    Seen(f32),
    /// Made from masses: blocks below this density were left out.
    Measured(f32),
}

impl Stage {
    fn light(self) -> Option<f32> {
        match self {
            Self::Bounded => None,
            Self::Seen(density) | Self::Measured(density) => Some(density),
        }
    }
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
            // The guess was too high.
            Stage::Seen(_) if swept.light.mass() > most => {
                self.stage = Stage::Seen(swept.densities.below(most));
            }
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
    goal: Goal<'_>,
    pace: &mut Pace<'_, W>,
) -> Result<Reached, Cancelled> {
    let [rows, cols] = sides;
    let Goal { eps, relaxation, tolerance, most, .. } = goal;
    let strict = relaxation.is_strict();
    if rows.len() == 0 || cols.len() == 0 {
        let mut blocks = Blocks::none();
        (0..rows.leaves()).for_each(|_| blocks.push([]));
        return Ok(Reached { error: 0.0, sweeps: 0, blocks, left_out: 0.0, mass: 1.0, light: None });
    }
    // Either marginal misses what is left out.
    let budget = 0.5 * LEFT_OUT * tolerance;
    let mut mixing = Mixing::default();
    let mut stubborn = Stubborn::default();
    let mut list: Option<List> = None;
    let (mut start, mut first) = (goal.start, None);
    let mut best = Best { error: f64::MAX, sweep: 0, mass: 1.0, potentials: [phi.to_vec(), gamma.clone()] };
    let (mut sweeps, mut mass) = (0, 1.0);
    loop {
        let visited = match list.take() {
            Some(list) if list.left_out(sides, phi, gamma, eps) <= budget * mass => list,
            outdated => {
                let scene = Scene { rows, cols, phi, gamma };
                let (blocks, left_out) = scene.blocks(eps, BY_BOUNDS * budget * mass, pace).await?;
                let light = outdated.and_then(|list| list.stage.light()).or(goal.light);
                let stage = light.map_or(Stage::Bounded, Stage::Seen);
                List { blocks, phi: phi.to_vec(), gamma: gamma.clone(), left_out, stage }
            }
        };
        let list = list.insert(visited);
        let light = if let Stage::Seen(density) = list.stage { density } else { 0.0 };
        let task = Task { sides, eps, lambda: relaxation.x, blocks: &list.blocks, start, light };
        let swept = sweep(task, phi, gamma, pace).await?;
        start = Start::Warm;
        sweeps += 1;
        let target = target(cols, gamma, relaxation.slack(1));
        let error;
        (mass, error) = missed(&swept.sums, &target, strict);
        let first = *first.get_or_insert(error);
        let way = (first / error).ln() / (first / f64::from(tolerance)).ln().max(1e-9);
        pace.reach(goal.share[0] + (goal.share[1] - goal.share[0]) * way.clamp(0.0, 1.0));
        let left_out = list.left_out(sides, phi, gamma, eps) / mass;
        let bound = error as f32 + 2.0 * left_out + rounding(rows, phi, eps);
        if better(error, best.error) {
            best = Best { error, sweep: sweeps, mass, potentials: [phi.to_vec(), gamma.clone()] };
            if let Some(orders) = goal.orders {
                pace.tell(|| in_own_order(orders, [phi, gamma], eps).concat());
            }
        }
        let given_up = sweeps >= most || sweeps - best.sweep >= STALE || !error.is_finite();
        if bound <= tolerance || given_up {
            let (blocks, light) = (list.blocks.clone(), list.stage.light());
            if bound <= tolerance || error <= best.error {
                return Ok(Reached { error: bound, sweeps, blocks, left_out, mass, light });
            }
            // As far as it went.
            phi.copy_from_slice(&best.potentials[0]);
            gamma.copy_from_slice(&best.potentials[1]);
            let mass = best.mass;
            let left_out = list.left_out(sides, phi, gamma, eps) / mass;
            let error = best.error.min(WORST) as f32 + 2.0 * left_out + rounding(rows, phi, eps);
            return Ok(Reached { error, sweeps, blocks, left_out, mass, light });
        }
        if !strict {
            // Few iterations are needed, and columns may well be left with little: plain steps, and nothing lifted.
            let length = eps * relaxation.tau(1, eps);
            let step =
                |(sum, target): (&f64, &f32)| length * (target / (*sum as f32).max(f32::MIN_POSITIVE)).ln();
            let steps: Vec<f32> = swept.sums.iter().zip(&target).map(step).collect();
            if left_out <= budget {
                list.learn(swept, BY_MASS * budget * mass, phi, gamma);
            }
            gamma.iter_mut().zip(&steps).for_each(|(potential, step)| *potential += step);
            continue;
        }
        let mut residual = residual(&swept, cols, eps);
        let starved: Vec<usize> =
            (0..cols.len()).filter(|&j| swept.sums[j] < NOTHING * f64::from(cols.weights[j])).collect();
        let hurried = stubborn.hurry(&swept.sums, cols, eps, &mut residual);
        // Among all rows, since it may be any of them that reach it first.
        for (&j, value) in starved.iter().zip(at_points((rows, phi), (cols, &starved), eps, pace).await?) {
            residual[j] = value - gamma[j];
        }
        if left_out <= budget {
            list.learn(swept, BY_MASS * budget, phi, gamma);
        }
        let plain = |gamma: &[f32]| gamma.iter().zip(&residual).map(|(g, r)| g + r).collect();
        // First of all, a combination that made it worse is taken back, however much worse it is.
        *gamma = if mixing.mixed() && error > 1.5 * best.error {
            mixing.restart().unwrap_or_else(|| plain(gamma))
        } else if error > LINEAR || hurried || !starved.is_empty() {
            mixing = Mixing::default();
            plain(gamma)
        } else {
            mixing.next(gamma, &residual, &cols.weights, REACH * eps)
        };
    }
}

/// What the columns are to hold: their weights, or where these are relaxed `b_j exp(−γ_j/λ)`.
fn target(cols: &Side, gamma: &[f32], slack: f32) -> Vec<f32> {
    cols.weights.iter().zip(gamma).map(|(weight, gamma)| weight * asked(slack, *gamma)).collect()
}

/// The mass of a plan, and how far its columns are from their target. Where marginals are relaxed, both count by their
/// shares: a constant factor is no error.
fn missed(sums: &[f64], target: &[f32], strict: bool) -> (f32, f64) {
    let [mass, whole] = if strict {
        [1.0; 2]
    } else {
        [sums.iter().sum(), target.iter().map(|t| f64::from(*t)).sum::<f64>()]
    };
    let apart = sums.iter().zip(target).map(|(sum, t)| (sum / mass - f64::from(*t) / whole).abs());
    (mass as f32, apart.sum())
}

/// Whether an error is clearly better than the best so far; what is not a number never is.
fn better(error: f64, best: f64) -> bool {
    error <= 0.9 * best
}

/// The best potentials so far, and the sweep that found them.
struct Best {
    error: f64,
    sweep: u32,
    mass: f32,
    potentials: [Vec<f32>; 2],
}

/// What rows may miss because their potentials are rounded.
fn rounding(rows: &Side, phi: &[f32], eps: f32) -> f32 {
    let sum: f32 = phi.iter().zip(&rows.weights).map(|(p, w)| p.abs() * w).sum();
    0.5 * f32::EPSILON * sum / eps
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

#[cfg(test)]
mod tests {
    use super::better;

    #[test]
    fn what_is_no_number_is_never_the_best() {
        assert!(better(1.0, f64::MAX) && better(0.5, 1.0) && !better(0.95, 1.0));
        assert!(!better(f64::NAN, f64::MAX) && !better(f64::NAN, 1.0));
    }
}
