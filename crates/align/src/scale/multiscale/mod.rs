//! Transport on one processor between tens of thousands of points and more.
//!
//! Either side becomes a tree. Sinkhorn's algorithm first runs between few points, one for each group of neighbours,
//! where ε can fall slowly at little cost; the potentials are continued to more points and in the end to all. At every
//! level only those blocks of the plan are visited that can hold mass: the others are left out with proof (`blocks.rs`),
//! and looked at again when the potentials have risen. Where ε is so large that everything matters, everything is
//! visited, and what the levels save is iterations.

mod balance;
mod blocks;
mod extend;
mod mixing;
mod near;
mod pace;
mod side;
mod solve;
mod strip;
mod stubborn;
mod sweep;
mod tree;

pub use near::{Near, Rows, Visit};

use super::{Cancelled, Clouds, Implicit, Relaxation, Solved, Watch};
use compute::rng::Rng;
use extend::extend;
use pace::Pace;
use side::Side;
use solve::{Goal, Reached, solve};
use sweep::Start;
use tree::{SMALLEST, Tree};

/// The first level has about this many points a side.
const COARSEST: usize = 1024;
/// And no fewer, where a side has them.
const FEWEST: usize = 64;
/// Where ε starts, the mean cost being one.
const HIGHEST: f32 = 0.5;
/// The error to which levels are solved that are not the last.
const ROUGHLY: f32 = 0.003;
/// And that of the last but one, relative to that of the last: a sweep there costs a sixteenth, and what it leaves is
/// left to the last one.
const WELL: f32 = 0.3;
/// Sweeps at an ε that is still to fall, and at others.
const PASSING: u32 = 10;
const PATIENCE: u32 = 1000;

/// A solved plan, and where its mass is.
pub struct Found {
    pub solved: Solved,
    pub near: Near,
    /// A bound on the mass outside of the blocks that `near` visits. The error includes it.
    pub left_out: f32,
}

/// Solves the transport between both sides for a positive ε, until all rows and columns together miss their marginals by no
/// more than `tolerance`, or as far as it goes: the error says which. From potentials that were told at the same ε, where
/// they are given, it goes on between all points at once; those that it reaches there it tells, f before g. Where marginals
/// are relaxed, a group of points weighs as much as its points together, and λ is the same at every level.
pub async fn multiscale(
    clouds: Clouds,
    eps: f32,
    relaxation: Relaxation,
    tolerance: f32,
    start: Option<[Vec<f32>; 2]>,
    watch: &mut impl Watch,
) -> Result<Found, Cancelled> {
    let mut pace = Pace::new(watch, clouds.x.cols());
    let trees = [Tree::grow(&clouds.x, &mut pace).await?, Tree::grow(&clouds.y, &mut pace).await?];
    pace.reach(0.02);
    let mut rng = Rng::new(1);
    let mut sides_of = |group: usize| {
        [(&clouds.x, &trees[0]), (&clouds.y, &trees[1])].map(|(points, tree)| {
            let mut group = group;
            while group > 1 && points.rows() / group < FEWEST {
                group /= SMALLEST;
            }
            Side::new(points, tree, group, &mut rng)
        })
    };
    let largest = clouds.x.rows().max(clouds.y.rows());
    let mut group = 1;
    while start.is_none() && largest / group > COARSEST {
        group *= SMALLEST;
    }
    let mut sides = sides_of(group);
    let mut falling = if start.is_some() { eps } else { HIGHEST };
    let [mut phi, mut gamma] = match &start {
        Some(potentials) => in_order(orders(&trees), potentials, eps),
        None => [0, 1].map(|side| vec![0.0; sides[side].len()]),
    };
    while falling > eps {
        let goal = Goal {
            eps: falling,
            relaxation,
            tolerance: 0.1,
            most: PASSING,
            share: [0.02; 2],
            light: None,
            start: Start::Cold,
            orders: None,
        };
        solve([&sides[0], &sides[1]], &mut phi, &mut gamma, goal, &mut pace).await?;
        falling *= 0.5;
    }
    let (mut light, mut start) = (None, if start.is_some() { Start::Warm } else { Start::Cold });
    loop {
        let pair = [&sides[0], &sides[1]];
        let (tolerance, share) = match group {
            1 => (tolerance, [0.1, 1.0]),
            SMALLEST => (WELL * tolerance, [0.03, 0.1]),
            _ => (ROUGHLY.max(tolerance), [0.02, 0.03]),
        };
        let orders = (group == 1).then(|| orders(&trees));
        let goal = Goal { eps, relaxation, tolerance, most: PATIENCE, share, light, start, orders };
        let reached = solve(pair, &mut phi, &mut gamma, goal, &mut pace).await?;
        (light, start) = (reached.light, Start::Warm);
        if group == 1 {
            let orders = trees.map(|tree| tree.order);
            return Ok(found(clouds, (eps, relaxation), [phi, gamma], sides, orders, reached));
        }
        group /= SMALLEST;
        let finer = sides_of(group);
        let across = reached.blocks.transposed(sides[1].leaves());
        let [tau_x, tau_y] = [0, 1].map(|side| relaxation.tau(side, eps));
        let mut fine_gamma =
            extend([&sides[1], &finer[1]], (&sides[0], &phi), &across, eps, &mut pace).await?;
        fine_gamma.iter_mut().for_each(|potential| *potential *= tau_y);
        phi = extend([&sides[0], &finer[0]], (&sides[1], &gamma), &reached.blocks, eps, &mut pace).await?;
        phi.iter_mut().for_each(|potential| *potential *= tau_x);
        (sides, gamma) = (finer, fine_gamma);
    }
}

fn orders(trees: &[Tree; 2]) -> [&[u32]; 2] {
    trees.each_ref().map(|tree| tree.order.as_slice())
}

/// What a potential of so many points has beside one for weights that sum to one.
fn own(points: usize, eps: f32) -> f32 {
    eps * (points as f32).ln()
}

/// Potentials of all points as they are defined for uniform marginals, in the points' own order.
fn in_own_order(orders: [&[u32]; 2], potentials: [&[f32]; 2], eps: f32) -> [Vec<f32>; 2] {
    [0, 1].map(|side| {
        let order = orders[side];
        let mut values = vec![0.0; order.len()];
        for (&i, potential) in order.iter().zip(potentials[side]) {
            values[i as usize] = potential - own(order.len(), eps);
        }
        values
    })
}

/// The reverse of [`in_own_order`].
fn in_order(orders: [&[u32]; 2], potentials: &[Vec<f32>; 2], eps: f32) -> [Vec<f32>; 2] {
    [0, 1].map(|side| {
        let order = orders[side];
        order.iter().map(|&i| potentials[side][i as usize] + own(order.len(), eps)).collect()
    })
}

fn found(
    clouds: Clouds,
    (eps, relaxation): (f32, Relaxation),
    potentials: [Vec<f32>; 2],
    sides: [Side; 2],
    orders: [Vec<u32>; 2],
    reached: Reached,
) -> Found {
    let [mut f, g] = in_own_order([&orders[0], &orders[1]], [&potentials[0], &potentials[1]], eps);
    // The plan is to sum to 1.
    f.iter_mut().for_each(|f| *f -= eps * reached.mass.ln());
    let plan = Implicit { clouds, eps, relaxation, f, g };
    Found {
        solved: Solved { plan, error: reached.error, iterations: reached.sweeps },
        near: Near { sides, orders, blocks: reached.blocks },
        left_out: reached.left_out,
    }
}
