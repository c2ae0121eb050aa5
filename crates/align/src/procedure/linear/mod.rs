//! Linear candidates: starts of several kinds, the different ones refined alike.

mod canonical;
mod fresh;
mod regrow;
mod run;
mod starts;

use super::control::{Control, Failure, Watching};
use super::selection::{Candidate, Look, Origin, Scorer, Start};
use super::transport::Coupling;
use super::{Settings, Sides};
use crate::geometry::Dense;
use crate::geometry::features::Preparation;
use crate::geometry::signature::REFERENCES;
use crate::geometry::skew::{COARSE, FINE, MOST, Rotation};
use crate::solver::infer::{Encoders, LinearMap};
use crate::solver::linear::{Stage, lift_schedule, refine_schedule, start_schedule};
use compute::exec::Device;
use compute::rng::Rng;
pub use regrow::{deep_size, search_size};
pub use starts::is_skewed;
use starts::noise;
pub(super) use starts::{Signatures, means, rotated, rotations, skewness};

pub(super) use canonical::Canonical;
pub use fresh::COORDINATES as FRESH_COORDINATES;
pub(super) use fresh::FreshMaps;
pub(super) use run::{From, Run, record};

/// Steps of a start, of a lift and of a round of refinement.
pub const START_STEPS: u32 = 100;
pub const LIFT_STEPS: u32 = 40;
pub const REFINE_STEPS: u32 = 20;
/// Rounds of refinement, at most: a second one finishes maps that were half right.
const ROUNDS: u32 = 3;
/// A map that a round changes less than this has arrived: 1 less the mean cosine of its columns before and after.
const ARRIVED: f64 = 2e-3;
/// Maps that are this much alike have arrived at the same place.
const ARRIVED_ALIKE: f64 = 0.995;
/// Points a side in a refinement, at most.
const REFINED: usize = 3000;

/// Points a side in a start. The more dimensions the map has, the more points it takes to tell the right one
/// from noise: with 100 dimensions 1200 points found it in one of three starts, 2000 in six of seven.
pub fn sample_size(dims: usize) -> usize {
    (20 * dims).clamp(400, 2500)
}

/// Points a side in a lift, which begins near its end.
pub fn lift_size(dims: usize) -> usize {
    (20 * dims).clamp(400, 800)
}

/// Points a side in a refinement that is there to compare candidates.
pub fn refine_size(dims: usize) -> usize {
    (20 * dims).clamp(600, REFINED)
}

/// Points a side that starts and refinements look at, where a side has more than signatures can be taken against: those of
/// all would take minutes, and of both sides the same share has to be missing.
const POOL: usize = 6_000;

/// The rows of both sides that are looked at.
fn pool(sides: &Sides, seed: u64) -> [Vec<usize>; 2] {
    let rows = sides.points().map(Dense::rows);
    if rows.iter().all(|&n| n <= REFERENCES) {
        return rows.map(|n| (0..n).collect());
    }
    let mut rng = Rng::new(seed ^ 0x706f_6f6c);
    rows.map(|n| rng.sample(n, POOL))
}

/// What linear encoders see of some rows of both sides.
fn seen(sides: &Sides, rows: [&[usize]; 2]) -> [Dense; 2] {
    [0, 1].map(|side| sides.seen(side, Preparation::Linear, &sides.points()[side].picked(rows[side])))
}

/// Starts on few rows, made while no two kinds agree.
pub const MORE_STARTS: [Start; 12] = {
    use Start::{Fused, Noise, Signature};
    [Fused, Signature, Fused, Noise, Fused, Signature, Fused, Noise, Fused, Signature, Fused, Noise]
};

/// With fewer rows than this for every coordinate, maps between fewer leading coordinates are tried as well.
const ROWS_A_COORDINATE: usize = 10;

/// A map that a start has come to, and how it looks on a few rows.
struct Begun {
    start: Start,
    /// Between how many leading coordinates of either side it maps; beyond them it is zero.
    coordinates: usize,
    map: Dense,
    look: Look,
}

/// The search for linear maps between two sides.
pub(super) struct Search<'a> {
    device: &'a Device,
    settings: &'a Settings,
    scorer: &'a Scorer<'a>,
    /// The rows that are looked at, and what linear encoders see of them.
    rows: [Vec<usize>; 2],
    points: [Dense; 2],
    /// The rotations of so many leading coordinates.
    rotations: Option<(usize, Vec<Rotation>)>,
    begun: Vec<Begun>,
    /// How the last start broke down that did.
    diverged: Option<Failure>,
    /// How well the third moments of two halves of either side agree.
    skewness: Option<[f64; 2]>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        device: &'a Device,
        sides: &Sides,
        settings: &'a Settings,
        scorer: &'a Scorer<'a>,
    ) -> Self {
        let rows = pool(sides, settings.seed);
        let points = seen(sides, [&rows[0], &rows[1]]);
        Self {
            device,
            settings,
            scorer,
            rows,
            points,
            rotations: None,
            begun: Vec::new(),
            diverged: None,
            skewness: None,
        }
    }

    /// Numbers of leading coordinates between which maps are looked for: all, and as few as the rows determine.
    fn spaces(&self) -> Vec<usize> {
        let [x, y] = self.points.each_ref();
        let all = x.cols().max(y.cols());
        let few = (x.rows().min(y.rows()) / ROWS_A_COORDINATE).max(2);
        // A few coordinates less would be the same search again.
        if 4 * few < 3 * x.cols().min(y.cols()) { vec![all, few] } else { vec![all] }
    }

    /// Some rows of both sides.
    fn sample(&self, size: usize, rng: &mut Rng) -> [Vec<usize>; 2] {
        self.points.each_ref().map(|side| rng.sample(side.rows(), size))
    }

    /// The leading coordinates of some rows of both sides.
    fn picked(&self, places: &[Vec<usize>; 2], coordinates: usize) -> [Dense; 2] {
        [0, 1].map(|side| leading(&self.points[side].picked(&places[side]), coordinates))
    }

    /// Rows of the data set, for showing.
    fn named(&self, places: &[Vec<usize>; 2]) -> [Vec<usize>; 2] {
        [0, 1].map(|side| places[side].iter().map(|&at| self.rows[side][at]).collect())
    }

    /// All starts that were asked for, but for those that would say again what two kinds have agreed on.
    pub(super) async fn start(&mut self, control: &mut impl Control) -> Result<(), Failure> {
        let mut signatures = Signatures::default();
        for coordinates in self.spaces() {
            self.start_between(coordinates, &mut signatures, control).await?;
        }
        Ok(())
    }

    /// The starts of maps between so many leading coordinates.
    async fn start_between(
        &mut self,
        coordinates: usize,
        signatures: &mut Signatures,
        control: &mut impl Control,
    ) -> Result<(), Failure> {
        let settings = self.settings;
        let mut tried: Vec<Start> = Vec::new();
        for (i, &start) in settings.starts.iter().chain(&MORE_STARTS[..settings.more_starts]).enumerate() {
            // One of each kind is always made, because only different kinds find out a symmetry.
            if tried.contains(&start) && self.kinds_agree() {
                continue;
            }
            // Further ones are made on few rows: that they differ counts for more than that each is good.
            let small = tried.contains(&start);
            tried.push(start);
            let mut rng = Rng::new(settings.seed.wrapping_mul(1_000).wrapping_add(i as u64));
            if start == Start::Skew {
                self.lift(coordinates, &mut rng, control).await?;
                continue;
            }
            let size = if small { 7 * search_size(coordinates) / 10 } else { sample_size(coordinates) };
            let places = self.sample(size, &mut rng);
            let within = [&places[0][..], &places[1][..]];
            let guide = match start {
                Start::Noise => {
                    let watch = &mut Watching::new(control, "describing points");
                    noise(places[0].len(), places[1].len(), &mut rng, watch).await?
                }
                _ => signatures.guide(self.points.each_ref(), within, settings.seed, control).await?,
            };
            let weight = f32::from(u8::from(start == Start::Fused));
            let from = From::Guide { guide, weight };
            let steps = if small { START_STEPS / 2 } else { START_STEPS };
            let (what, stages) = (format!("linear start {i}"), start_schedule(steps));
            self.begin(start, what, coordinates, places, from, &stages, control).await?;
        }
        Ok(())
    }

    /// Rotations of leading coordinates by third moments, each lifted to all coordinates that are wanted.
    async fn lift(
        &mut self,
        coordinates: usize,
        rng: &mut Rng,
        control: &mut impl Control,
    ) -> Result<(), Failure> {
        let most = coordinates.min(MOST);
        let sides = self.points.each_ref().map(|side| leading(side, most));
        if self.rotations.as_ref().is_none_or(|(of, _)| *of != most) {
            let seed = self.settings.seed;
            let own = skewness(sides.each_ref(), seed, control).await?;
            self.skewness = self.skewness.or(Some(own));
            let found = match is_skewed(own) {
                true => rotations(sides.each_ref(), seed, &[FINE, COARSE], control).await?,
                false => Vec::new(),
            };
            self.rotations = Some((most, found));
        }
        let found = self.rotations.as_ref().map_or_else(Vec::new, |(_, found)| found.clone());
        let means = sides.each_ref().map(means);
        for (i, rotation) in found.iter().enumerate() {
            let places = self.sample(lift_size(coordinates), rng);
            let [x, y] = self.picked(&places, coordinates);
            let guide = rotated(rotation, [&x, &y], [&means[0], &means[1]]);
            let (from, stages) = (From::Guide { guide, weight: 0.0 }, lift_schedule(LIFT_STEPS));
            self.begin(Start::Skew, format!("lift {i}"), coordinates, places, from, &stages, control).await?;
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)] // All of them say what is to be run.
    async fn begin(
        &mut self,
        start: Start,
        what: String,
        coordinates: usize,
        places: [Vec<usize>; 2],
        from: From,
        stages: &[Stage],
        control: &mut impl Control,
    ) -> Result<(), Failure> {
        let rows = self.named(&places);
        let points = self.picked(&places, coordinates);
        let what = format!("{what} of {coordinates}");
        let run = Run { what, rows: [&rows[0], &rows[1]], points, from };
        match run.play(self.device, stages, "linear starts", control).await {
            Ok(map) => self.add(start, coordinates, map, control).await,
            // Others may still succeed.
            Err(failure @ Failure::Diverged { .. }) => {
                self.diverged = Some(failure);
                Ok(())
            }
            Err(failure) => Err(failure),
        }
    }

    /// Adds a map between leading coordinates to what is compared.
    async fn add(
        &mut self,
        start: Start,
        coordinates: usize,
        map: Dense,
        control: &mut impl Control,
    ) -> Result<(), Failure> {
        let map = block(&map, self.points.each_ref().map(Dense::cols));
        let look = self.scorer.look(self.device, &map, coordinates, control).await?;
        self.begun.push(Begun { start, coordinates, map, look });
        Ok(())
    }

    /// Whether the start that looks best came from two kinds that have nothing in common.
    fn kinds_agree(&self) -> bool {
        let Some(best) = self.begun.iter().max_by(|a, b| a.look.strength.total_cmp(&b.look.strength)) else {
            return false;
        };
        self.begun
            .iter()
            .any(|other| !other.start.is_related(best.start) && self.scorer.agree(&best.look, &other.look))
    }

    fn same(&self, a: &Begun, b: &Begun) -> bool {
        self.scorer.same((&a.map, &a.look), (&b.map, &b.look))
    }

    /// The map nearest to what the `place`-th networks have found, from their plan between the judged rows; and whether it
    /// says the same as they do, nearly as well.
    pub(super) async fn follow(
        &mut self,
        sides: &Sides,
        (place, network, found): (usize, &Candidate, &Coupling<Dense>),
        control: &mut impl Control,
    ) -> Result<bool, Failure> {
        let rows = self.scorer.rows();
        // With the start's ε this guide's transport is that plan again.
        let stages: Vec<Stage> =
            start_schedule(0).into_iter().chain(refine_schedule(REFINE_STEPS).into_iter().skip(1)).collect();
        let eps = stages[0].eps;
        let (n, m) = (rows[0].len(), rows[1].len());
        let scale = (n * m) as f32;
        let guide = Dense::from_fn(n, m, |i, j| eps * (scale * found.plan.at(i, j)).max(1e-20).ln());
        let from = From::Guide { guide, weight: 0.0 };
        let run = Run { what: format!("refined network {place}"), rows, points: seen(sides, rows), from };
        let map = run.play(self.device, &stages, "refining", control).await?;
        let origin = Origin::Linear { start: Start::Network };
        let (nearest, _) = self.scorer.candidate(self.device, encoders(&map), origin, control).await?;
        self.add(Start::Network, usize::MAX, map, control).await?;
        Ok(self.scorer.expresses(&nearest, network))
    }

    /// How well the third moments of two halves of either side agree, where that was found out.
    pub(super) fn skewness(&self) -> Option<[f64; 2]> {
        self.skewness
    }

    /// The different maps, refined alike and scored.
    pub(super) async fn finish(mut self, control: &mut impl Control) -> Result<Vec<Candidate>, Failure> {
        if let (true, Some(failure)) = (self.begun.is_empty(), self.diverged.take()) {
            return Err(failure);
        }
        let agreed = self.kinds_agree();
        self.begun.sort_by(|a, b| b.look.strength.total_cmp(&a.look.strength));
        let mut begun: Vec<Begun> = Vec::new();
        for one in std::mem::take(&mut self.begun) {
            if !begun.iter().any(|other| self.same(other, &one)) {
                begun.push(one);
            }
        }
        let widest = self.points.each_ref().map(Dense::cols).into_iter().max().unwrap_or(0);
        let mut found: Vec<Candidate> = Vec::new();
        let mut arrived: Vec<Dense> = Vec::new();
        let spaces = self.spaces();
        // Where the rows do not determine maps between all coordinates, those between all and between few are compared by
        // what they reach on rows that they were not fitted on.
        let held_out = spaces.len() > 1;
        for coordinates in spaces {
            let of_space = begun.iter().filter(|one| one.coordinates.min(widest) == coordinates);
            let maps = of_space.map(|one| (one.start, one.map.clone())).collect();
            let maps = self.searched(maps, agreed, coordinates, control).await?;
            let by_chance = match held_out && !maps.is_empty() {
                true => Some(self.scorer.by_chance(self.device, coordinates, control).await?),
                false => None,
            };
            for (i, (start, map)) in maps.into_iter().take(self.settings.refined).enumerate() {
                let what = format!("refined {i} of {coordinates}");
                let scored = async {
                    let map = self.refined(&what, map, coordinates, control).await?;
                    if arrived.iter().any(|other| self.scorer.alike(other, &map) > ARRIVED_ALIKE) {
                        return Ok(None);
                    }
                    let space = (coordinates, by_chance);
                    let candidate = self.scorer.linear(self.device, &map, space, start, control).await?;
                    Ok(Some((candidate, map)))
                };
                match scored.await {
                    Ok(new) => {
                        if let Some((candidate, map)) = new {
                            found.push(candidate);
                            arrived.push(map);
                        }
                    }
                    // Others may still succeed.
                    Err(failure @ Failure::Diverged { .. }) => self.diverged = Some(failure),
                    Err(failure) => return Err(failure),
                }
            }
        }
        match self.diverged.filter(|_| found.is_empty()) {
            Some(failure) => Err(failure),
            None => Ok(found),
        }
    }

    /// Rounds of refinement, until one changes nothing.
    async fn refined(
        &self,
        what: &str,
        map: Dense,
        coordinates: usize,
        control: &mut impl Control,
    ) -> Result<Dense, Failure> {
        let mut rng = Rng::new(self.settings.seed ^ 0x7265_6669);
        let dims = self.points.each_ref().map(Dense::cols);
        let mut map = block(&map, dims.map(|d| d.min(coordinates)));
        for round in 0..ROUNDS {
            let places = self.sample(refine_size(map.rows().max(map.cols())), &mut rng);
            let rows = self.named(&places);
            let points = self.picked(&places, coordinates);
            let from = From::Map(map.clone());
            let run =
                Run { what: format!("{what}, round {round}"), rows: [&rows[0], &rows[1]], points, from };
            let next = run.play(self.device, &refine_schedule(REFINE_STEPS), "refining", control).await?;
            let overlap: f64 =
                map.data().iter().zip(next.data()).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
            map = next;
            let moved = 1.0 - overlap / map.rows().min(map.cols()) as f64;
            if moved < ARRIVED {
                break;
            }
        }
        Ok(block(&map, dims))
    }
}

/// Points around their mean.
pub(super) fn centred(points: &Dense) -> Dense {
    let middle = means(points);
    Dense::from_fn(points.rows(), points.cols(), |i, j| points.at(i, j) - middle[j])
}

/// The first coordinates of points, or all if there are fewer.
pub(super) fn leading(points: &Dense, coordinates: usize) -> Dense {
    if points.cols() <= coordinates {
        return points.clone();
    }
    Dense::from_fn(points.rows(), coordinates, |i, j| points.at(i, j))
}

/// The leading block of a map, filled up with zeros.
pub(super) fn block(map: &Dense, [rows, cols]: [usize; 2]) -> Dense {
    let within = |i: usize, j: usize| i < map.rows() && j < map.cols();
    Dense::from_fn(rows, cols, |i, j| if within(i, j) { map.at(i, j) } else { 0.0 })
}

/// Encoders of a map.
pub(super) fn encoders(map: &Dense) -> Encoders {
    Encoders::Linear { x: as_encoder(map), y: None }
}

pub(super) fn dense(map: &LinearMap) -> Dense {
    Dense::new(map.rows as usize, map.cols as usize, map.values.clone())
}

pub(super) fn as_encoder(map: &Dense) -> LinearMap {
    LinearMap { rows: map.rows() as u32, cols: map.cols() as u32, values: map.data().to_vec() }
}
