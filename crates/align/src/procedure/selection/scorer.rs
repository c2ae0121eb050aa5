//! What all candidates are scored on: the same rows, their distances and their ranks.

use super::scores::{Scores, cross_moments, halves, third_moment};
use super::{Alignment, Candidate, Origin, Start, mean};
use crate::geometry::Dense;
use crate::geometry::features::Preparation;
use crate::geometry::panel::Measure;
use crate::geometry::polar::nuclear_norm;
use crate::geometry::products::product;
use crate::geometry::ranks::mid_ranks_watched;
use crate::metrics::plan::{agreement_of, matches, spearman_of};
use crate::procedure::control::{Control, Failure, Watching};
use crate::procedure::linear::{From, block, encoders, leading, record};
use crate::procedure::transport::{COMPARABLE, Coupling, transport_until};
use crate::procedure::{Settings, Sides};
use crate::solver::infer::Encoders;
use crate::solver::linear::still_schedule;
use crate::solver::marginals::Relaxation;
use crate::solver::sinkhorn::uniform;
use crate::watch::{Cancelled, Watch};
use compute::exec::{Device, Executor};
use compute::plan::Plan;
use compute::rng::Rng;

/// Anchors of the rank correlation, at most. All distances from each of them count, so that a few hundred tell
/// candidates apart as well as all points do, at a fraction of the cost.
pub(super) const ANCHORS: usize = 400;
/// Rows that networks were not trained on, at least, for these to be what they are scored on.
const UNSEEN: usize = 20;
/// Rows a side of a look at a map.
pub const LOOKED: usize = 1000;
/// Anchors of a look.
const LOOK_ANCHORS: usize = 100;
/// ε of the plans from which linear maps are scored, relative to the deviation of the similarities, and how often
/// ten iterations are played.
pub(super) const EPS: f32 = 0.1;
pub(super) const PLAYED: u32 = 3;
/// Matches of one alignment lie this near in rank on average: 0 the same, ½ unrelated.
const SAME: f64 = 0.1;
/// Those of starts that agree lie this near: they were made on different rows.
const AGREED: f64 = 0.15;
/// Two maps that are this much alike are one alignment.
const ALIKE: f64 = 0.98;

/// Distances and ranks of the judged rows, once for all candidates.
pub(in crate::procedure) struct Scorer<'a> {
    sides: &'a Sides,
    pub(super) rows: [Vec<usize>; 2],
    points: [Dense; 2],
    /// What linear maps see of these points.
    pub(super) linear: [Dense; 2],
    /// The lengths of the columns of either.
    spreads: [Vec<f64>; 2],
    /// Both halves of the rows of either side.
    pub(super) halves: [[Vec<usize>; 2]; 2],
    pub(super) panel: Vec<Scale>,
    /// Known pairs, as places among the judged rows.
    known: Vec<(usize, usize)>,
    /// Those of X's judged rows from which distances are compared.
    anchors: Vec<usize>,
    /// Places of the rows of a look, and their ranks by the first measure.
    looked: Looked,
    eps: f32,
    pub(super) seed: u64,
}

/// One measure of the panel on the judged rows.
pub(super) struct Scale {
    measure: Measure,
    distances: [Dense; 2],
    pub(super) ranks: [Dense; 2],
}

/// What first looks have in common.
struct Looked {
    rows: [Vec<usize>; 2],
    ranks: [Dense; 2],
}

/// A first look at a map.
pub(in crate::procedure) struct Look {
    /// The product of its rank agreement and its nuclear norm: a map has to do well in both to be refined first.
    pub(in crate::procedure) strength: f64,
    matches: Vec<usize>,
}

impl<'a> Scorer<'a> {
    pub(in crate::procedure) async fn new(
        sides: &'a Sides,
        settings: &Settings,
        control: &mut impl Control,
    ) -> Result<Self, Failure> {
        let watch = &mut Watching::new(control, "measuring distances");
        let chosen = sides.judged(settings.seed);
        let [x, y] = sides.points();
        let points = [x.picked(&chosen[0]), y.picked(&chosen[1])];
        let mut panel: Vec<Scale> = Vec::new();
        for measure in settings.panel(sides) {
            let (mut distances, mut ranks) = (Vec::new(), Vec::new());
            for (side, distance) in measure.sides().into_iter().enumerate() {
                // Measures may have a side in common.
                if let Some(scale) = panel.iter().find(|scale| scale.measure.sides()[side] == distance) {
                    distances.push(scale.distances[side].clone());
                    ranks.push(scale.ranks[side].clone());
                    continue;
                }
                let search = settings.neighbours;
                let far = sides.within(side, distance, &chosen[side], search, watch).await?;
                ranks.push(mid_ranks_watched(&far, &uniform(far.cols() as u32), watch).await?);
                distances.push(far);
            }
            if let (Ok(distances), Ok(ranks)) = (distances.try_into(), ranks.try_into()) {
                panel.push(Scale { measure, distances, ranks });
            }
        }
        let anchors = spread(chosen[0].len(), ANCHORS);
        let place = |side: usize, row: usize| chosen[side].binary_search(&row).ok();
        let known = sides.known().iter().filter_map(|&(i, j)| Some((place(0, i)?, place(1, j)?))).collect();
        let linear = [0, 1].map(|side| sides.seen(side, Preparation::Linear, &points[side]));
        let spreads = linear.each_ref().map(|side| {
            let column =
                |j: usize| (0..side.rows()).map(|i| f64::from(side.at(i, j)).powi(2)).sum::<f64>().sqrt();
            (0..side.cols()).map(column).collect()
        });
        let halves = points.each_ref().map(|side| halves(side.rows(), settings.seed));
        let looked = Looked::new(&panel, settings.seed, watch).await?;
        let Settings { eps, seed, .. } = *settings;
        Ok(Self {
            sides,
            rows: chosen,
            points,
            linear,
            spreads,
            halves,
            panel,
            known,
            anchors,
            looked,
            eps,
            seed,
        })
    }

    /// The judged rows of both sides.
    pub(in crate::procedure) fn rows(&self) -> [&[usize]; 2] {
        [&self.rows[0], &self.rows[1]]
    }

    /// The scores that any plan has.
    fn scores(&self, spearman: &[f64], plan: &Dense) -> Scores {
        let known_pairs = (!self.known.is_empty()).then(|| agreement_of(plan, &self.known));
        Scores { spearman: mean(spearman), known_pairs, ..Scores::default() }
    }

    /// The measures of the panel.
    pub(in crate::procedure) fn measures(&self) -> Vec<Measure> {
        self.panel.iter().map(|scale| scale.measure).collect()
    }

    /// Distances among the judged rows, by the `index`-th measure.
    pub(in crate::procedure) fn distances(&self, index: usize) -> &[Dense; 2] {
        &self.panel[index].distances
    }

    /// Applies encoders to the judged rows.
    async fn couple(
        &self,
        device: &Device,
        encoders: &Encoders,
        origin: Origin,
        control: &mut impl Control,
    ) -> Result<Coupling<Dense>, Failure> {
        let preparations = origin.preparations();
        let [x, y] = [0, 1].map(|side| self.sides.seen(side, preparations[side], &self.points[side]));
        // Relaxed plans were worse to choose by: what has no partner is not counted against a candidate.
        let relaxation = Relaxation::STRICT;
        transport_until(COMPARABLE, device, encoders, [&x, &y], self.eps, relaxation, control).await
    }

    /// Applies encoders to the judged rows and scores the plan, which comes with the candidate.
    pub(in crate::procedure) async fn candidate(
        &self,
        device: &Device,
        encoders: Encoders,
        origin: Origin,
        control: &mut impl Control,
    ) -> Result<(Candidate, Coupling<Dense>), Failure> {
        self.candidate_from(&self.anchors, device, encoders, origin, control).await
    }

    /// As [`Scorer::candidate`], for networks that were trained on these rows of X: the distances from the others count, as
    /// long as there are enough.
    pub(in crate::procedure) async fn trained(
        &self,
        rows: &[usize],
        device: &Device,
        encoders: Encoders,
        origin: Origin,
        control: &mut impl Control,
    ) -> Result<(Candidate, Coupling<Dense>), Failure> {
        let mut unseen: Vec<usize> = (0..self.rows[0].len()).collect();
        unseen.retain(|&place| !rows.contains(&self.rows[0][place]));
        let anchors = match unseen.len() < UNSEEN {
            true => self.anchors.clone(),
            false => spread(unseen.len(), ANCHORS).into_iter().map(|at| unseen[at]).collect(),
        };
        self.candidate_from(&anchors, device, encoders, origin, control).await
    }

    async fn candidate_from(
        &self,
        anchors: &[usize],
        device: &Device,
        encoders: Encoders,
        origin: Origin,
        control: &mut impl Control,
    ) -> Result<(Candidate, Coupling<Dense>), Failure> {
        let coupling = self.couple(device, &encoders, origin, control).await?;
        let watch = &mut Watching::new(control, "matching");
        let spearman = self.spearman_from(anchors, &coupling.plan, watch).await?;
        let scores = self.scores(&spearman, &coupling.plan);
        let (matches, error) = (coupling.matches(), coupling.error);
        let score = scores.total();
        let (fitted, expressed) = (score, false);
        Ok((
            Candidate {
                encoders,
                origin,
                spearman,
                score,
                fitted,
                expressed,
                scores,
                difference: 0.0,
                matches,
                error,
            },
            coupling,
        ))
    }

    /// Scores a linear map between so many leading coordinates in every way: on rows that it was not fitted on where it is
    /// known what these agree by chance.
    pub(in crate::procedure) async fn linear(
        &self,
        device: &Device,
        map: &Dense,
        (coordinates, by_chance): (usize, Option<f64>),
        start: Start,
        control: &mut impl Control,
    ) -> Result<Candidate, Failure> {
        let origin = Origin::Linear { start };
        let (mut candidate, _) = self.candidate(device, encoders(map), origin, control).await?;
        if let Some(by_chance) = by_chance {
            self.hold_out(device, map, (coordinates, by_chance), &mut candidate, control).await?;
            return Ok(candidate);
        }
        let [x, y] = self.linear.each_ref().map(|side| leading(side, coordinates));
        let map = block(map, [x.cols(), y.cols()]);
        let plan = plan_of(device, [&x, &y], &map, (EPS, PLAYED), control).await?;
        candidate.scores.nuclear_norm = Some(nuclear_norm(&cross_moments(&plan, [&x, &y])));
        let watch = &mut Watching::new(control, "matching");
        candidate.scores.third_moment = Some(third_moment(&product(&x, &map), &y, watch).await?);
        Ok(candidate)
    }

    /// What linear maps see of the judged rows.
    pub(in crate::procedure) fn prepared(&self) -> &[Dense; 2] {
        &self.linear
    }

    /// The rank agreement of two maps between some of the judged rows only.
    pub(in crate::procedure) async fn agreements_among(
        &self,
        device: &Device,
        maps: [&Dense; 2],
        points: &[Dense; 2],
        places: &[Vec<usize>; 2],
        control: &mut impl Control,
    ) -> Result<[f64; 2], Failure> {
        let [x, y] = points.each_ref();
        let mut plans = Vec::with_capacity(maps.len());
        for map in maps {
            let (encoders, strict) = (encoders(map), Relaxation::STRICT);
            let found = transport_until(COMPARABLE, device, &encoders, [x, y], self.eps, strict, control);
            plans.push(found.await?.plan);
        }
        let watch = &mut Watching::new(control, "matching");
        let anchors = spread(x.rows(), LOOK_ANCHORS);
        let mut sums = [0.0; 2];
        for scale in &self.panel {
            let mut ranks = Vec::with_capacity(2);
            for (far, rows) in scale.distances.iter().zip(places) {
                let part = Dense::from_fn(rows.len(), rows.len(), |i, j| far.at(rows[i], rows[j]));
                ranks.push(mid_ranks_watched(&part, &uniform(rows.len() as u32), watch).await?);
            }
            for (sum, plan) in sums.iter_mut().zip(&plans) {
                *sum += spearman_of(&anchors, &ranks[0], &ranks[1], plan, watch).await?;
            }
        }
        Ok(sums.map(|sum| sum / self.panel.len().max(1) as f64))
    }

    /// A first look at a map, on few rows.
    pub(in crate::procedure) async fn look(
        &self,
        device: &Device,
        map: &Dense,
        coordinates: usize,
        control: &mut impl Control,
    ) -> Result<Look, Failure> {
        let [x, y] = [0, 1].map(|side| self.linear[side].picked(&self.looked.rows[side]));
        let plan = plan_of(device, [&x, &y], map, (EPS, PLAYED), control).await?;
        let [lx, ly] = [&x, &y].map(|side| leading(side, coordinates));
        let nuclear_norm = nuclear_norm(&cross_moments(&plan, [&lx, &ly]));
        let [rx, ry] = &self.looked.ranks;
        let watch = &mut Watching::new(control, "matching");
        let spearman = spearman_of(&spread(rx.rows(), LOOK_ANCHORS), rx, ry, &plan, watch).await?;
        Ok(Look { strength: spearman.max(0.0) * nuclear_norm.max(0.0), matches: matches(&plan) })
    }

    /// Whether two maps are the same alignment, as their looks show it or as all similarities do.
    pub(in crate::procedure) fn same(
        &self,
        (a, look_a): (&Dense, &Look),
        (b, look_b): (&Dense, &Look),
    ) -> bool {
        self.apart(look_a, look_b) < SAME || self.alike(a, b) > ALIKE
    }

    /// Whether two starts have come to the same alignment, as far as their rows tell.
    pub(in crate::procedure) fn agree(&self, a: &Look, b: &Look) -> bool {
        self.apart(a, b) < AGREED
    }

    fn apart(&self, a: &Look, b: &Look) -> f64 {
        apart(&self.looked.ranks[1], &a.matches, &b.matches)
    }

    /// How alike two maps are: the correlation of their entries, each weighted by the deviations of the two coordinates
    /// that it joins. Variances instead would not see that weaker coordinates are mirrored.
    pub(in crate::procedure) fn alike(&self, a: &Dense, b: &Dense) -> f64 {
        let [sx, sy] = &self.spreads;
        let inner = |a: &Dense, b: &Dense| -> f64 {
            let row = |(i, sx): (usize, &f64)| -> f64 {
                let entries = a.row(i).iter().zip(b.row(i)).zip(sy);
                sx * entries.map(|((a, b), sy)| sy * f64::from(*a) * f64::from(*b)).sum::<f64>()
            };
            sx.iter().enumerate().map(row).sum()
        };
        let scale = (inner(a, a) * inner(b, b)).sqrt();
        if scale > 0.0 { inner(a, b) / scale } else { 0.0 }
    }

    /// The rank agreement of a plan between all points, of which the judged rows count.
    pub(in crate::procedure) async fn agreement_of_whole(
        &self,
        coupling: &Coupling,
        control: &mut impl Control,
    ) -> Result<f64, Failure> {
        let watch = &mut Watching::new(control, "taking figures");
        Ok(mean(&self.spearman(&self.part(coupling), watch).await?))
    }

    /// Encoders whose plan between all points is there already, as the only candidate.
    pub(in crate::procedure) async fn only(
        &self,
        encoders: Encoders,
        origin: Origin,
        coupling: &Coupling,
        control: &mut impl Control,
    ) -> Result<Alignment, Failure> {
        let part = self.part(coupling);
        let watch = &mut Watching::new(control, "taking figures");
        let spearman = self.spearman(&part, watch).await?;
        let scores = self.scores(&spearman, &part);
        let (score, matches, error) = (scores.total(), matches(&part), coupling.error);
        let candidate = Candidate {
            encoders,
            origin,
            spearman,
            score,
            fitted: score,
            expressed: false,
            scores,
            difference: 0.0,
            matches,
            error,
        };
        Ok(Alignment::only(candidate))
    }

    /// The plan between the judged rows.
    fn part(&self, coupling: &Coupling) -> Dense {
        let [x, y] =
            self.rows.each_ref().map(|rows| rows.iter().map(|&row| row as u32).collect::<Vec<u32>>());
        coupling.plan.part(&x, &y)
    }

    /// The plan Spearman by every measure of the panel.
    async fn spearman(&self, plan: &Dense, watch: &mut impl Watch) -> Result<Vec<f64>, Cancelled> {
        self.spearman_from(&self.anchors, plan, watch).await
    }

    async fn spearman_from(
        &self,
        anchors: &[usize],
        plan: &Dense,
        watch: &mut impl Watch,
    ) -> Result<Vec<f64>, Cancelled> {
        let mut each = Vec::with_capacity(self.panel.len());
        for Scale { ranks: [x, y], .. } in &self.panel {
            each.push(spearman_of(anchors, x, y, plan, watch).await?);
        }
        Ok(each)
    }

    /// How far apart the matches of two candidates lie, in ranks of Y's distances: 0 the same, ½ unrelated.
    pub(super) fn difference(&self, a: &Candidate, b: &Candidate) -> f64 {
        apart(&self.panel[0].ranks[1], &a.matches, &b.matches)
    }
}

/// The plan of a map between all these points at one ε, after so many times ten iterations.
pub(in crate::procedure) async fn plan_of(
    device: &Device,
    points: [&Dense; 2],
    map: &Dense,
    (eps, played): (f32, u32),
    control: &mut impl Control,
) -> Result<Dense, Failure> {
    let (n, m) = (points[0].rows(), points[1].rows());
    let mut plan = Plan::new();
    let linear = record(&mut plan, &still_schedule(eps, played), points, &From::Map(map.clone()));
    let mut executor = device.prepare(plan).await?;
    for _ in 0..played {
        executor.submit(linear.resume, 1)?;
        executor.settle(1).await?;
    }
    let watch = &mut Watching::new(control, "matching");
    watch.step(1.0).await?;
    Ok(Dense::new(n, m, executor.read(linear.coupling.buf).await?))
}

/// The nuclear norm of `XᵀΠY`, 1 for points of which each pair coincides.
pub(in crate::procedure) fn norm_of(plan: &Dense, points: [&Dense; 2]) -> f64 {
    nuclear_norm(&cross_moments(plan, points))
}

impl Looked {
    async fn new(panel: &[Scale], seed: u64, watch: &mut impl Watch) -> Result<Self, Failure> {
        let Some(scale) = panel.first() else {
            return Err(Failure::Input("No distance was asked for: choose at least one.".into()));
        };
        // Files are often in the order of what they hold, so the first rows would be of one kind.
        let mut rng = Rng::new(seed ^ 0x6c6f_6f6b);
        let rows = scale.distances.each_ref().map(|far| rng.sample(far.rows(), LOOKED));
        let mut ranks = scale.ranks.clone();
        for side in [0, 1] {
            let (far, rows) = (&scale.distances[side], &rows[side]);
            let part = Dense::from_fn(rows.len(), rows.len(), |i, j| far.at(rows[i], rows[j]));
            ranks[side] = mid_ranks_watched(&part, &uniform(rows.len() as u32), watch).await?;
        }
        Ok(Self { rows, ranks })
    }
}

/// How far apart matches lie, in ranks of Y's distances.
fn apart(ranks: &Dense, a: &[usize], b: &[usize]) -> f64 {
    let sum: f64 = a.iter().zip(b).map(|(&a, &b)| f64::from(ranks.at(a, b))).sum();
    sum / a.len().max(1) as f64
}

/// Up to `most` of `n` rows, evenly.
pub(super) fn spread(n: usize, most: usize) -> Vec<usize> {
    let count = n.min(most);
    (0..count).map(|i| i * n / count).collect()
}
