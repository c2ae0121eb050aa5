//! The work of a run, counted by what it is made of.

use std::ops::{Add, Mul};

use super::{Size, axes, stack, thin_width, width};
use crate::pace::{DISPATCHES, HALVES, LOG_HALF, Pace};
use align::procedure::{
    CHANCE_ROWS, CONFIDENCE_ROWS, EncoderChoice, FEW_FOR_GROUPS, FRESH_COORDINATES, FRESH_MAPS, GROUP_ROWS,
    GroupChoice, JUDGED, LIFT_STEPS, LINEAR_STEPS, LOOKED, LossChoice, REFINE_STEPS, Settings, deep_size,
    group_steps, lift_size, linear_sample, refine_size, search_size,
};
use align::solver::align::Align;
use align::solver::infer::falling;
use align::solver::linear::ITERATIONS;
use schema::Way;

/// Starts on many rows and on few that are played on average, lifts of rotations apart: kinds that agree spare others.
const STARTS: f64 = 3.0;
const SMALL_STARTS: f64 = 6.0;
/// Steps that a wide and a deep local search take on average: about twenty an attempt.
const WIDE_STEPS: f64 = 250.0;
const DEEP_STEPS: f64 = 150.0;
/// Rotations that are lifted.
const LIFTS: f64 = 4.0;
/// Products of two numbers that the search for rotations takes, where there are coordinates for all of it.
const ROTATIONS: f64 = 3e10;
/// And those of the short searches for rotations without each of the groups.
const LADDERS: f64 = 1e10;
/// How often another alignment fits about as well, so that groups are left out in turn: nobody knows before.
const DOUBTFUL: f64 = 0.5;
/// Rows for every coordinate of a map without a group.
const ROWS_A_COORDINATE: usize = 10;
/// Different maps that are refined, on average, and rounds of each.
const MAPS: f64 = 4.0;
const ROUNDS: f64 = 1.5;
/// Submits of a transport after ε has fallen, on average.
const SETTLING: f64 = 12.0;

/// Iterations of a transport tile by tile, on average.
const ITERATIONS_OF_TILES: f64 = 70.0;
/// Looks at an entry, on average, from coarse to fine between so many pairs: the last level takes some sweeps however many
/// there are, and what the levels before take beside it falls with them.
fn solving_looks(pairs: f64) -> f64 {
    2.4 + 1.1 * (2e9 / pairs).powf(0.25)
}

/// And those that reading the plan takes, of the pairs that matter to each other.
fn reading_looks(pairs: f64) -> f64 {
    6.0 * (2e9 / pairs).powf(0.11).min(1.0)
}

/// Work by its kinds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    products: f64,
    host: f64,
    entries: f64,
    dispatches: f64,
}

impl Add for Work {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            products: self.products + other.products,
            host: self.host + other.host,
            entries: self.entries + other.entries,
            dispatches: self.dispatches + other.dispatches,
        }
    }
}

impl Mul<f64> for Work {
    type Output = Self;

    fn mul(self, times: f64) -> Self {
        Self {
            products: times * self.products,
            host: times * self.host,
            entries: times * self.entries,
            dispatches: times * self.dispatches,
        }
    }
}

impl Work {
    pub(super) fn seconds(self, pace: &Pace) -> f64 {
        pace.correction
            * (self.products * pace.product
                + self.host * pace.host
                + self.entries * pace.entry
                + self.dispatches * pace.dispatch)
    }
}

/// All work of a run whose networks learn from so many points a side.
pub(super) fn of(size: &Size, settings: &Settings, sample: usize, way: Way) -> Work {
    let judged = size.rows.map(|rows| rows.min(JUDGED) as f64);
    let (measures, fits) = (size.measures as f64, stack(size, settings));
    let linear = f64::from(u8::from(settings.encoder != EncoderChoice::Networks));
    let compared = transport(judged, settings.eps);

    let dims = size.cols[0].max(size.cols[1]);
    let few = |most: usize| size.rows.map(|rows| rows.min(most));
    let steps = |most: usize, steps: u32| linear_step(few(most), size.cols) * f64::from(steps);
    let looked = linear_step(few(LOOKED), size.cols) * 3.0;
    let starts = steps(linear_sample(dims), LINEAR_STEPS) + looked;
    // The search for rotations grows with the fourth power of their coordinates.
    let coordinates = (size.cols[0].min(size.cols[1]) as f64 / 32.0).min(1.0);
    let rotations = Work { host: ROTATIONS * coordinates.powi(4), ..Work::default() };
    let lifts = rotations + (steps(lift_size(dims), LIFT_STEPS) + looked) * LIFTS;
    let refined = |rows: [usize; 2]| linear_step(rows, size.cols) * f64::from(REFINE_STEPS) + compared;
    let refinements =
        (refined(few(refine_size(dims))) * ROUNDS + compared) * MAPS.min(settings.refined as f64);
    let searches = linear_step(few(search_size(dims)), size.cols)
        * (WIDE_STEPS + SMALL_STARTS * f64::from(LINEAR_STEPS / 2))
        + linear_step(few(deep_size(dims)), size.cols) * DEEP_STEPS;
    // Fresh fits map fewer coordinates, and are compared on few rows.
    let narrow = size.cols.map(|cols| cols.min(FRESH_COORDINATES));
    let fresh = (linear_step(few(linear_sample(FRESH_COORDINATES)), narrow) * f64::from(LINEAR_STEPS / 2)
        + transport(few(CONFIDENCE_ROWS).map(|rows| rows as f64), settings.eps))
        * f64::from(FRESH_MAPS);
    // Groups that are left out in turn, between as many coordinates as these rows determine.
    let narrow = size.cols.map(|cols| cols.min(GROUP_ROWS / ROWS_A_COORDINATE));
    let leaving = linear_step(few(GROUP_ROWS), narrow) * f64::from(group_steps(MAPS as usize))
        + Work { host: LADDERS, ..Work::default() };
    let many = size.rows.iter().all(|rows| *rows > FEW_FOR_GROUPS);
    let groups = leaving
        * match settings.groups {
            GroupChoice::Auto if many => DOUBTFUL,
            GroupChoice::Try => 1.0,
            GroupChoice::Auto | GroupChoice::Off => 0.0,
        };
    // Of unrelated data, for comparison.
    let chance = (starts * 2.0 + refined(size.rows.map(|rows| rows.min(CHANCE_ROWS))))
        * f64::from(u8::from(size.cols != [1, 1]));
    let both = f64::from(u8::from(settings.encoder == EncoderChoice::Both));
    let polished = refined(size.rows.map(|rows| rows.min(JUDGED))) * (both * fits);

    measured(judged, size.cols) * (measures + 1.0)
        + (starts * STARTS.min(settings.starts.len() as f64)
            + lifts
            + searches
            + refinements
            + fresh
            + groups)
            * linear
        + training_step(size, settings, sample) * (fits * f64::from(settings.train.steps))
        + Work {
            dispatches: dispatches(settings) * f64::from(settings.train.steps) * fits.min(1.0),
            ..Work::default()
        }
        + compared * fits
        + chance
        + polished
        + matched(size, settings, way)
        + Work { host: judged[0] * judged[1] * (judged[0] + judged[1]), ..Work::default() }
}

/// Matching all points, and reading what came of it.
pub(super) fn matched(size: &Size, settings: &Settings, way: Way) -> Work {
    let [n, m] = size.rows.map(|rows| rows as f64);
    let entries = n * m;
    let width = width(size, settings);
    match way {
        Way::Held => {
            transport([n, m], settings.eps) + Work { host: 2.0 * entries * FIGURES, ..Work::default() }
        }
        // An exponential is worth about as much as 32 products.
        Way::Streamed => Work {
            products: ITERATIONS_OF_TILES * entries * (width + 32.0),
            host: 2.0 * entries * (width + 32.0 + FIGURES),
            ..Work::default()
        },
        Way::Multiscale => {
            let looks = solving_looks(entries) + reading_looks(entries);
            Work { host: looks * entries * (width + 32.0), ..Work::default() }
        }
    }
}

/// Passes of the host over the plan for figures, matches and pictures, as multiplications for each entry.
const FIGURES: f64 = 30.0;
/// Sorting a row's distances into ranks, as multiplications for each entry.
const RANKED: f64 = 60.0;

/// Distances and ranks of the judged rows, by one measure.
fn measured(judged: [f64; 2], cols: [usize; 2]) -> Work {
    let side = |side: usize| judged[side] * judged[side] * (cols[side] as f64 + RANKED);
    Work { host: side(0) + side(1), ..Work::default() }
}

/// One transport until its marginals are met.
fn transport([n, m]: [f64; 2], eps: f32) -> Work {
    let submits = f64::from(falling(eps)) + SETTLING;
    Work { entries: n * m * HALVES, dispatches: DISPATCHES, ..Work::default() } * submits
}

/// A step of a linear run.
fn linear_step(rows: [usize; 2], cols: [usize; 2]) -> Work {
    let ([n, m], [dx, dy]) = (rows.map(|rows| rows as f64), axes(cols).map(|axes| axes as f64));
    let halves = 2.0 * f64::from(ITERATIONS) + 2.0 * LOG_HALF + 6.0;
    Work {
        products: 2.0 * n * m * dy + 3.0 * n * dx * dy,
        entries: n * m * halves,
        dispatches: 2.0 * f64::from(ITERATIONS) + 16.0,
        ..Work::default()
    }
}

/// A training step of one fit.
fn training_step(size: &Size, settings: &Settings, sample: usize) -> Work {
    let train = &settings.train;
    let shapes = Align::shapes(train, size.cols.map(|cols| cols as u32));
    let parameters: usize = shapes.iter().map(|shape| shape.parameters()).sum();
    if settings.all_points {
        let [n, m] = size.rows.map(|rows| rows as f64);
        let (width, thin) = (f64::from(train.embedding) + 4.0, thin_width(size));
        // Every pass over the plan computes it anew: a product, and an exponential worth about 32 of them.
        let passes = f64::from(train.sinkhorn + 2 * train.conjugate) + 6.0;
        let weighted = 4.0 * thin + 2.0 * width;
        return Work {
            products: 3.0 * (n + m) / 2.0 * parameters as f64 + n * m * (passes * (width + 32.0) + weighted),
            ..Work::default()
        };
    }
    let s = sample as f64;
    let (loss, ranked) = match settings.loss {
        // Thin products of an eighth of the width, as they mostly come.
        LossChoice::RankGw => (0.6, 0.0),
        LossChoice::Classic => (2.0, 0.0),
        LossChoice::Frobenius => (4.0, 0.0),
        LossChoice::SoftRank => (4.0, 150.0),
    };
    let halves = 2.0 * f64::from(train.sinkhorn + train.conjugate) + 2.0 * LOG_HALF + 10.0;
    Work {
        // There, and back for weights and inputs.
        products: 3.0 * s * parameters as f64 + 3.0 * s * s * f64::from(train.embedding) + loss * s * s * s,
        entries: s * s * (halves + ranked),
        ..Work::default()
    }
}

/// Dispatches of a training step, of all fits together.
fn dispatches(settings: &Settings) -> f64 {
    47.0 + 2.0 * f64::from(settings.train.sinkhorn + settings.train.conjugate)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passes over all pairs while a transport from coarse to fine was solved, as they were measured.
    #[test]
    fn looks_are_as_they_were_measured() {
        for (rows, measured) in
            [(5e3, 6.3), (1e4, 5.2), (2e4, 4.9), (4.5e4, 3.7), (4.5e4, 3.0), (1e5, 2.5), (1e6, 2.4)]
        {
            let told = solving_looks(rows * rows);
            assert!((told / measured - 1.0f64).abs() < 0.35, "{rows} points: {told:.1}, not {measured}");
        }
        assert!(reading_looks(2.5e7) == 6.0 && (2.0..4.0).contains(&reading_looks(1e12)));
    }

    #[test]
    fn leaving_groups_out_takes_time_where_it_is_done() {
        let seconds = |groups: GroupChoice, rows: usize| {
            let size = Size { rows: [rows; 2], cols: [10, 19], measures: 3 };
            let settings = Settings { groups, ..Settings::default() };
            let pace = Pace { product: 1e-10, host: 1e-10, entry: 1e-9, dispatch: 1e-6, correction: 1.0 };
            of(&size, &settings, 300, Way::Held).seconds(&pace)
        };
        let [off, auto, tried] =
            [GroupChoice::Off, GroupChoice::Auto, GroupChoice::Try].map(|groups| seconds(groups, 1047));
        assert!(off < auto && auto < tried, "{off}, {auto}, {tried}");
        assert!(tried > 1.2 * off, "{tried} beside {off}");
        assert_eq!(seconds(GroupChoice::Off, 400), seconds(GroupChoice::Auto, 400), "few rows");
    }

    #[test]
    fn columns_that_linear_maps_do_not_see_take_no_time() {
        let seconds = |cols: usize| linear_step([1000; 2], [cols; 2]).products;
        assert!(seconds(200) < seconds(256) && seconds(256) == seconds(5000));
    }
}
