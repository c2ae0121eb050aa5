//! How sure each match is: how many fresh fits, on other rows and from other starts, find it as well, and whether the
//! row keeps its mass where it may lose it.
//!
//! The share of a row's mass that goes to its match says neither: a row without a partner has no competitor, so that its
//! match holds much.

use super::control::{Control, Failure, Quiet, Watching};
use super::linear::FreshMaps;
use super::partners::partnered;
use super::selection::{Alignment, Candidate, Origin};
use super::transport::{COMPARABLE, Coupling, transport_until};
use super::{Settings, Sides};
use crate::geometry::Dense;
use crate::geometry::features::Preparation;
use crate::geometry::products::product;
use crate::geometry::ranks::mid_ranks_watched;
use crate::metrics::plan::matches;
use crate::solver::infer::Encoders;
use crate::solver::sinkhorn::uniform;
use crate::watch::{Cancelled, Watch};
use compute::exec::Device;
use compute::rng::Rng;

/// Fresh fits of linear maps, and other networks of the same run that there have to be at least.
pub const MAPS: u32 = 10;
const NETWORKS: usize = 2;
/// Rows a side on which fits are compared, at most.
pub const COMPARED: usize = 400;
/// Two matches of a row agree if at most this share of the points lies nearer to the one than the other does.
const NEAR: f32 = 0.1;
/// Compared rows whose average stands for a row that was not compared.
const STAND_IN: usize = 5;
/// Rows between two checks whether the run goes on.
const BLOCK: usize = 1024;

/// What all of it is called.
const PHASE: &str = "measuring confidence";
/// Checkpoints, about, that it takes.
const CHECKPOINTS: u32 = 300;

/// Fits on parts of the data that have nothing in common with the alignment but the data.
pub struct FreshFits {
    /// The rows of both sides on which they are compared.
    rows: [Vec<usize>; 2],
    /// Row ranks of the distances within these.
    ranks: [Dense; 2],
    /// For each fit the match of each of these rows, on either side.
    matches: Vec<[Vec<usize>; 2]>,
}

impl FreshFits {
    /// Makes fresh fits beside the chosen candidate. Networks take too long to train once more: the others of the run, on
    /// other rows and distances, stand for them. None where there are too few of these, and for encoders that were trained
    /// in another run.
    pub async fn new(
        device: &Device,
        sides: &Sides,
        settings: &Settings,
        alignment: &Alignment,
        control: &mut impl Control,
    ) -> Result<Option<Self>, Failure> {
        let candidate = alignment.best();
        let networks: Vec<&Candidate> =
            alignment.candidates[1..].iter().filter(|other| is_network(other)).collect();
        let few = is_network(candidate) && networks.len() < NETWORKS;
        if candidate.origin == Origin::Saved || few {
            return Ok(None);
        }
        let control = &mut Quiet::new(control, PHASE, CHECKPOINTS);
        let measure = match candidate.origin {
            Origin::Network { measure, .. } => measure,
            Origin::Linear { .. } | Origin::Saved => settings.panel(sides)[0],
        };
        let mut rng = Rng::new(settings.seed ^ 0x636f_6d70);
        let rows = sides.points().map(|side| {
            let mut rows = rng.sample(side.rows(), COMPARED);
            rows.sort_unstable();
            rows
        });
        let mut ranks = Vec::with_capacity(2);
        for (side, distance) in measure.sides().into_iter().enumerate() {
            let watch = &mut Watching::new(control, PHASE);
            let distances = sides.within(side, distance, &rows[side], settings.neighbours, watch).await?;
            ranks.push(mid_ranks_watched(&distances, &uniform(distances.cols() as u32), watch).await?);
        }
        let Ok(ranks) = <[Dense; 2]>::try_from(ranks) else { return Ok(None) };
        let mut fits = Self { rows, ranks, matches: Vec::new() };
        if is_network(candidate) {
            for other in networks {
                fits.add(device, sides, settings, (&other.encoders, other.origin), control).await?;
            }
        } else {
            let some = match candidate.origin.left_out() {
                Some(_) => Some(partnered_rows(device, sides, settings, candidate, control).await?),
                None => None,
            };
            let mut maps = FreshMaps::new(device, sides, settings, some);
            for fit in 0..MAPS {
                let encoders = match maps.next(fit, control).await {
                    // What it was to confirm is there all the same.
                    Err(Failure::Diverged { .. }) => continue,
                    found => found?,
                };
                fits.add(device, sides, settings, (&encoders, candidate.origin), control).await?;
            }
        }
        Ok((!fits.matches.is_empty()).then_some(fits))
    }

    async fn add(
        &mut self,
        device: &Device,
        sides: &Sides,
        settings: &Settings,
        fit: (&Encoders, Origin),
        control: &mut impl Control,
    ) -> Result<(), Failure> {
        match self.matched(device, sides, settings, fit, control).await {
            // The alignment that it was to confirm is there all the same.
            Err(Failure::Diverged { .. }) => {}
            found => self.matches.push(found?),
        }
        Ok(())
    }

    /// The matches of the compared rows under some encoders.
    async fn matched(
        &self,
        device: &Device,
        sides: &Sides,
        settings: &Settings,
        (encoders, origin): (&Encoders, Origin),
        control: &mut impl Control,
    ) -> Result<[Vec<usize>; 2], Failure> {
        let preparations = origin.preparations();
        let [x, y] = [0, 1]
            .map(|side| sides.seen(side, preparations[side], &sides.points()[side].picked(&self.rows[side])));
        let relaxation = settings.relaxed(encoders);
        let found =
            transport_until(COMPARABLE, device, encoders, [&x, &y], settings.eps, relaxation, control);
        let plan = found.await?.plan;
        Ok([matches(&plan), matches(&plan.transposed())])
    }

    /// For each row of either side the share of fits whose match lies near that of a candidate, times how much of its
    /// mass the row keeps.
    pub async fn confidence(
        &self,
        device: &Device,
        sides: &Sides,
        settings: &Settings,
        candidate: &Candidate,
        coupling: &Coupling,
        control: &mut impl Control,
    ) -> Result<[Vec<f32>; 2], Failure> {
        let control = &mut Quiet::new(control, PHASE, CHECKPOINTS);
        let fit = (&candidate.encoders, candidate.origin);
        let own = self.matched(device, sides, settings, fit, control).await?;
        let watch = &mut Watching::new(control, PHASE);
        let mut both = [Vec::new(), Vec::new()];
        for side in [0, 1] {
            // Matches of X lie among Y's rows.
            let stable =
                stability(&self.ranks[1 - side], &own[side], self.matches.iter().map(|fit| &fit[side][..]));
            both[side] = spread(sides, side, &self.rows[side], &stable, watch).await?;
            if let Some(retained) = &coupling.retained {
                both[side].iter_mut().enumerate().for_each(|(row, sure)| *sure *= retained[side].share(row));
            }
        }
        Ok(both)
    }
}

fn is_network(candidate: &Candidate) -> bool {
    matches!(candidate.origin, Origin::Network { .. })
}

/// The judged rows that have a partner. Fits between all rows would find another alignment than one without a group.
async fn partnered_rows(
    device: &Device,
    sides: &Sides,
    settings: &Settings,
    candidate: &Candidate,
    control: &mut impl Control,
) -> Result<[Vec<usize>; 2], Failure> {
    let rows = sides.judged(settings.seed);
    let [x, y] =
        [0, 1].map(|side| sides.seen(side, Preparation::Linear, &sides.points()[side].picked(&rows[side])));
    let kept = partnered(device, &candidate.encoders, [&x, &y], settings, control).await?;
    Ok([0, 1].map(|side| kept[side].iter().map(|&place| rows[side][place]).collect()))
}

/// For each row the share of fits whose match has a rank of at most [`NEAR`] among the distances from its own match.
fn stability<'a>(ranks: &Dense, own: &[usize], fits: impl Iterator<Item = &'a [usize]>) -> Vec<f32> {
    let mut agreeing = vec![0u32; own.len()];
    let mut count = 0;
    for fit in fits {
        count += 1;
        for ((agreeing, &own), &other) in agreeing.iter_mut().zip(own).zip(fit) {
            *agreeing += u32::from(own == other || ranks.at(own, other) <= NEAR);
        }
    }
    agreeing.into_iter().map(|agreeing| agreeing as f32 / count.max(1) as f32).collect()
}

/// Values of some rows of a side, for all its rows: those of the others are the averages of the nearest that have one.
async fn spread(
    sides: &Sides,
    side: usize,
    rows: &[usize],
    values: &[f32],
    watch: &mut impl Watch,
) -> Result<Vec<f32>, Cancelled> {
    let points = sides.points()[side];
    if rows.len() == points.rows() {
        return Ok(values.to_vec());
    }
    let seen = |rows: &[usize]| sides.seen(side, Preparation::Linear, &points.picked(rows));
    let held = seen(rows);
    let across = Dense::from_fn(held.cols(), held.rows(), |c, i| held.at(i, c));
    let sizes: Vec<f32> = (0..held.rows()).map(|i| held.row(i).iter().map(|v| v * v).sum()).collect();
    let all: Vec<usize> = (0..points.rows()).collect();
    let mut spread = Vec::with_capacity(all.len());
    for block in all.chunks(BLOCK) {
        let inner = product(&seen(block), &across);
        for i in 0..block.len() {
            // |x − h|² but for |x|², which is the same for all.
            let mut near: Vec<(f32, usize)> =
                inner.row(i).iter().zip(&sizes).map(|(dot, size)| size - 2.0 * dot).zip(0..).collect();
            let count = STAND_IN.min(near.len());
            near.select_nth_unstable_by(count - 1, |a, b| a.0.total_cmp(&b.0));
            spread.push(near[..count].iter().map(|&(_, at)| values[at]).sum::<f32>() / count as f32);
        }
        watch.step(spread.len() as f64 / all.len() as f64).await?;
    }
    for (&row, &value) in rows.iter().zip(values) {
        spread[row] = value;
    }
    Ok(spread)
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::watch::{NoWatch, unwatched};

    #[test]
    fn matches_agree_where_they_are_near() {
        // Ranks along a line of ten points.
        let ranks =
            Dense::from_fn(10, 10, |i, j| 0.1 * i.abs_diff(j) as f32 - f32::from(u8::from(i != j)) * 0.05);
        let fits = [vec![0, 5, 9], vec![1, 9, 9], vec![3, 0, 8], vec![0, 5, 7]];
        let stable = stability(&ranks, &[0, 5, 9], fits.iter().map(Vec::as_slice));
        assert_eq!(stable, [0.75, 0.5, 0.75]);
        assert_eq!(stability(&ranks, &[0], std::iter::empty()), [0.0]);
    }

    #[test]
    fn rows_that_were_not_compared_follow_their_neighbours() {
        // Two groups, in two directions.
        let points =
            Dense::from_fn(
                40,
                2,
                |i, j| if i % 2 == j { 5.0 + 0.01 * i as f32 } else { 0.01 * (i / 2) as f32 },
            );
        let sides = Sides::new(points.clone(), points).expect("usable");
        let rows: Vec<usize> = (0..14).collect();
        let values: Vec<f32> = (0..14).map(|i| if i % 2 == 0 { 1.0 } else { 0.2 }).collect();
        let all = unwatched(spread(&sides, 0, &rows, &values, &mut NoWatch)).expect("nobody cancels");
        assert_eq!(&all[..14], &values[..]);
        for (i, value) in all.iter().enumerate().skip(14) {
            assert!((value - if i % 2 == 0 { 1.0 } else { 0.2 }).abs() < 1e-6, "{i}: {value}");
        }
    }
}
