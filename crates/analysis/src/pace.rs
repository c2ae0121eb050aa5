//! How fast a device is, measured by a moment of the work that alignments are made of.

use align::geometry::Dense;
use align::geometry::products::product;
use align::solver::infer::PER_STEP;
use align::solver::sinkhorn::{Marginals, Sinkhorn, uniform};
use compute::exec::{AnyExecutor, Device, ExecError, Executor};
use compute::kernels::matmul::{self, Epilogue, Layout};
use compute::plan::{PassId, Plan};

/// Seconds that pieces of work take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// A multiplication and addition of a matrix product, on the device.
    pub product: f64,
    /// The same on the host, where distances and figures are computed.
    pub host: f64,
    /// An entry of a plan in one of the two halves of a Sinkhorn iteration.
    pub entry: f64,
    /// A dispatch, however small.
    pub dispatch: f64,
    /// What runs take beside the work that is counted; learned from those that there were.
    pub correction: f64,
}

impl Pace {
    /// Takes over how long a run has taken beside what was foretold: mostly, because the next may be another kind.
    pub fn learn(&mut self, foretold: f64, seconds: f64) {
        if foretold > 0.0 && seconds > 0.0 {
            self.correction = (self.correction * (seconds / foretold).powf(0.7)).clamp(0.05, 20.0);
        }
    }
}

/// Edges of the matrices, and of the small and the large plan.
const PRODUCT: u32 = 256;
const PLANS: [u32; 2] = [8, 384];
/// Halves of Sinkhorn iterations in a recorded transport, with those in the log domain, which count for more.
pub(super) const HALVES: f64 = 2.0 * PER_STEP as f64 + 2.0 * LOG_HALF;
/// What a half-step in the log domain takes beside one of plain sums.
pub(super) const LOG_HALF: f64 = 4.0;
/// Dispatches of a recorded transport.
pub(super) const DISPATCHES: f64 = 2.0 * PER_STEP as f64 + 3.0;
/// What runs take beside their kernels alone, before one has told: messages, pictures, other tabs.
const USUAL: f64 = 1.6;
/// The shortest of many attempts counts: others are disturbed. A browser compiles what it runs often a second time, and
/// several times better, so attempts go on for some time; but not for ever where one takes long.
struct Attempts {
    made: u32,
    since: f64,
    shortest: f64,
}

impl Attempts {
    const LEAST: u32 = 3;
    const MOST: u32 = 40;
    const SECONDS: f64 = 0.12;

    fn new(now: f64) -> Self {
        Self { made: 0, since: now, shortest: f64::MAX }
    }

    /// Takes one over; true says that another is wanted.
    fn another(&mut self, start: f64, now: f64) -> bool {
        self.made += 1;
        self.shortest = self.shortest.min(now - start);
        self.made < Self::LEAST || (self.made < Self::MOST && now - self.since < Self::SECONDS)
    }
}

/// Measures a device. `clock` tells the time in seconds.
pub async fn measure(device: &Device, clock: impl Fn() -> f64) -> Result<Pace, ExecError> {
    let edge = PRODUCT as usize;
    let square = Dense::from_fn(edge, edge, |i, j| ((i * 7 + j * 3) % 11) as f32 * 0.1);
    let mut plan = Plan::new();
    let [a, b, out] = ["left", "right", "product"].map(|label| plan.mat(label, PRODUCT, PRODUCT));
    plan.set_initial(a.buf, square.data());
    plan.set_initial(b.buf, square.data());
    let clock_of_plan = plan.set_schedule(1, &[0.1]);
    let transports = PLANS.map(|n| {
        let weights = uniform(n);
        let marginals = Marginals::strict(&weights, &weights);
        let sinkhorn = Sinkhorn::new(&mut plan, 1, marginals, clock_of_plan, 0);
        let cost = plan.mat("cost", n, n);
        let pass = plan.begin_pass("transport");
        sinkhorn.record(&mut plan, cost, PER_STEP);
        pass
    });
    let multiply = plan.begin_pass("product");
    matmul::record(&mut plan, Layout::NN, 1.0, [a, b, out], Epilogue::None);
    let mut executor = device.prepare(plan).await?;
    let small = shortest(&mut executor, transports[0], &clock).await?;
    let large = shortest(&mut executor, transports[1], &clock).await?;
    let multiplied = shortest(&mut executor, multiply, &clock).await?;
    let mut host = Attempts::new(clock());
    loop {
        let start = clock();
        std::hint::black_box(product(&square, &square));
        if !host.another(start, clock()) {
            break;
        }
    }
    let dispatch = small / DISPATCHES;
    let volume = f64::from(PRODUCT).powi(3);
    // Clocks of browsers are coarse: nothing takes no time.
    let positive = |seconds: f64| seconds.max(1e-6);
    Ok(Pace {
        product: positive(multiplied - dispatch) / volume,
        host: positive(host.shortest) / volume,
        entry: positive(large - small) / (HALVES * f64::from(PLANS[1]).powi(2)),
        dispatch,
        correction: USUAL,
    })
}

/// Seconds of a pass, from its submit to its end.
async fn shortest(
    executor: &mut AnyExecutor,
    pass: PassId,
    clock: &impl Fn() -> f64,
) -> Result<f64, ExecError> {
    // The first is for pipelines that are compiled when they are first used.
    executor.submit(pass, 1)?;
    executor.settle(0).await?;
    let mut attempts = Attempts::new(clock());
    loop {
        let start = clock();
        executor.submit(pass, 1)?;
        executor.settle(0).await?;
        if !attempts.another(start, clock()) {
            return Ok(attempts.shortest);
        }
    }
}
