//! One fit on the CPU executor, natively and in a browser from the same body: it has to learn the same, and what a
//! step takes in each is printed for comparison (`cargo xtask bench --browser`).

use crate::common::block_on_test;
use align::geometry::Dense;
use align::geometry::distance::Metric;
use align::geometry::low_rank::factors;
use align::solver::align::{Align, AlignSettings, Objective, Problem, STATS, Terms};
use align::solver::losses::classic::Distances;
use compute::exec::{CpuExecutor, Executor};
use compute::plan::{Mat, Plan};
use compute::rng::Rng;

const POINTS: usize = 300;
const STEPS: u32 = 80;
/// Steps that are not timed: a browser compiles what it sees often, a second time and better.
const WARM: u32 = 40;

/// Seconds since some moment.
fn now() -> f64 {
    #[cfg(target_arch = "wasm32")]
    return js_sys::Date::now() / 1000.0;
    #[cfg(not(target_arch = "wasm32"))]
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0.0, |t| t.as_secs_f64())
}

fn say(text: &str) {
    #[cfg(target_arch = "wasm32")]
    wasm_bindgen_test::console_log!("{text}");
    #[cfg(not(target_arch = "wasm32"))]
    eprintln!("{text}");
}

fn put(plan: &mut Plan, dense: &Dense) -> Mat {
    let mat = plan.mat("input", dense.rows() as u32, dense.cols() as u32);
    plan.set_initial(mat.buf, dense.data());
    mat
}

block_on_test! {
    async fn a_fit_of_low_rank_learns_wherever_it_runs() {
        // The same clusters seen through two maps, of the dimensions of a pair of single-cell assays.
        let mut rng = Rng::new(20);
        let hidden = Dense::from_fn(POINTS, 4, |i, j| ((i * (j + 3)) % 7) as f32 + rng.uniform(-0.5, 0.5));
        let [x, y] = [10, 19].map(|dims| {
            let map = Dense::new(4, dims, rng.fill(4 * dims, -1.0, 1.0));
            Dense::from_fn(POINTS, dims, |i, j| (0..4).map(|k| hidden.at(i, k) * map.at(k, j)).sum::<f32>() / 4.0)
        });
        let [fx, fy] = [&x, &y].map(|side| factors(side, Metric::Cosine, side.cols()).expect("has factors"));
        let mut plan = Plan::new();
        let [u, us, v, vt] = [&fx.u, &fx.scaled(), &fy.u, &fy.scaled()].map(|factor| put(&mut plan, factor));
        let objective = Objective::Classic(Distances::LowRank { u, us, v, vt });
        let (x, y) = (put(&mut plan, &x), put(&mut plan, &y));
        let settings = AlignSettings { steps: STEPS, ..AlignSettings::default() };
        let align = Align::record(&mut plan, &settings, &Problem { x, y, objective, terms: Terms::default(), sums: None });
        let mut cpu = CpuExecutor::prepare(plan).expect("fits");
        cpu.submit(align.step, WARM).expect("plays");
        let start = now();
        cpu.submit(align.step, STEPS - WARM).expect("plays");
        let seconds = now() - start;
        let stats = cpu.stats().expect("reads").expect("has steps").values;
        let losses: Vec<f32> = stats.iter().step_by(STATS as usize).copied().collect();
        assert!(losses.iter().all(|loss| loss.is_finite()));
        let (first, last) = (losses[0], losses[losses.len() - 1]);
        assert!(last < first - 0.01 * first.abs(), "the loss went from {first} to {last}");
        say(&format!("training step, classic low rank, n = {POINTS}: {:.3} ms", 1e3 * seconds / f64::from(STEPS - WARM)));
    }
}
