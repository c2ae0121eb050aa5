//! What a run will take, told before it starts: time, memory, points learned from, and how all points are matched.
//!
//! Work is counted by the procedure's own sizes and turned into seconds by the measured [`Pace`]; memory is the sum of
//! what is held at the worst moment. Both are estimates: fits converge earlier or later, and starts that agree spare
//! others.

mod work;

use super::pace::Pace;
use align::geometry::spectral::MOST_AXES;
use align::procedure::{self, EncoderChoice, JUDGED, Settings, THIN, linear_sample, refine_size};
use align::solver::align::Align;
use schema::{Estimate, ExecutorKind, Way};

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

/// A way of transport, as a report names it.
pub fn named(way: procedure::Way) -> Way {
    match way {
        procedure::Way::Held => Way::Held,
        procedure::Way::Streamed => Way::Streamed,
        procedure::Way::Multiscale => Way::Multiscale,
    }
}

/// Bytes of a number.
const NUMBER: f64 = 4.0;
/// Matrices of the size of the subsample squared that training holds for every fit, beside its networks.
const TRAINING_SQUARES: f64 = 9.0;
/// Those that it holds besides where marginals are relaxed.
const RELAXED_SQUARES: f64 = 2.0;
/// Those that a linear start or refinement holds.
const LINEAR_SQUARES: f64 = 5.0;
/// Copies of a plan between all points that is held: its cost, itself, and what was read back.
const PLAN_COPIES: f64 = 4.0;
/// Numbers that are kept for every point where the plan is not held: its partners and their masses, its place in the tree
/// and in the picture, its potentials; and how often its embedding.
const PER_POINT: f64 = 60.0;
const EMBEDDINGS: f64 = 8.0;
/// The smallest subsample that is worth training on.
const LEAST: usize = 64;

/// What aligning takes on this machine. The subsample is the wished one, or the largest that fits.
pub fn estimate(size: &Size, settings: &Settings, machine: &Machine) -> Estimate {
    let [n, m] = size.rows;
    let most = n.max(m);
    let wished = match settings.encoder {
        EncoderChoice::Linear => linear_sample(size.cols[0].max(size.cols[1])),
        EncoderChoice::Both | EncoderChoice::Networks if settings.all_points => most,
        EncoderChoice::Both | EncoderChoice::Networks => settings.trained_on(most),
    };
    let wished = wished.min(most);
    let sample = if settings.all_points { wished } else { fitting(size, settings, machine, wished) };
    let fit = (machine.buffer as f64 / NUMBER / width(size, settings)) as usize;
    let way = named(procedure::Way::of(n, m, (machine.executor == ExecutorKind::Gpu).then_some(fit)));
    let bytes = bytes(size, settings, sample, way);
    let seconds = work::of(size, settings, sample, way).seconds(&machine.pace);
    Estimate {
        seconds,
        last: work::matched(size, settings, way).seconds(&machine.pace) / seconds.max(1e-9),
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
    let shapes = Align::shapes(&settings.train, size.cols.map(|cols| cols as u32));
    let parameters: usize = shapes.iter().map(|shape| shape.parameters()).sum();
    let layers: u32 = shapes.iter().flat_map(|shape| &shape.sizes).sum();
    // Parameters with their gradients and two moments; the values of every layer on the way there and back.
    let networks = |points: f64| 4.0 * parameters as f64 + points * f64::from(layers);
    if settings.all_points && settings.encoder != EncoderChoice::Linear {
        // One fit after another. Beside its layers a point has its place among the factors, with and without weights.
        let points: usize = size.rows.iter().sum();
        let width = 4.0 * f64::from(settings.train.embedding) + 4.0 * thin_width(size);
        return NUMBER * (networks(points as f64) + points as f64 * width);
    }
    let sample = sample as f64;
    let squares =
        if settings.relaxed_networks { TRAINING_SQUARES + RELAXED_SQUARES } else { TRAINING_SQUARES };
    NUMBER * stack(size, settings) * (squares * sample * sample + networks(2.0 * sample))
}

/// Columns of the thin products that training on all points takes for distances.
fn thin_width(size: &Size) -> f64 {
    (size.cols[0].max(size.cols[1]).min(THIN) + 2) as f64
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

/// Numbers in which a point is compared with others, at most: networks have a space of their own, linear maps that of the
/// second side's axes.
fn width(size: &Size, settings: &Settings) -> f64 {
    let (networks, linear) = (settings.train.embedding as usize, axes(size.cols)[1]);
    let width = match settings.encoder {
        EncoderChoice::Networks => networks,
        EncoderChoice::Linear => linear,
        EncoderChoice::Both => linear.max(networks),
    };
    width.max(1) as f64
}

/// Columns that linear maps see of either side.
fn axes(cols: [usize; 2]) -> [usize; 2] {
    cols.map(|cols| cols.min(MOST_AXES))
}

/// Bytes at the worst moment.
fn bytes(size: &Size, settings: &Settings, sample: usize, way: Way) -> f64 {
    let linear = match settings.encoder {
        EncoderChoice::Networks => 0.0,
        EncoderChoice::Both | EncoderChoice::Linear => {
            let [n, m] = size.rows.map(|rows| rows.min(refine_size(size.cols[0].max(size.cols[1]))) as f64);
            NUMBER * LINEAR_SQUARES * n * m
        }
    };
    held(size) + training(size, settings, sample).max(linear).max(matching(size, settings, way))
}

#[cfg(test)]
mod tests {
    use super::*;
    use align::geometry::Dense;
    use align::procedure::{Form, LossChoice, objective};
    use align::solver::align::{Problem, Terms};
    use align::solver::cost::CostKind;
    use align::solver::infer::{Encoders, Infer};
    use align::solver::sinkhorn::Relaxation;
    use compute::plan::Plan;

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
            Align::record(
                &mut plan,
                &settings.train,
                &Problem { x, y, objective, terms: Terms::default(), sums: None },
            );
            let (told, real) = (training(&size, &settings, sample), plan.bytes() as f64);
            assert!((0.6..1.7).contains(&(told / real)), "{}: {told} beside {real}", loss.name());
        }
    }

    #[test]
    fn the_memory_of_the_last_transport_is_what_its_plan_holds_and_its_copies() {
        let (n, m) = (200, 150);
        let points = [vec![0.5; n * 4], vec![0.5; m * 4]];
        let encoders = Encoders::Embedded { dim: 4, cost: CostKind::Sqm };
        let infer = Infer::record(&encoders, [&points[0], &points[1]], 0.05, Relaxation::STRICT);
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

    /// Linear maps see the strongest axes only, so that more columns take no more memory for matching.
    #[test]
    fn many_columns_are_not_refused_for_what_nobody_sees() {
        let settings = Settings { encoder: EncoderChoice::Linear, ..Settings::default() };
        let of = |cols: usize| Size { rows: [60_000; 2], cols: [cols; 2], measures: 1 };
        assert_eq!(
            matching(&of(256), &settings, Way::Multiscale),
            matching(&of(2000), &settings, Way::Multiscale)
        );
        let told = estimate(&of(1000), &settings, &roomy());
        assert_eq!(told.refusal, None, "{:.1} GB", told.bytes / 1e9);
    }

    /// The way is that of the space in which points will be compared.
    #[test]
    fn the_way_is_told_by_the_space_that_will_be_used() {
        let settings = Settings { encoder: EncoderChoice::Networks, ..Settings::default() };
        let size = Size { rows: [50_000; 2], cols: [2000; 2], measures: 3 };
        let gpu = Machine { executor: ExecutorKind::Gpu, ..machine(128 << 20, 7 << 30) };
        assert_eq!(estimate(&size, &settings, &gpu).way, Way::Streamed);
        let linear = Settings { encoder: EncoderChoice::Linear, ..Settings::default() };
        assert_eq!(estimate(&size, &linear, &gpu).way, Way::Streamed, "256 axes fit");
        let small = Machine { buffer: 32 << 20, ..gpu };
        assert_eq!(estimate(&size, &linear, &small).way, Way::Multiscale);
        assert_eq!(estimate(&size, &settings, &small).way, Way::Streamed);
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
