//! How long transports between many points, and the search by third moments, take in a browser: `cargo xtask bench inference
//! --browser` plays this, with the sizes it wants. It measures and asserts only that there is a plan.
#![cfg(target_arch = "wasm32")]

#[path = "../crates/lab/src/bench/inference/clouds.rs"]
mod clouds;
#[path = "../crates/lab/src/bench/ladders.rs"]
mod ladders;

use align::procedure::{NoControl, streamed};
use align::scale::multiscale::multiscale;
use align::scale::{Cancelled, Solved, Watch};
use align::solver::marginals::Relaxation;
use compute::exec::Device;
use wasm_bindgen_test::{console_log, wasm_bindgen_test};

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// As many as are measured, `N×D` and a comma between them; a small one where nobody asks.
const SIZES: Option<&str> = option_env!("CONCORD_INFERENCE_SIZES");
const EPS: f32 = 0.05;
const TOLERANCE: f32 = 1e-3;
/// Beyond this only the way from coarse to fine is measured: a browser tab has one thread and little patience.
const EXACT: usize = 20_000;

/// Milliseconds.
fn now() -> f64 {
    js_sys::Date::now()
}

/// Notes the longest time between two looks, which is what a cancel waits at most.
struct Gaps {
    last: f64,
    longest: f64,
}

impl Watch for Gaps {
    async fn step(&mut self, _done: f64) -> Result<(), Cancelled> {
        let now = now();
        self.longest = self.longest.max(now - self.last);
        self.last = now;
        Ok(())
    }
}

fn tell(method: &str, [n, dim]: [usize; 2], start: f64, solved: &Solved, gap: Option<f64>) {
    let seconds = (now() - start) / 1000.0;
    let each = seconds / f64::from(solved.iterations.max(1));
    let gap = gap.map(|gap| format!(", at most {gap:.0} ms between looks")).unwrap_or_default();
    console_log!(
        "inference: {method}, {n} points a side, {dim} dimensions: {seconds:.2} s, {each:.3} s an iteration, error {:.1e}{gap}",
        solved.error
    );
    assert!(solved.error < 0.1, "{}", solved.error);
}

#[wasm_bindgen_test]
async fn transports_between_many_points() {
    for size in SIZES.unwrap_or("600x8").split(',') {
        let numbers: Vec<usize> = size.split('x').filter_map(|number| number.parse().ok()).collect();
        let [n, dim] = numbers[..] else { panic!("'{size}' is not a size") };
        let clouds = clouds::clouds(n, dim);
        if n <= EXACT {
            let start = now();
            let solved = streamed(
                &Device::Cpu,
                clouds.clone(),
                EPS,
                Relaxation::STRICT,
                TOLERANCE,
                None,
                &mut NoControl,
            )
            .await;
            tell("streamed", [n, dim], start, &solved.expect("solves"), None);
        }
        let start = now();
        let mut gaps = Gaps { last: start, longest: 0.0 };
        let found = multiscale(clouds, EPS, Relaxation::STRICT, TOLERANCE, None, &mut gaps)
            .await
            .expect("nobody cancels");
        tell("multi-scale", [n, dim], start, &found.solved, Some(gaps.longest));
    }
}

#[wasm_bindgen_test]
async fn rotations_by_third_moments() {
    ladders::ladders(2400, || now() / 1000.0, |line| console_log!("starts: {line}"))
        .await
        .expect("nobody cancels");
}
