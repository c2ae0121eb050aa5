//! What a run will take, told before it starts: time, memory, points learned from, and how all points are matched.
//!
//! Work is counted by the procedure's own sizes and turned into seconds by the measured [`Pace`]; memory is the sum of
//! what is held at the worst moment. Both are estimates: fits converge earlier or later, and starts that agree spare
//! others.

use std::ops::{Add, Mul};

use super::pace::{DISPATCHES, HALVES, LOG_HALF, Pace};
use crate::procedure::{
    self, EncoderChoice, GLANCED, JUDGED, LINEAR_STEPS, LossChoice, REFINE_STEPS, REFINED, Settings,
    linear_sample,
};
use crate::protocol::{Estimate, ExecutorKind, Way};
use crate::solver::align::Align;
use crate::solver::infer::falling;
use crate::solver::linear::ITERATIONS;

/// The device and the memory there is.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    pub executor: ExecutorKind,
    pub pace: Pace,
    /// The most one buffer may take.
    pub buffer: u64,
    /// The most everything together may take.
    pub memory: u64,
}

/// What is to be aligned: rows and columns of both sides, and how many measures are tried.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub rows: [usize; 2],
    pub cols: [usize; 2],
    pub measures: usize,
}

impl From<procedure::Way> for Way {
    fn from(way: procedure::Way) -> Self {
        match way {
            procedure::Way::Held => Self::Held,
            procedure::Way::Streamed => Self::Streamed,
            procedure::Way::Multiscale => Self::Multiscale,
        }
    }
}

/// Bytes of a number.
const NUMBER: f64 = 4.0;
/// Starts that are played on average: signatures that agree spare others.
const STARTS: f64 = 6.0;
/// Submits of a transport after ε has fallen, on average.
const SETTLING: f64 = 12.0;
/// Matrices of the size of the subsample squared that training holds for every fit, beside its networks.
const TRAINING_SQUARES: f64 = 9.0;
/// Those that a linear start or refinement holds.
const LINEAR_SQUARES: f64 = 5.0;
/// Copies of a plan between all points that is held: its cost, itself, and what was read back.
const PLAN_COPIES: f64 = 4.0;
/// Numbers that are kept for every point where the plan is not held: its partners and their masses, its place in the tree
/// and in the picture, its potentials; and how often its embedding.
const PER_POINT: f64 = 60.0;
const EMBEDDINGS: f64 = 8.0;
/// Iterations of a transport tile by tile, on average.
const ITERATIONS_OF_TILES: f64 = 70.0;
/// Looks at an entry, on average, from coarse to fine between this many pairs; between more the share of pairs falls that
/// matter to each other.
const LOOKS: f64 = 10.0;
const LOOKED_AT: f64 = 2e9;
const FALLING: f64 = 0.35;
/// The smallest subsample that is worth training on.
const LEAST: usize = 64;

/// Work by its kinds.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
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
    fn seconds(self, pace: &Pace) -> f64 {
        pace.correction
            * (self.products * pace.product
                + self.host * pace.host
                + self.entries * pace.entry
                + self.dispatches * pace.dispatch)
    }
}

/// What aligning takes on this machine. The subsample is the wished one, or the largest that fits.
pub fn estimate(size: &Size, settings: &Settings, machine: &Machine) -> Estimate {
    let [n, m] = size.rows;
    let most = n.max(m);
    let wished = match settings.encoder {
        EncoderChoice::Linear => linear_sample(size.cols[0].max(size.cols[1])),
        EncoderChoice::Both | EncoderChoice::Networks => settings.sample,
    };
    let wished = wished.min(most);
    let sample = fitting(size, settings, machine, wished);
    let way = procedure::Way::of(n, m, machine.executor == ExecutorKind::Gpu).into();
    let bytes = bytes(size, settings, sample, way);
    let seconds = work(size, settings, sample, way).seconds(&machine.pace);
    Estimate {
        seconds,
        last: matched(size, settings, way).seconds(&machine.pace) / seconds.max(1e-9),
        bytes,
        room: machine.memory as f64,
        sample: sample as u32,
        rows: size.rows.map(|rows| rows as u32),
        wished: (sample < wished).then_some(wished as u32),
        way,
        refusal: refusal(size, machine, bytes, way),
    }
}

/// The largest subsample up to the wished one whose training fits.
fn fitting(size: &Size, settings: &Settings, machine: &Machine, wished: usize) -> usize {
    let fits = |sample: usize| {
        // Ranks come twice side by side.
        let largest = 2.0 * NUMBER * stack(size, settings) * (sample as f64).powi(2);
        let together = held(size) + training(size, settings, sample);
        largest <= machine.buffer as f64 && together <= machine.memory as f64
    };
    let mut sample = wished;
    while sample > LEAST && !fits(sample) {
        sample = (sample * 9 / 10).max(LEAST);
    }
    sample
}

/// Why the run does not fit, and what would.
fn refusal(size: &Size, machine: &Machine, bytes: f64, way: Way) -> Option<String> {
    let [n, m] = size.rows.map(|rows| rows as f64);
    let plan = NUMBER * n * m;
    let (room, buffer) = (machine.memory as f64, machine.buffer as f64);
    let whole = match way {
        Way::Held => plan > buffer || bytes > room,
        Way::Streamed | Way::Multiscale => bytes > room,
    };
    whole.then(|| {
        let left = room - held(size).min(0.5 * room);
        let rows = match way {
            Way::Held => (left / (PLAN_COPIES * NUMBER)).min(buffer / NUMBER).max(0.0).sqrt(),
            Way::Streamed | Way::Multiscale => {
                let (fixed, own) = (judged_squares(size), bytes - judged_squares(size));
                n.max(m) * (room - fixed).max(0.0) / own
            }
        };
        let rows = (rows / 100.0).floor() * 100.0;
        format!(
            "This would take {:.1} GB of memory, and there are {:.1} GB for it here. About {rows:.0} rows a side would fit: take a part of the rows.",
            bytes / 1e9,
            room / 1e9
        )
    })
}

/// Fits that are trained together.
fn stack(size: &Size, settings: &Settings) -> f64 {
    match settings.encoder {
        EncoderChoice::Linear => 0.0,
        EncoderChoice::Both | EncoderChoice::Networks => (size.measures * settings.fits as usize) as f64,
    }
}

/// Bytes of what is held all along: tables, what encoders see of them, distances and ranks of the judged rows.
fn held(size: &Size) -> f64 {
    let measures = size.measures as f64;
    let tables: usize = size.rows.into_iter().zip(size.cols).map(|(rows, cols)| rows * cols).sum();
    NUMBER * tables as f64 * (3.0 + measures) + judged_squares(size)
}

/// Bytes of distances and ranks within the judged rows.
fn judged_squares(size: &Size) -> f64 {
    let square = |rows: usize| (rows.min(JUDGED) as f64).powi(2);
    NUMBER * 2.0 * size.measures as f64 * size.rows.map(square).iter().sum::<f64>()
}

/// Bytes of training on a subsample.
fn training(size: &Size, settings: &Settings, sample: usize) -> f64 {
    let sample = sample as f64;
    let shapes = Align::shapes(&settings.train, size.cols.map(|cols| cols as u32));
    let parameters: usize = shapes.iter().map(|shape| shape.parameters()).sum();
    let layers: u32 = shapes.iter().flat_map(|shape| &shape.sizes).sum();
    // Parameters with their gradients and two moments; the values of every layer on the way there and back.
    let networks = 4.0 * parameters as f64 + 2.0 * sample * f64::from(layers);
    NUMBER * stack(size, settings) * (TRAINING_SQUARES * sample * sample + networks)
}

/// Bytes of matching all points.
fn matching(size: &Size, settings: &Settings, way: Way) -> f64 {
    let [n, m] = size.rows.map(|rows| rows as f64);
    NUMBER
        * match way {
            Way::Held => PLAN_COPIES * n * m,
            Way::Streamed | Way::Multiscale => (n + m) * (PER_POINT + EMBEDDINGS * width(size, settings)),
        }
}

/// Numbers in which a point is compared with others, at most.
fn width(size: &Size, settings: &Settings) -> f64 {
    let linear = match settings.encoder {
        EncoderChoice::Networks => 0,
        EncoderChoice::Both | EncoderChoice::Linear => size.cols[1],
    };
    linear.max(settings.train.embedding as usize) as f64
}

/// Bytes at the worst moment.
fn bytes(size: &Size, settings: &Settings, sample: usize, way: Way) -> f64 {
    let linear = match settings.encoder {
        EncoderChoice::Networks => 0.0,
        EncoderChoice::Both | EncoderChoice::Linear => {
            let [n, m] = size.rows.map(|rows| rows.min(REFINED) as f64);
            NUMBER * LINEAR_SQUARES * n * m
        }
    };
    held(size) + training(size, settings, sample).max(linear).max(matching(size, settings, way))
}

/// All work of a run.
fn work(size: &Size, settings: &Settings, sample: usize, way: Way) -> Work {
    let judged = size.rows.map(|rows| rows.min(JUDGED) as f64);
    let (measures, fits) = (size.measures as f64, stack(size, settings));
    let linear = f64::from(u8::from(settings.encoder != EncoderChoice::Networks));
    let compared = transport(judged, settings.eps);

    let start = linear_sample(size.cols[0].max(size.cols[1]));
    let glance = size.rows.map(|rows| rows.min(start.max(GLANCED)) as f64);
    let starts = linear_step(size.rows.map(|rows| rows.min(start)), size.cols) * f64::from(LINEAR_STEPS)
        + transport(glance, settings.eps);
    let refined = |rows: [usize; 2]| linear_step(rows, size.cols) * f64::from(REFINE_STEPS) + compared;
    let refinements = refined(size.rows.map(|rows| rows.min(REFINED))) * settings.refined as f64;
    let both = f64::from(u8::from(settings.encoder == EncoderChoice::Both));
    let polished = refined(size.rows.map(|rows| rows.min(JUDGED))) * (both * fits);

    measured(judged, size.cols) * (measures + 1.0)
        + (starts * STARTS.min(settings.starts.len() as f64) + refinements) * linear
        + training_step(size, settings, sample) * (fits * f64::from(settings.train.steps))
        + Work {
            dispatches: dispatches(settings) * f64::from(settings.train.steps) * fits.min(1.0),
            ..Work::default()
        }
        + compared * fits
        + polished
        + matched(size, settings, way)
        + Work { host: judged[0] * judged[1] * (judged[0] + judged[1]), ..Work::default() }
}

/// Matching all points, and reading what came of it.
fn matched(size: &Size, settings: &Settings, way: Way) -> Work {
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
            let looks = LOOKS * (LOOKED_AT / entries).powf(FALLING);
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
    let ([n, m], [dx, dy]) = (rows.map(|rows| rows as f64), cols.map(|cols| cols as f64));
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
    let s = sample as f64;
    let train = &settings.train;
    let shapes = Align::shapes(train, size.cols.map(|cols| cols as u32));
    let parameters: usize = shapes.iter().map(|shape| shape.parameters()).sum();
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
    use crate::geometry::Dense;
    use crate::plan::Plan;
    use crate::procedure::{Form, objective};
    use crate::solver::align::{Problem, Terms};
    use crate::solver::cost::CostKind;
    use crate::solver::infer::{Encoders, Infer};

    const PACE: Pace = Pace { product: 1e-10, host: 1e-10, entry: 1e-9, dispatch: 1e-6, correction: 1.0 };

    fn machine(buffer: u64, memory: u64) -> Machine {
        Machine { executor: ExecutorKind::Cpu, pace: PACE, buffer, memory }
    }

    fn roomy() -> Machine {
        machine(1 << 34, 7 << 29)
    }

    fn size(rows: usize) -> Size {
        Size { rows: [rows, rows], cols: [24, 20], measures: 3 }
    }

    #[test]
    fn plans_of_many_points_take_memory_in_proportion_to_the_points() {
        let settings = Settings::default();
        let [few, many] = [45_000, 90_000].map(|rows| estimate(&size(rows), &settings, &roomy()));
        assert_eq!((few.way, many.way), (Way::Multiscale, Way::Multiscale));
        assert!(few.bytes < 5e8 && few.refusal.is_none(), "{few:?}");
        let of_points = |told: &Estimate| matching(&size(told.rows[0] as usize), &settings, told.way);
        assert_eq!(of_points(&many), 2.0 * of_points(&few));
        assert!(many.seconds > few.seconds && many.last > few.last && many.last < 1.0);
        let held = estimate(&size(4000), &settings, &roomy());
        assert_eq!(held.way, Way::Held);
    }

    /// The buffers of a real training, recorded.
    #[test]
    fn the_memory_of_training_is_what_its_plan_holds() {
        let (sample, fits) = (120, 3);
        let size = Size { rows: [sample, sample], cols: [24, 20], measures: fits };
        for loss in LossChoice::ALL {
            let settings = Settings { loss, ..Settings::default() };
            let mut plan = Plan::new();
            let [x, y] = size.cols.map(|cols| plan.mats("inputs", fits as u32, sample as u32, cols as u32));
            let line = Dense::from_fn(sample, sample, |i, j| i.abs_diff(j) as f32);
            let within = vec![line; fits];
            let objective = objective(&mut plan, loss, [&within, &within], Form::Dense);
            Align::record(&mut plan, &settings.train, &Problem { x, y, objective, terms: Terms::default() });
            let (told, real) = (training(&size, &settings, sample), plan.bytes() as f64);
            assert!((0.6..1.7).contains(&(told / real)), "{}: {told} beside {real}", loss.name());
        }
    }

    #[test]
    fn the_memory_of_the_last_transport_is_what_its_plan_holds_and_its_copies() {
        let (n, m) = (200, 150);
        let points = [vec![0.5; n * 4], vec![0.5; m * 4]];
        let encoders = Encoders::Embedded { dim: 4, cost: CostKind::Sqm };
        let infer = Infer::record(&encoders, [&points[0], &points[1]], 0.05);
        let squares = infer.plan.bytes() as f64 / (NUMBER * (n * m) as f64);
        assert!((2.0..PLAN_COPIES - 1.0).contains(&squares), "and one on the host: {squares}");
    }

    #[test]
    fn a_subsample_that_does_not_fit_is_made_smaller_and_that_is_said() {
        let settings = Settings { sample: 4000, ..Settings::default() };
        let whole = estimate(&size(4000), &settings, &roomy());
        assert_eq!((whole.sample, whole.wished), (4000, None));
        let told = estimate(&size(4000), &settings, &machine(128 << 20, 7 << 29));
        assert_eq!(told.wished, Some(4000));
        let largest = |sample: f64| 2.0 * NUMBER * 3.0 * sample * sample;
        let (sample, limit) = (f64::from(told.sample), (128u64 << 20) as f64);
        assert!(largest(sample) <= limit && largest(sample / 0.85) > limit, "{sample}");
        assert!(told.seconds < whole.seconds && told.bytes < whole.bytes);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_would() {
        // As on a small phone.
        let machine = machine(1 << 34, 3 << 28);
        let settings = Settings::default();
        let large = estimate(&size(400_000), &settings, &machine);
        let words = large.refusal.expect("more than there is");
        assert!(words.contains("GB of memory"), "{words}");
        let rows = words.split("About ").nth(1).and_then(|rest| rest.split(' ').next()).expect("rows");
        let rows: usize = rows.parse().expect("a number");
        assert!(rows > 2000, "{rows}");
        assert_eq!(estimate(&size(rows), &settings, &machine).refusal, None, "what is advised fits");
        assert!(estimate(&size(2 * rows), &settings, &machine).refusal.is_some());
    }

    #[test]
    fn more_work_takes_longer_and_runs_teach() {
        let machine = roomy();
        let seconds = |settings: Settings| estimate(&size(1000), &settings, &machine).seconds;
        let usual = seconds(Settings::default());
        let mut longer = Settings::default();
        longer.train.steps *= 2;
        assert!(seconds(longer) > usual);
        assert!(seconds(Settings { fits: 2, ..Settings::default() }) > usual);
        assert!(seconds(Settings { encoder: EncoderChoice::Linear, ..Settings::default() }) < usual);
        assert!(estimate(&size(2000), &Settings::default(), &machine).seconds > usual);
        let mut pace = PACE;
        pace.learn(10.0, 20.0);
        let slower = Machine { pace, ..machine };
        let told = estimate(&size(1000), &Settings::default(), &slower).seconds;
        assert!(told > 1.5 * usual && told < 2.0 * usual, "{told} after {usual}");
    }
}
