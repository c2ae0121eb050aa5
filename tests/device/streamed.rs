//! Transport that holds no plan against Sinkhorn in float64 that does, on both executors, natively and in a browser.

use std::time::Duration;

use crate::common::{block_on_test, gpu};
use align::geometry::Dense;
use align::procedure::{Control, Failure, NoControl, Progress, Way, streamed, transport, transport_by};
use align::scale::{Clouds, Implicit};
use align::solver::cost::CostKind;
use align::solver::infer::Encoders;
use align::solver::marginals::Relaxation;
use align::solver::streamed::{Extent, Streamed};
use compute::exec::{Device, ExecError, GpuDevice};
use compute::rng::Rng;

/// Two sides that differ in size and lie about each other.
fn sides([n, m, d]: [usize; 3]) -> [Dense; 2] {
    let mut rng = Rng::new(11);
    let mut side = |rows: usize, low: f32| Dense::new(rows, d, rng.fill(rows * d, low, 1.0));
    [side(n, -1.0), side(m, -0.5)]
}

fn clouds(sizes: [usize; 3]) -> Clouds {
    let [x, y] = sides(sizes);
    Clouds::new([&x, &y], CostKind::Sqm)
}

/// The cost in float64, row by row.
fn cost(clouds: &Clouds) -> Vec<Vec<f64>> {
    let apart = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum();
    let (x, y) = (&clouds.x, &clouds.y);
    (0..x.rows()).map(|i| (0..y.rows()).map(|j| apart(x.row(i), y.row(j))).collect()).collect()
}

/// The plan by Sinkhorn's iterations as they are written in books, far beyond convergence.
fn plain_plan(cost: &[Vec<f64>], eps: f64) -> Vec<Vec<f64>> {
    let (n, m) = (cost.len(), cost[0].len());
    let kernel: Vec<Vec<f64>> =
        cost.iter().map(|row| row.iter().map(|c| (-c / eps).exp()).collect()).collect();
    let (mut u, mut v) = (vec![1.0; n], vec![1.0; m]);
    for _ in 0..3000 {
        for (u, row) in u.iter_mut().zip(&kernel) {
            *u = 1.0 / n as f64 / row.iter().zip(&v).map(|(k, v)| k * v).sum::<f64>();
        }
        for (j, v) in v.iter_mut().enumerate() {
            *v = 1.0 / m as f64 / kernel.iter().zip(&u).map(|(row, u)| row[j] * u).sum::<f64>();
        }
    }
    (0..n).map(|i| (0..m).map(|j| u[i] * kernel[i][j] * v[j]).collect()).collect()
}

/// An implicit plan, entry by entry in float64 from its definition.
fn entries(plan: &Implicit) -> Vec<Vec<f64>> {
    let eps = f64::from(plan.eps);
    let mut all = cost(&plan.clouds);
    for (row, f) in all.iter_mut().zip(&plan.f) {
        for (c, g) in row.iter_mut().zip(&plan.g) {
            *c = ((f64::from(*f) + f64::from(*g) - *c) / eps).exp();
        }
    }
    all
}

/// How far rows and columns are from their weights, each summed.
fn misses(plan: &[Vec<f64>]) -> [f64; 2] {
    let (n, m) = (plan.len(), plan[0].len());
    let rows = plan.iter().map(|row| (row.iter().sum::<f64>() - 1.0 / n as f64).abs()).sum();
    let columns = (0..m).map(|j| (plan.iter().map(|row| row[j]).sum::<f64>() - 1.0 / m as f64).abs()).sum();
    [rows, columns]
}

/// The mass by which two plans differ.
fn apart(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| (a - b).abs()).sum()
}

async fn devices() -> [(&'static str, Device); 2] {
    [("CPU", Device::Cpu), ("GPU", gpu().await)]
}

block_on_test! {
    async fn the_plan_is_that_of_plain_sinkhorn() {
        // Below and above a group of rows and a panel of columns, dimensions of every kind, a single point.
        for (sizes, eps) in [([60, 45, 5], 0.05), ([25, 70, 16], 0.2), ([49, 17, 3], 0.02), ([1, 7, 2], 0.05), ([9, 1, 1], 1.5)] {
            let clouds = clouds(sizes);
            let want = plain_plan(&cost(&clouds), f64::from(eps));
            for (name, device) in devices().await {
                let solved = streamed(&device, clouds.clone(), eps, Relaxation::STRICT, 1e-4, None, &mut NoControl).await.expect("solves");
                let got = entries(&solved.plan);
                let [rows, columns] = misses(&got);
                assert!(solved.error <= 1e-4, "{name} {sizes:?}: {} after {}", solved.error, solved.iterations);
                assert!(rows < 5e-5 && columns < 1.5e-4, "{name} {sizes:?}: misses {rows:.1e} and {columns:.1e}");
                assert!((columns - f64::from(solved.error)).abs() < 5e-5, "{name}: {columns:.1e} was said to be {:.1e}", solved.error);
                assert!(apart(&got, &want) < 2e-3, "{name} {sizes:?}: {:.1e} of the mass elsewhere", apart(&got, &want));
            }
        }
    }
}

/// Relaxed Sinkhorn in plain loops: `f_i = ε (log a − τ LSE_j((g_j − C_ij)/ε))`, its plan divided by its mass.
fn plain_relaxed(cost: &[Vec<f64>], eps: f32, relaxation: Relaxation) -> Vec<Vec<f64>> {
    let (n, m) = (cost.len(), cost[0].len());
    let taus = [0, 1].map(|side| f64::from(relaxation.tau(side, eps)));
    let eps = f64::from(eps);
    let (mut f, mut g) = (vec![0.0; n], vec![0.0; m]);
    let lse = |terms: &dyn Fn(usize) -> f64, count: usize| {
        let top = (0..count).map(terms).fold(f64::MIN, f64::max);
        top + (0..count).map(|k| (terms(k) - top).exp()).sum::<f64>().ln()
    };
    for _ in 0..3000 {
        for (j, g) in g.iter_mut().enumerate() {
            *g = -eps * ((m as f64).ln() + taus[1] * lse(&|i| (f[i] - cost[i][j]) / eps, n));
        }
        for (i, f) in f.iter_mut().enumerate() {
            *f = -eps * ((n as f64).ln() + taus[0] * lse(&|j| (g[j] - cost[i][j]) / eps, m));
        }
    }
    let mut plan: Vec<Vec<f64>> =
        (0..n).map(|i| (0..m).map(|j| ((f[i] + g[j] - cost[i][j]) / eps).exp()).collect()).collect();
    let mass: f64 = plan.iter().flatten().sum();
    plan.iter_mut().flatten().for_each(|p| *p /= mass);
    plan
}

block_on_test! {
    async fn a_relaxed_plan_is_that_of_plain_sinkhorn() {
        for (sizes, eps) in [([60, 45, 5], 0.05), ([25, 70, 16], 0.2), ([1, 7, 2], 0.05)] {
            let clouds = clouds(sizes);
            for relaxation in [
                Relaxation::both(0.2),
                Relaxation { x: Some(0.5), y: None },
                Relaxation { x: None, y: Some(0.3) },
            ] {
                let want = plain_relaxed(&cost(&clouds), eps, relaxation);
                for (name, device) in devices().await {
                    let control = &mut NoControl;
                    let solved = streamed(&device, clouds.clone(), eps, relaxation, 1e-4, None, control).await;
                    let solved = solved.expect("solves");
                    let apart = apart(&entries(&solved.plan), &want);
                    assert!(solved.error <= 1e-4, "{name} {sizes:?}, {relaxation:?}: {}", solved.error);
                    assert!(apart < 1e-3, "{name} {sizes:?}, {relaxation:?}: {apart:.1e} of the mass elsewhere");
                }
            }
        }
    }
}

block_on_test! {
    async fn it_agrees_with_the_transport_that_holds_its_plan() {
        let [x, y] = sides([60, 45, 5]);
        for kind in [CostKind::Sqm, CostKind::Cosine] {
            let encoders = Encoders::Embedded { dim: 5, cost: kind };
            let dense = transport(&Device::Cpu, &encoders, [&x, &y], 0.05, Relaxation::STRICT, &mut NoControl).await.expect("solves");
            let whole = dense.plan.whole();
            let dense: Vec<Vec<f64>> =
                (0..60).map(|i| whole.row(i).iter().map(|v| f64::from(*v)).collect()).collect();
            let clouds = Clouds::new([&x, &y], kind);
            for (name, device) in devices().await {
                let solved = streamed(&device, clouds.clone(), 0.05, Relaxation::STRICT, 1e-3, None, &mut NoControl).await.expect("solves");
                let apart = apart(&entries(&solved.plan), &dense);
                assert!(apart < 2e-2, "{name}, {kind:?}: {apart:.1e} of the mass elsewhere");
            }
        }
    }
}

/// Cancels at some checkpoint, and keeps what it is told until then.
struct Interrupting {
    checkpoints: u32,
    at: u32,
    reached: Option<[Vec<f32>; 2]>,
}

impl Interrupting {
    fn after(at: u32) -> Self {
        Self { checkpoints: 0, at, reached: None }
    }
}

impl Control for Interrupting {
    async fn checkpoint(&mut self, progress: Progress) -> Result<(), Failure> {
        assert!(progress.done < progress.of && progress.phase == "matching all points");
        self.checkpoints += 1;
        if self.checkpoints == self.at { Err(Failure::Cancelled) } else { Ok(()) }
    }

    fn keeps(&mut self, _finished: bool) -> bool {
        true
    }

    fn remember(&mut self, what: &str, mut values: Vec<f32>) {
        assert_eq!(what, "potentials");
        let g = values.split_off(60);
        self.reached = Some([values, g]);
    }
}

block_on_test! {
    async fn a_run_that_was_interrupted_goes_on_elsewhere() {
        let (clouds, eps, tolerance) = (clouds([60, 45, 5]), 0.02, 1e-4);
        let whole = streamed(&Device::Cpu, clouds.clone(), eps, Relaxation::STRICT, tolerance, None, &mut NoControl).await.expect("solves");
        // A checkpoint is eight iterations here. Early, when ε is still coarse, and late.
        for at in [3, 6] {
            let mut control = Interrupting::after(at);
            let failure = streamed(&gpu().await, clouds.clone(), eps, Relaxation::STRICT, tolerance, None, &mut control).await.err();
            assert!(matches!(failure, Some(Failure::Cancelled)), "{failure:?}");
            let reached = control.reached.expect("potentials were told on the way");
            let resumed = streamed(&Device::Cpu, clouds.clone(), eps, Relaxation::STRICT, tolerance, Some(reached), &mut NoControl)
                .await
                .expect("solves");
            assert!(resumed.error <= tolerance);
            assert!(apart(&entries(&resumed.plan), &entries(&whole.plan)) < 2e-3);
            assert!(resumed.iterations < whole.iterations, "{} of {}", resumed.iterations, whole.iterations);
        }
        // From the end there is nothing left to do but to see that.
        let start = Some([whole.plan.f.clone(), whole.plan.g.clone()]);
        let again = streamed(&Device::Cpu, clouds, eps, Relaxation::STRICT, tolerance, start, &mut NoControl).await.expect("solves");
        assert!(again.iterations <= 1 + 8, "{}", again.iterations);
        assert!(apart(&entries(&again.plan), &entries(&whole.plan)) < 1e-3);
    }
}

block_on_test! {
    async fn a_long_iteration_can_be_cancelled_in_its_midst() {
        // Two parts: what is to happen at once is bounded by the pairs.
        let clouds = clouds([48, 700_000, 1]);
        let mut control = Interrupting::after(1);
        let failure = streamed(&Device::Cpu, clouds, 0.5, Relaxation::STRICT, 1e-3, None, &mut control).await.err();
        assert!(matches!(failure, Some(Failure::Cancelled)), "{failure:?}");
        assert!(control.checkpoints == 1 && control.reached.is_none());
        let recorded = Streamed::record(Extent { rows: 48, cols: 700_000, dim: 1 }, 1 << 24, Relaxation::STRICT);
        assert_eq!(recorded.parts.len(), 2);
    }
}

block_on_test! {
    async fn what_cannot_be_held_is_refused_with_its_size() {
        for (name, device) in devices().await {
            let recorded = Streamed::record(Extent { rows: 2_000_000_000, cols: 100, dim: 64 }, 1 << 30, Relaxation::STRICT);
            match device.prepare(recorded.plan).await.err() {
                Some(ExecError::TooLarge { what, needed, .. }) => {
                    // The points alone; where memory is scarcer, all buffers together are refused first.
                    assert!((512_000_000_000..530_000_000_000).contains(&needed), "{name}: {what}, {needed}");
                }
                other => panic!("{name}: {other:?}"),
            }
        }
    }
}

block_on_test! {
    async fn what_makes_no_sense_is_refused() {
        let good = || clouds([6, 5, 2]);
        let empty = Clouds::new([&Dense::new(0, 2, vec![]), &good().y], CostKind::Sqm);
        let other = [vec![0.0; 5], vec![0.0; 6]];
        for (clouds, eps, start) in [(empty, 0.1, None), (good(), 0.0, None), (good(), f32::NAN, None), (good(), 0.1, Some(other))] {
            let failure = streamed(&Device::Cpu, clouds, eps, Relaxation::STRICT, 1e-3, start, &mut NoControl).await.err();
            assert!(matches!(failure, Some(Failure::Input(_))), "{failure:?}");
        }
        let mut broken = good();
        broken.x = Dense::from_fn(6, 2, |_, _| f32::NAN);
        let failure = streamed(&Device::Cpu, broken, 0.1, Relaxation::STRICT, 1e-3, None, &mut NoControl).await.err();
        assert!(matches!(failure, Some(Failure::Diverged { .. })), "{failure:?}");
    }
}

/// The ways in which a device is lost.
type Loss = fn(&GpuDevice);
const LOSSES: [(&str, Loss); 2] = [("destroyed", GpuDevice::destroy), ("silent", silence)];

fn silence(gpu: &GpuDevice) {
    gpu.silence_after(0, Duration::from_millis(200));
}

/// Takes the device away after some looks, and counts those that follow.
struct Losing<'a> {
    device: &'a Device,
    lose: fn(&GpuDevice),
    looks: u32,
    after: u32,
}

impl Control for Losing<'_> {
    async fn checkpoint(&mut self, _progress: Progress) -> Result<(), Failure> {
        Ok(())
    }

    fn keeps(&mut self, _finished: bool) -> bool {
        true
    }

    fn remember(&mut self, _what: &str, _values: Vec<f32>) {
        self.looks += 1;
        if let (true, Device::Gpu(gpu)) = (self.looks == self.after, self.device) {
            (self.lose)(gpu);
        }
    }
}

block_on_test! {
    async fn a_lost_device_is_taken_over_from_by_the_cpu() {
        let (clouds, eps) = (clouds([60, 45, 5]), 0.02);
        let want = streamed(&Device::Cpu, clouds.clone(), eps, Relaxation::STRICT, 1e-4, None, &mut NoControl).await.expect("solves");
        for (how, lose) in LOSSES {
            let device = gpu().await;
            let mut whole = Losing { device: &device, lose, looks: 0, after: u32::MAX };
            streamed(&device, clouds.clone(), eps, Relaxation::STRICT, 1e-4, None, &mut whole).await.expect("solves");
            let mut control = Losing { device: &device, lose, looks: 0, after: whole.looks - 1 };
            let got = streamed(&device, clouds.clone(), eps, Relaxation::STRICT, 1e-4, None, &mut control).await.expect("goes on");
            assert!(control.looks >= control.after, "it was lost");
            assert!(got.error <= 1e-4);
            assert!(apart(&entries(&got.plan), &entries(&want.plan)) < 2e-3, "{how}: the same plan");
            // From the start the CPU would need all of them again.
            let more = control.looks - control.after;
            assert!(more < whole.looks / 2 + 1, "{how}: {more} looks more after {} of {}", control.after, whole.looks);
        }
    }
}

// Where the CPU has a shorter way between so many points, it takes that, and says so.
block_on_test! {
    async fn a_lost_device_leaves_many_points_to_the_shorter_way() {
        let [x, y] = sides([4100, 4000, 2]);
        let device = gpu().await;
        let encoders = Encoders::Embedded { dim: 2, cost: CostKind::Sqm };
        let mut control = Losing { device: &device, lose: GpuDevice::destroy, looks: 0, after: 1 };
        let got = transport_by(Way::Streamed, &device, &encoders, [&x, &y], 0.05, Relaxation::STRICT, &mut control).await.expect("goes on");
        assert!(control.looks >= 1, "it was lost");
        assert_eq!(got.way, Way::Multiscale);
        assert!(got.error <= 1e-3);
    }
}
