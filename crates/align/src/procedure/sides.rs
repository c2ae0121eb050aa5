//! The two data sets, and what the encoders see of them.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::Failure;
use crate::geometry::Dense;
use crate::geometry::features::{Features, Preparation};
use crate::geometry::nearest::SearchChoice;
use crate::geometry::panel::{Distance, Measure, default_panel};
use crate::geometry::terrain::Terrain;
use crate::geometry::units::{Unit, below_normal};
use crate::watch::Watch;
use compute::rng::Rng;

/// Points of both sides, with their features fitted, and their distances if these came along. Each table is held in a unit
/// of its own ([`Unit`]), so that it does not matter in which it was given.
pub struct Sides {
    points: [Dense; 2],
    units: [Unit; 2],
    /// How many values of each side are too small for all their digits.
    below_normal: [usize; 2],
    given: Option<[Dense; 2]>,
    shared: Option<[Dense; 2]>,
    known: Vec<(usize, usize)>,
    features: [Vec<(Preparation, Features)>; 2],
    /// What geodesics between a part of the points follow, made when it is first asked for: by whether neighbours are to be
    /// looked for approximately.
    terrain: [[OnceLock<Terrain>; 2]; 2],
}

/// Products of two numbers between two looks at who is watching.
const TURNED: usize = 200_000_000;

/// The most points a side on which candidates are compared.
pub const JUDGED: usize = 2000;

impl Sides {
    /// Checks the points: at least four a side, all finite, not all the same.
    pub fn new(x: Dense, y: Dense) -> Result<Self, Failure> {
        let sides = Self::unfitted(x, y)?;
        let fit = |side| Preparation::ALL.into_iter().map(|p| (p, Features::fit(side, p))).collect();
        let features = sides.points.each_ref().map(fit);
        Ok(Self { features, ..sides })
    }

    /// As [`Sides::new`], which takes its time where there are many points.
    pub async fn watched(x: Dense, y: Dense, watch: &mut impl Watch) -> Result<Self, Failure> {
        Self::unfitted(x, y)?.fitted(watch).await
    }

    fn unfitted(x: Dense, y: Dense) -> Result<Self, Failure> {
        for (name, side) in [("first", &x), ("second", &y)] {
            check(name, side).map_err(Failure::Input)?;
        }
        let units = [&x, &y].map(Unit::of);
        let below_normal = [&x, &y].map(below_normal);
        let points = [units[0].scaled(x), units[1].scaled(y)];
        for (name, side, unit) in [("first", &points[0], units[0]), ("second", &points[1], units[1])] {
            if all_same(side) {
                let largest = 1.0 / unit.factor();
                return Err(Failure::Input(format!(
                    "Beside its largest values (about {largest:.0e}) all rows of the {name} data set are the same. Remove the column that holds these values, or treat them as missing."
                )));
            }
        }
        Ok(Self { units, below_normal, ..Self::bare(points) })
    }

    /// Points that are in their unit, without anything else.
    fn bare(points: [Dense; 2]) -> Self {
        Self {
            points,
            units: Default::default(),
            below_normal: [0; 2],
            given: None,
            shared: None,
            known: Vec::new(),
            features: Default::default(),
            terrain: Default::default(),
        }
    }

    async fn fitted(mut self, watch: &mut impl Watch) -> Result<Self, Failure> {
        for (points, features) in self.points.iter().zip(&mut self.features) {
            for preparation in Preparation::ALL {
                features.push((preparation, Features::fit_watched(points, preparation, watch).await?));
            }
        }
        Ok(self)
    }

    /// Points with the distances within each side.
    pub fn with_distances(x: Dense, y: Dense, dx: Dense, dy: Dense) -> Result<Self, Failure> {
        Self::new(x, y)?.measured(dx, dy)
    }

    /// Adds the distances within each side, which need not be distances of these points nor symmetric. The encoders still
    /// see the points; what their plan has to carry over are these distances.
    pub fn measured(self, dx: Dense, dy: Dense) -> Result<Self, Failure> {
        for (name, points, distances) in [("first", &self.points[0], &dx), ("second", &self.points[1], &dy)] {
            check_distances(name, points.rows(), distances).map_err(Failure::Input)?;
        }
        let below_normal = [&dx, &dy].map(below_normal);
        let below_normal = [0, 1].map(|side| self.below_normal[side] + below_normal[side]);
        let given = [dx, dy].map(|distances| Unit::of(&distances).scaled(distances));
        Ok(Self { given: Some(given), below_normal, ..self })
    }

    /// Adds features that both sides have, one row a point and the same columns on both sides.
    pub fn sharing(self, x: Dense, y: Dense) -> Result<Self, Failure> {
        for (name, points, shared) in [("first", &self.points[0], &x), ("second", &self.points[1], &y)] {
            if points.rows() != shared.rows() || shared.data().iter().any(|v| !v.is_finite()) {
                return Err(Failure::Input(format!(
                    "The shared features of the {name} data set have {} rows, its points {}; every point needs its own row of finite numbers.",
                    shared.rows(),
                    points.rows()
                )));
            }
        }
        if x.cols() != y.cols() {
            return Err(Failure::Input(format!(
                "The shared features have {} columns on one side and {} on the other. Give the same columns, in the same order, on both.",
                x.cols(),
                y.cols()
            )));
        }
        // One unit for both, because their values are compared with each other.
        let unit = Unit::of(&x).larger(Unit::of(&y));
        Ok(Self { shared: Some([x, y].map(|side| unit.scaled(side))), ..self })
    }

    /// Adds pairs that are known to belong together, as row numbers.
    pub fn knowing(self, known: Vec<(usize, usize)>) -> Result<Self, Failure> {
        let [n, m] = self.points.each_ref().map(Dense::rows);
        if let Some((i, j)) = known.iter().find(|(i, j)| *i >= n || *j >= m) {
            return Err(Failure::Input(format!(
                "The pair of rows {i} and {j} (counted from 0) does not exist: there are {n} and {m} rows."
            )));
        }
        Ok(Self { known, ..self })
    }

    /// Some rows of both sides, with what is known of them.
    pub async fn part(&self, rows: [&[usize]; 2], watch: &mut impl Watch) -> Result<Self, Failure> {
        let points = [0, 1].map(|side| self.points[side].picked(rows[side]));
        for (name, side) in [("first", &points[0]), ("second", &points[1])] {
            check(name, side).map_err(Failure::Input)?;
        }
        // The unit is that of all rows, so that a part of them is what it is among all.
        let mut part = Self { units: self.units, ..Self::bare(points) }.fitted(watch).await?;
        if let Some(given) = &self.given {
            let given = [0, 1].map(|side| {
                let (whole, rows) = (&given[side], rows[side]);
                Dense::from_fn(rows.len(), rows.len(), |i, j| whole.at(rows[i], rows[j]))
            });
            for (name, distances) in [("first", &given[0]), ("second", &given[1])] {
                check_distances(name, distances.rows(), distances).map_err(Failure::Input)?;
            }
            part.given = Some(given);
        }
        part.shared = self.shared.as_ref().map(|all| [0, 1].map(|side| all[side].picked(rows[side])));
        part.known = pairs_within(rows, &self.known);
        Ok(part)
    }

    /// All tables that a run depends on.
    pub(super) fn tables(&self) -> impl Iterator<Item = &Dense> {
        self.points.iter().chain(self.given.iter().flatten()).chain(self.shared.iter().flatten())
    }

    /// Features that both sides have.
    pub fn shared(&self) -> Option<&[Dense; 2]> {
        self.shared.as_ref()
    }

    /// Pairs that are known to belong together.
    pub fn known(&self) -> &[(usize, usize)] {
        &self.known
    }

    /// The measures that are tried when none is asked for: the distances that came along, or as the columns suggest.
    pub fn default_panel(&self) -> Vec<Measure> {
        match self.given {
            Some(_) => vec![Measure::same(Distance::Given)],
            None => default_panel(self.dims()),
        }
    }

    /// Distances within the chosen rows of one side. Geodesics between a part of the points follow the cloud of all.
    pub async fn within(
        &self,
        side: usize,
        distance: Distance,
        chosen: &[usize],
        search: SearchChoice,
        watch: &mut impl Watch,
    ) -> Result<Dense, Failure> {
        if let (Distance::Given, Some(given)) = (distance, &self.given) {
            let whole = &given[side];
            return Ok(Dense::from_fn(chosen.len(), chosen.len(), |i, j| whole.at(chosen[i], chosen[j])));
        }
        let points = &self.points[side];
        let trees = search == SearchChoice::Approximate;
        if distance == Distance::Geodesic && (trees || chosen.len() < points.rows()) {
            let held = &self.terrain[side][usize::from(trees)];
            let terrain = match held.get() {
                Some(terrain) => terrain,
                None => {
                    let made = Terrain::new(points, Terrain::MOST, search, watch).await?;
                    held.get_or_init(|| made)
                }
            };
            return Ok(terrain.geodesics(points, chosen, watch).await?);
        }
        distance.matrix_watched(&points.picked(chosen), watch).await?.ok_or_else(|| {
            Failure::Input(format!(
                "The measure \u{201c}{}\u{201d} was asked for, but no distances came with the data. Add a matrix of distances for each data set, or choose another measure.",
                distance.name()
            ))
        })
    }

    /// The points of both sides, in their units.
    pub fn points(&self) -> [&Dense; 2] {
        self.points.each_ref()
    }

    /// What the values of a side were divided by.
    pub fn unit(&self, side: usize) -> Unit {
        self.units[side]
    }

    /// New points of a side, brought into its unit.
    pub fn in_unit(&self, side: usize, points: &Dense) -> Dense {
        self.units[side].scaled(points.clone())
    }

    /// How many values of a side are below the smallest normal number of 32 bits, so that digits of them are lost.
    pub fn below_normal(&self, side: usize) -> usize {
        self.below_normal[side]
    }

    /// The columns of both sides.
    pub fn dims(&self) -> [usize; 2] {
        self.points.each_ref().map(Dense::cols)
    }

    /// How a side is prepared, fitted to it.
    pub fn features(&self, side: usize, preparation: Preparation) -> Option<&Features> {
        self.features[side].iter().find(|(p, _)| *p == preparation).map(|(_, features)| features)
    }

    /// What the encoders see of any points of one side, which are in its unit.
    pub fn seen(&self, side: usize, preparation: Preparation, points: &Dense) -> Dense {
        self.features(side, preparation).map_or_else(|| points.clone(), |features| features.apply(points))
    }

    /// What the encoders see of all points.
    pub async fn inputs(
        &self,
        preparations: [Preparation; 2],
        watch: &mut impl Watch,
    ) -> Result<[Dense; 2], Failure> {
        let x = self.seen_watched(0, preparations[0], [0.0, 0.5], watch).await?;
        Ok([x, self.seen_watched(1, preparations[1], [0.5, 1.0], watch).await?])
    }

    /// As [`Sides::seen`] for all points of a side, some at a time: turning them takes a while where they are long.
    async fn seen_watched(
        &self,
        side: usize,
        preparation: Preparation,
        [start, end]: [f64; 2],
        watch: &mut impl Watch,
    ) -> Result<Dense, Failure> {
        let all = &self.points[side];
        let together = (TURNED / (all.cols() * all.cols()).max(1)).clamp(1, all.rows());
        let (mut data, mut cols) = (Vec::new(), all.cols());
        for rows in all.data().chunks(together * all.cols().max(1)) {
            let seen =
                self.seen(side, preparation, &Dense::new(rows.len() / all.cols(), all.cols(), rows.to_vec()));
            cols = seen.cols();
            if data.is_empty() {
                data.reserve_exact(all.rows() * cols);
            }
            data.extend_from_slice(seen.data());
            watch.step(start + (end - start) * (data.len() / cols.max(1)) as f64 / all.rows() as f64).await?;
        }
        Ok(Dense::new(all.rows(), cols, data))
    }

    /// Whether a side has more rows than candidates are compared on.
    pub fn is_large(&self, side: usize) -> bool {
        self.points[side].rows() > JUDGED
    }

    /// The rows of each side on which candidates are compared: all, or a sample of them that holds known pairs.
    pub fn judged(&self, seed: u64) -> [Vec<usize>; 2] {
        let mut rng = Rng::new(seed ^ 0x6a75_6467);
        let known = &self.known[..self.known.len().min(JUDGED / 2)];
        let pinned = [known.iter().map(|p| p.0).collect::<Vec<_>>(), known.iter().map(|p| p.1).collect()];
        [0, 1].map(|side| {
            let mut rows = sample_with(&pinned[side], self.points[side].rows(), JUDGED, &mut rng);
            rows.sort_unstable();
            rows
        })
    }
}

/// Those pairs both of whose rows are among the chosen ones, as places among these.
pub fn pairs_within(rows: [&[usize]; 2], pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let places =
        rows.map(|rows| rows.iter().enumerate().map(|(at, row)| (*row, at)).collect::<HashMap<_, _>>());
    pairs.iter().filter_map(|(i, j)| Some((*places[0].get(i)?, *places[1].get(j)?))).collect()
}

/// A sample of up to `most` of `n` rows, all different, that begins with the pinned ones.
pub(super) fn sample_with(pinned: &[usize], n: usize, most: usize, rng: &mut Rng) -> Vec<usize> {
    if pinned.is_empty() {
        return rng.sample(n, most);
    }
    let mut taken = vec![false; n];
    let mut rows = Vec::with_capacity(most.min(n));
    for row in pinned.iter().copied().chain(rng.sample(n, n)) {
        if rows.len() < most && !std::mem::replace(&mut taken[row], true) {
            rows.push(row);
        }
    }
    rows
}

fn all_same(side: &Dense) -> bool {
    (1..side.rows()).all(|i| side.row(i) == side.row(0))
}

/// What is wrong with a side, and what to do about it.
fn check(name: &str, side: &Dense) -> Result<(), String> {
    let (rows, cols) = (side.rows(), side.cols());
    if rows < 4 || cols == 0 {
        return Err(format!(
            "The {name} data set has {rows} rows and {cols} columns. An alignment needs at least 4 rows and 1 column."
        ));
    }
    if let Some(at) = side.data().iter().position(|v| !v.is_finite()) {
        let (row, col) = (at / cols + 1, at % cols + 1);
        return Err(format!(
            "The {name} data set has a value that is not a number in row {row}, column {col}. Fill it in, or remove that row or column."
        ));
    }
    if all_same(side) {
        return Err(format!(
            "All {rows} rows of the {name} data set are the same, so nothing tells them apart."
        ));
    }
    Ok(())
}

/// What is wrong with the distances within a side of so many rows, and what to do about it.
fn check_distances(name: &str, points: usize, distances: &Dense) -> Result<(), String> {
    let (rows, cols) = (distances.rows(), distances.cols());
    if rows != cols {
        return Err(format!(
            "The distances of the {name} data set have {rows} rows and {cols} columns. They have to be square: a row and a column for every point."
        ));
    }
    if rows != points {
        return Err(format!(
            "The distances of the {name} data set are between {rows} points, but the data set has {points} rows. Give both for the same points, in the same order."
        ));
    }
    if let Some(at) = distances.data().iter().position(|v| !v.is_finite() || *v < 0.0) {
        let (row, col, value) = (at / cols + 1, at % cols + 1, distances.data()[at]);
        let what = if value < 0.0 && value.is_finite() { "is negative" } else { "is not a finite number" };
        return Err(format!(
            "The distance {value} in row {row}, column {col} of the {name} data set {what}. Distances are 0 or more: subtract similarities from their largest value, and fill in what is missing."
        ));
    }
    // Points may be tied, but ranks need some row in which they are not.
    if (0..rows).all(|i| (0..cols).all(|j| i == j || distances.at(i, j) == distances.at(i, (i + 1) % cols))) {
        return Err(format!(
            "All distances within each row of the {name} data set are the same, so nothing tells its points apart."
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::{Count, NoWatch, unwatched};

    #[test]
    fn unusable_data_is_refused_with_the_place() {
        let good = || Dense::from_fn(5, 2, |i, j| (i * 2 + j) as f32);
        let refused = |x: Dense, y: Dense| Sides::new(x, y).err().map(|e| e.to_string()).unwrap_or_default();
        let hole = Dense::from_fn(5, 2, |i, j| if (i, j) == (3, 1) { f32::NAN } else { (i + j) as f32 });
        assert!(
            refused(good(), hole)
                .contains("second data set has a value that is not a number in row 4, column 2")
        );
        assert!(refused(Dense::new(3, 1, vec![1.0, 2.0, 3.0]), good()).contains("first data set has 3 rows"));
        assert!(refused(good(), Dense::new(4, 1, vec![2.0; 4])).contains("All 4 rows of the second"));
        assert!(Sides::new(good(), good()).is_ok());
    }

    #[test]
    fn unusable_distances_are_refused_with_the_place() {
        let points = || Dense::from_fn(5, 2, |i, j| (i * 2 + j) as f32);
        let good = || Dense::from_fn(5, 5, |i, j| i.abs_diff(j) as f32);
        let with = |at: (usize, usize), value: f32| {
            Dense::from_fn(5, 5, |i, j| if (i, j) == at { value } else { i.abs_diff(j) as f32 })
        };
        let refused = |dx: Dense, dy: Dense| {
            let sides = Sides::with_distances(points(), points(), dx, dy);
            sides.err().map(|e| e.to_string()).unwrap_or_default()
        };
        assert_eq!(refused(good(), good()), "");
        let narrow = Dense::new(5, 4, vec![1.0; 20]);
        assert!(refused(narrow, good()).contains("first data set have 5 rows and 4 columns"));
        let small = Dense::from_fn(4, 4, |i, j| i.abs_diff(j) as f32);
        assert!(
            refused(good(), small).contains("second data set are between 4 points, but the data set has 5")
        );
        assert!(refused(good(), with((2, 3), -0.5)).contains("-0.5 in row 3, column 4 of the second"));
        assert!(refused(with((4, 0), f32::NAN), good()).contains("NaN in row 5, column 1 of the first"));
        assert!(refused(with((0, 1), f32::INFINITY), good()).contains("inf in row 1, column 2 of the first"));
        let flat = Dense::from_fn(5, 5, |i, j| if i == j { 0.0 } else { 2.0 });
        assert!(refused(good(), flat).contains("All distances within each row of the second"));
        let empty =
            Sides::with_distances(Dense::new(0, 2, vec![]), points(), Dense::new(0, 0, vec![]), good());
        assert!(empty.err().is_some_and(|e| e.to_string().contains("first data set has 0 rows")));
    }

    #[test]
    fn a_part_keeps_what_is_known_of_its_rows() {
        let points = || Dense::from_fn(6, 2, |i, j| (i * i + j) as f32);
        let [dx, dy] = [3, 7].map(|k| Dense::from_fn(6, 6, |i, j| (k * i + j) as f32));
        let sides = Sides::with_distances(points(), points(), dx, dy).expect("usable");
        let sides = sides.sharing(points(), points()).expect("fits");
        let sides = sides.knowing(vec![(5, 0), (2, 1), (3, 3)]).expect("within");
        let rows: [&[usize]; 2] = [&[1, 2, 4, 5], &[0, 1, 2, 5]];
        let looks = Count::looks(async |watch| sides.part(rows, watch).await.map(|_| ()));
        assert_eq!(looks, 8, "at every preparation of either side");
        let part = unwatched(sides.part(rows, &mut NoWatch)).expect("usable");
        let own = [1.0, 2.0, 4.0, 5.0, 16.0, 17.0, 25.0, 26.0].map(|v: f32| v / 16.0);
        assert_eq!(part.points()[0].data(), own, "in the unit of all rows");
        assert_eq!(part.known(), [(3, 0), (1, 1)], "in their new places; one row is not there");
        let within = unwatched(part.within(1, Distance::Given, &[3, 0], SearchChoice::Auto, &mut NoWatch))
            .expect("given");
        assert_eq!(within.data(), [40.0, 35.0, 5.0, 0.0].map(|v: f32| v / 32.0));
        assert_eq!(part.shared().map(|[_, y]| y.row(3).to_vec()), Some(vec![25.0 / 16.0, 26.0 / 16.0]));
    }

    #[test]
    fn given_distances_are_used_instead_of_computed_ones_and_only_where_they_are() {
        let points = || Dense::from_fn(5, 2, |i, j| (i * 2 + j) as f32);
        let [dx, dy] = [3, 7].map(|k| Dense::from_fn(5, 5, |i, j| (k * i + j) as f32));
        let sides = Sides::with_distances(points(), points(), dx, dy).expect("usable");
        assert_eq!(sides.default_panel(), [Measure::same(Distance::Given)]);
        let within = |sides: &Sides, side: usize, distance: Distance, rows: &[usize]| {
            unwatched(sides.within(side, distance, rows, SearchChoice::Auto, &mut NoWatch))
        };
        let part = within(&sides, 1, Distance::Given, &[4, 2]).expect("given");
        assert_eq!(part.data(), [32.0, 30.0, 18.0, 16.0].map(|v: f32| v / 32.0));
        let computed = within(&sides, 1, Distance::Euclidean, &[4, 2]).expect("computed");
        assert!((computed.at(0, 1) - 32f32.sqrt() / 8.0).abs() < 1e-5, "in the unit of the points");
        let without = Sides::new(points(), points()).expect("usable");
        assert!(without.default_panel().iter().all(|measure| measure.x != Distance::Given));
        let refused = within(&without, 0, Distance::Given, &[0, 1]).err().map(|e| e.to_string());
        assert!(refused.is_some_and(|why| why.contains("no distances came with the data")));
    }

    #[test]
    fn geodesics_between_a_part_of_the_points_follow_all_of_them() {
        // Nearly a whole circle, open at one place.
        let angle = |i: usize| 6.0 * i as f32 / 399.0;
        let circle = Dense::from_fn(400, 2, |i, j| if j == 0 { angle(i).cos() } else { angle(i).sin() });
        let sides = Sides::new(circle.clone(), circle.clone()).expect("usable");
        let within = |rows: &[usize]| {
            let search = SearchChoice::Auto;
            unwatched(sides.within(1, Distance::Geodesic, rows, search, &mut NoWatch)).expect("computed")
        };
        let part: Vec<usize> = (0..400).step_by(57).collect();
        let got = within(&part);
        for (i, &a) in part.iter().enumerate() {
            for (j, &b) in part.iter().enumerate() {
                let want = (angle(a) - angle(b)).abs();
                assert!((got.at(i, j) - want).abs() < 0.01, "{a} {b}: {} {want}", got.at(i, j));
            }
        }
        let all: Vec<usize> = (0..400).collect();
        assert_eq!(
            Some(within(&all)),
            Distance::Geodesic.matrix(&circle),
            "as ever where nothing is left out"
        );
    }

    /// Trees miss a few neighbours, which changes some paths a little; whoever asks for all pairs gets what there was before.
    #[test]
    fn geodesics_follow_the_neighbours_that_are_asked_for() {
        let cloud = Dense::new(1500, 8, Rng::new(5).fill(12_000, 0.0, 1.0));
        let sides = Sides::new(cloud.clone(), cloud).expect("usable");
        let all: Vec<usize> = (0..1500).collect();
        for rows in [&all[..], &all[..900]] {
            let [auto, exact, trees] = [SearchChoice::Auto, SearchChoice::Exact, SearchChoice::Approximate]
                .map(|search| {
                    unwatched(sides.within(0, Distance::Geodesic, rows, search, &mut NoWatch))
                        .expect("computed")
                });
            assert!(auto == exact && auto != trees, "of {} rows", rows.len());
            let off = |(a, b): (&f32, &f32)| f64::from((a - b).abs()) / f64::from(a.max(1e-3));
            let mean =
                exact.data().iter().zip(trees.data()).map(off).sum::<f64>() / exact.data().len() as f64;
            assert!(mean < 0.03, "{mean} apart on average");
        }
        assert!(sides.terrain[0].iter().all(|held| held.get().is_some()));
    }

    #[test]
    fn sides_are_the_same_whether_watched_or_not() {
        let cloud = |seed| Dense::new(60, 5, Rng::new(seed).fill(300, -1.0, 2.0));
        let plain = Sides::new(cloud(1), cloud(2)).expect("usable");
        let watched = unwatched(Sides::watched(cloud(1), cloud(2), &mut NoWatch)).expect("usable");
        for (side, preparation) in [0, 1].into_iter().flat_map(|s| Preparation::ALL.map(|p| (s, p))) {
            let [a, b] = [&plain, &watched].map(|sides| sides.seen(side, preparation, sides.points()[side]));
            assert!(a == b && a != *plain.points()[side], "{preparation:?}");
        }
    }
}
