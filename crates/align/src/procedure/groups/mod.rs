//! Groups left out in turn: where one side holds a group that the other lacks, the rest often aligns better without it.
//!
//! A map without a group has to do better than the best map of all rows does both on the same remaining rows and on all of
//! them. The first alone would not do: without one of its groups a side fits a wrong map better than the right one, because
//! the right one then has to put the group's partners somewhere.

mod drops;
mod fresh;
mod rest;
mod widen;

use super::control::{Control, Failure, Quiet};
use super::linear::{block, dense};
use super::reached::Marked;
use super::selection::{Alignment, Candidate, LeftOut, Scorer, Start};
use super::{Settings, Sides};
use crate::geometry::Dense;
use crate::solver::infer::Encoders;
use compute::exec::Device;
use compute::rng::Rng;
use drops::{Drop, Drops};
use rest::{Fitted, Rest};
use widen::widened;

/// Whether groups are left out in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupChoice {
    /// Between many rows, where a clearly different alignment fits about as well: then the time is well spent.
    Auto,
    Try,
    Off,
}

/// What all of it is called, and checkpoints, about, that it takes.
const PHASE: &str = "leaving groups out";
const CHECKPOINTS: u32 = 200;

/// Sides need more rows than this where nobody asks for it: with 177 rows, alignments without a group score higher where none is
/// missing.
pub const FEW: usize = 400;
/// With fewer rows than this for every coordinate a map is not determined.
const ROWS_A_COORDINATE: usize = 10;
/// Rows a side on which alignments are compared, at most.
pub const COMPARED: usize = 400;
/// Steps of a refinement.
const STEPS: u32 = 12;

/// What the nuclear norm has to rise by: a smaller difference decides between no two alignments, with groups or without.
const RISE: f64 = 0.01;
/// What the norm of the map of all rows falls by, without a group that it had partners for. Then it has to rise by twice as much: on
/// 400 rows of sides that lack nothing, wrong maps fitted the rest better by 0.013.
const PARTNERED: f64 = 0.005;

/// Looks for a better alignment without one of the groups.
pub(super) async fn without_a_group(
    device: &Device,
    sides: &Sides,
    settings: &Settings,
    scorer: &Scorer<'_>,
    alignment: &Alignment,
    control: &mut impl Control,
) -> Result<Option<Candidate>, Failure> {
    let fewest = sides.points().map(Dense::rows).into_iter().min().unwrap_or(0);
    let maps = maps(alignment);
    let wanted = match settings.groups {
        GroupChoice::Auto => fewest > FEW && !alignment.alternatives.is_empty(),
        GroupChoice::Try => true,
        GroupChoice::Off => false,
    };
    if !wanted || maps.is_empty() {
        return Ok(None);
    }
    let control = &mut Marked::part(control, "groups");
    let control = &mut Quiet::keeping(control, PHASE, CHECKPOINTS);
    match found(device, sides, settings, scorer, (alignment, maps), control).await {
        // The alignment of all rows is there all the same.
        Err(Failure::Diverged { .. }) => Ok(None),
        found => found,
    }
}

async fn found(
    device: &Device,
    sides: &Sides,
    settings: &Settings,
    scorer: &Scorer<'_>,
    (alignment, maps): (&Alignment, Vec<Dense>),
    control: &mut impl Control,
) -> Result<Option<Candidate>, Failure> {
    let drops = Drops::new(scorer.prepared(), settings.seed, control).await?;
    let mut rng = Rng::new(settings.seed ^ 0x7265_7374);
    let sample = scorer.prepared().each_ref().map(|side| rng.sample(side.rows(), COMPARED));
    let search = Leaving { device, settings, scorer, maps, drops };
    let compared = search.compared(&sample, control).await?;
    let found = search.best(compared, control).await?;
    let Some((drop, found)) = found else { return Ok(None) };
    let all = scorer.prepared().each_ref().map(|side| (0..side.rows()).collect());
    let rest = search.rest(Some(drop), &all, "widened");
    let map = widened(device, settings, scorer, (&rest, found.map), control).await?;
    let rows = (drop.share * sides.points()[drop.side].rows() as f64).round() as u32;
    let start = Start::Without(LeftOut { side: drop.side as u8, rows });
    let map = block(&map, scorer.prepared().each_ref().map(Dense::cols));
    let widest = rest.dims().into_iter().max().unwrap_or(0);
    let candidate = scorer.linear(device, &map, (widest, None), start, control).await?;
    let pairs = |of: &Candidate| of.scores.known_pairs.unwrap_or(0.0);
    Ok((pairs(&candidate) >= pairs(alignment.best())).then_some(candidate))
}

/// The linear maps of an alignment: the chosen one first, or that which comes nearest to being chosen.
fn maps(alignment: &Alignment) -> Vec<Dense> {
    let mut linear: Vec<(f64, Dense)> = Vec::new();
    for (place, candidate) in alignment.candidates.iter().enumerate() {
        if let Encoders::Linear { x: map, .. } = &candidate.encoders {
            let norm = if place == 0 { None } else { candidate.scores.nuclear_norm };
            linear.push((norm.unwrap_or(f64::MAX), dense(map)));
        }
    }
    linear.sort_by(|a, b| b.0.total_cmp(&a.0));
    linear.into_iter().map(|(_, map)| map).collect()
}

/// Steps of the linear solver on [`COMPARED`] rows that it takes with so many maps. A comparison takes about as long as four.
pub const fn steps(maps: usize) -> u32 {
    2 * drops::GROUPS as u32 * (maps as u32 * (STEPS + 4) + fresh::STEPS)
}

/// What is compared.
struct Leaving<'a> {
    device: &'a Device,
    settings: &'a Settings,
    scorer: &'a Scorer<'a>,
    /// Different maps of all rows, the best first.
    maps: Vec<Dense>,
    drops: Drops,
}

impl Leaving<'_> {
    /// What is left of some rows.
    fn rest(&self, drop: Option<Drop>, rows: &[Vec<usize>; 2], what: &str) -> Rest<'_> {
        let (places, name) = match drop {
            Some(drop) => {
                (self.drops.without(drop, rows), format!("{what} without {} of {}", drop.group, drop.side))
            }
            None => (rows.clone(), format!("{what} with all groups")),
        };
        let coordinates = (rows[0].len().min(rows[1].len()) / ROWS_A_COORDINATE).max(2);
        Rest::new(self.device, self.scorer, places, coordinates, name)
    }

    /// One of the maps, refined on what is left.
    async fn refined(
        &self,
        rest: &Rest<'_>,
        place: usize,
        control: &mut impl Control,
    ) -> Result<Fitted, Failure> {
        let map = block(&self.maps[place], rest.dims());
        rest.refined(&format!("map {place}"), map, STEPS, control).await
    }

    /// What is left of some rows without each of the groups, and how the maps of the search do on it.
    async fn compared(
        &self,
        rows: &[Vec<usize>; 2],
        control: &mut impl Control,
    ) -> Result<Vec<Compared<'_>>, Failure> {
        let drops = &self.drops.all;
        if drops.is_empty() {
            return Ok(Vec::new());
        }
        let all = self.rest(None, rows, "compared");
        let before = self.refined(&all, 0, control).await?.norm;
        let mut compared = Vec::with_capacity(drops.len());
        for &drop in drops {
            let rest = self.rest(Some(drop), rows, "compared");
            let own = self.refined(&rest, 0, control).await?;
            let mut one = Compared { drop, rest, before: own.norm.max(before), own, new: None };
            for place in 1..self.maps.len() {
                let found = self.refined(&one.rest, place, control).await?;
                one.add(found);
            }
            compared.push(one);
        }
        compared.sort_by(|a, b| b.beyond().total_cmp(&a.beyond()));
        Ok(compared)
    }

    /// The group without which the rest aligns best, if that rises by enough, and the map of the rest. Fresh maps are looked
    /// for as well.
    async fn best(
        &self,
        mut compared: Vec<Compared<'_>>,
        control: &mut impl Control,
    ) -> Result<Option<(Drop, Fitted)>, Failure> {
        for one in &mut compared {
            for found in one.rest.fresh(self.settings.seed, control).await? {
                one.add(found);
            }
        }
        compared.sort_by(|a, b| b.beyond().total_cmp(&a.beyond()));
        for Compared { drop, rest, own, new, .. } in compared.into_iter().filter(|one| one.beyond() >= 0.0) {
            let Some(new) = new else { continue };
            let maps = [&own.map, &new.map];
            let [before, agreed] =
                self.scorer.agreements_among(self.device, maps, &rest.points, &rest.places, control).await?;
            if agreed >= before {
                return Ok(Some((drop, new)));
            }
        }
        Ok(None)
    }
}

/// What is left without a group, and the maps on it.
struct Compared<'a> {
    drop: Drop,
    rest: Rest<'a>,
    /// The best alignment of all rows, refined on those that are left.
    own: Fitted,
    /// Its nuclear norm, or that on all rows where this is larger.
    before: f64,
    /// The best of all others.
    new: Option<Fitted>,
}

impl Compared<'_> {
    /// How far the best other map is beyond what it has to be.
    fn beyond(&self) -> f64 {
        // A map that gets worse without the group had partners for it, right ones or not.
        let needed = self.before - self.own.norm > PARTNERED;
        let rise = if needed { 2.0 * RISE } else { RISE };
        self.new.as_ref().map_or(f64::MIN, |new| new.norm - self.before - rise)
    }

    fn add(&mut self, found: Fitted) {
        if self.new.as_ref().is_none_or(|new| found.norm > new.norm) {
            self.new = Some(found);
        }
    }
}
