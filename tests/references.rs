//! The CPU twins against implementations that are not ours: float64 results of jax, optax and scipy in
//! `tests/fixtures/` (with the scripts that made them), and plain float64 loops.
#![cfg(not(target_arch = "wasm32"))]

mod fixtures;

use align::solver::fit::{Fit, FitSettings};
use align::solver::mlp::MlpShape;
use align::solver::sinkhorn::{Marginals, Relaxation, Sinkhorn};
use compute::exec::{CpuExecutor, Executor};
use compute::kernels::matmul::{self, Epilogue, Layout};
use compute::kernels::{Activation, Potential, col_lse, row_lse};
use compute::plan::Plan;
use compute::rng::Rng;
use fixtures::{assert_close, fixture, floats, numbers};
use serde_json::Value;

#[test]
fn networks_train_like_optax() {
    for case in fixture("mlp_adam")["cases"].as_array().expect("cases") {
        let sizes: Vec<u32> = numbers(&case["sizes"]).iter().map(|&s| s as u32).collect();
        let activation = |key: &str| {
            let name = case[key].as_str().expect("a name");
            Activation::ALL.into_iter().find(|a| format!("{a:?}") == name).expect("a known activation")
        };
        let (losses, x) = (numbers(&case["losses"]), floats(&case["x"]));
        let (dim_in, dim_out) = (sizes[0], sizes[sizes.len() - 1]);
        let settings = FitSettings {
            shape: MlpShape { sizes, hidden: activation("hidden"), output: activation("output") },
            batch: 1,
            steps: losses.len() as u32,
            rate: case["rate"].as_f64().expect("a rate") as f32,
            seed: 0,
        };
        let target = floats(&case["target"]);
        let points = [(x.as_slice(), dim_in), (target.as_slice(), dim_out), (x.as_slice(), dim_in)];
        let fit = Fit::record_from(&settings, &floats(&case["start"]), points);
        let gradients = fit.gradients;
        let mut cpu = CpuExecutor::prepare(fit.plan).expect("fits in memory");

        cpu.submit(fit.step, 1).expect("plays");
        let grad = pollster::block_on(cpu.read(gradients)).expect("reads");
        assert_close(&grad, &numbers(&case["grad"]), 2e-6, "first gradient");

        cpu.submit(fit.step, settings.steps - 1).expect("plays");
        let stats = cpu.stats().expect("reads").expect("has statistics");
        assert_close(&stats.values, &losses, 2e-5, "losses");
        let weights = pollster::block_on(cpu.read(fit.weights)).expect("reads");
        assert_close(&weights, &numbers(&case["end"]), 1e-3, "trained weights");
    }
}

/// Plays Sinkhorn half-steps on the fixture's problem and returns f and g after each iteration.
fn sinkhorn(case: &Value, iterations: u32) -> Vec<(Vec<f32>, Vec<f32>)> {
    let (n, m) = (numbers(&case["a"]).len() as u32, numbers(&case["b"]).len() as u32);
    let mut plan = Plan::new();
    let mut input = |label, rows, cols, data: &[f32]| {
        let mat = plan.mat(label, rows, cols);
        plan.set_initial(mat.buf, data);
        mat
    };
    let logs = |key: &str| numbers(&case[key]).iter().map(|w| w.ln() as f32).collect::<Vec<_>>();
    let cost = input("cost", n, m, &floats(&case["C"]));
    let log_a = input("log a", n, 1, &logs("a"));
    let log_b = input("log b", m, 1, &logs("b"));
    let f = input("f", n, 1, &vec![0.0; n as usize]);
    let g = input("g", m, 1, &vec![0.0; m as usize]);
    let clock = plan.set_schedule(1, &[case["eps"].as_f64().expect("ε") as f32]);
    let pass = plan.begin_pass("iteration");
    row_lse::record(&mut plan, &Potential { cost, v: g, log_w: log_a, out: f, clock, eps_column: 0 });
    col_lse::record(&mut plan, &Potential { cost, v: f, log_w: log_b, out: g, clock, eps_column: 0 });
    let mut cpu = CpuExecutor::prepare(plan).expect("fits in memory");
    (0..iterations)
        .map(|_| {
            cpu.submit(pass, 1).expect("plays");
            let mut read = |mat: compute::plan::Mat| pollster::block_on(cpu.read(mat.buf)).expect("reads");
            (read(f), read(g))
        })
        .collect()
}

#[test]
fn half_steps_follow_the_reference_iterates() {
    let case = fixture("sinkhorn_iterates_eps0.1");
    let want = case["iterates"].as_array().expect("iterates");
    for (i, ((f, g), want)) in sinkhorn(&case, 3).into_iter().zip(want).enumerate() {
        assert_close(&f, &numbers(&want["f"]), 2e-6, &format!("f after iteration {i}"));
        assert_close(&g, &numbers(&want["g"]), 2e-6, &format!("g after iteration {i}"));
    }
}

#[test]
fn half_steps_converge_to_the_reference_plan() {
    for eps in ["1.0", "0.1", "0.02"] {
        let case = fixture(&format!("sinkhorn_5x7_eps{eps}"));
        let (f, g) = sinkhorn(&case, 2000).pop().expect("iterations");
        let (cost, eps) = (floats(&case["C"]), case["eps"].as_f64().expect("ε") as f32);
        let plan: Vec<f32> = (0..f.len())
            .flat_map(|i| (0..g.len()).map(move |j| (i, j)))
            .map(|(i, j)| ((f[i] + g[j] - cost[i * g.len() + j]) / eps).exp())
            .collect();
        assert_close(&plan, &numbers(&case["Pi"]), 2e-5, "plan");
    }
}

/// λ of the fixture's sides; null stands for weights that are met.
fn relaxation(case: &Value) -> Relaxation {
    let lambda = |key: &str| case[key].as_f64().map(|lambda| lambda as f32);
    Relaxation { x: lambda("lambda_x"), y: lambda("lambda_y") }
}

/// The optimum of the relaxed problem, with the mass kept at 1: the plan, what its rows hold, and its error. The optimum
/// without that condition is the same but for its mass.
#[test]
fn relaxed_marginals_have_the_reference_plan() {
    for name in ["0.2_0.2", "1.0_1.0", "inf_0.2"] {
        for (eps, form) in [("0.5", "kept"), ("0.05", "kept"), ("0.5", "plain"), ("0.05", "plain")] {
            if form == "plain" && name == "inf_0.2" {
                continue;
            }
            let name = format!("{form}_eps{eps}_lambda{name}");
            let case = fixture(&format!("unbalanced/{name}"));
            let mut plan = Plan::new();
            let dense = fixtures::matrix(&case["C"]);
            let cost = plan.mat("cost", dense.rows() as u32, dense.cols() as u32);
            plan.set_initial(cost.buf, dense.data());
            let [a, b] = ["a", "b"].map(|key| floats(&case[key]));
            // The second of two columns, so that a wrong one shows.
            let clock = plan.set_schedule(2, &[9.0, case["eps"].as_f64().expect("ε") as f32]);
            let marginals = Marginals { a: &a, b: &b, relaxation: relaxation(&case) };
            let sinkhorn = Sinkhorn::new(&mut plan, 1, marginals, clock, 1);
            let pass = plan.begin_pass("sinkhorn");
            let error = plan.mat("error", 1, 1);
            sinkhorn.record(&mut plan, cost, 10);
            sinkhorn.record_error(&mut plan, error);
            let mut cpu = CpuExecutor::prepare(plan).expect("fits in memory");
            cpu.submit(pass, 20).expect("plays");
            let mut read = |mat: compute::plan::Mat| pollster::block_on(cpu.read(mat.buf)).expect("reads");
            let mass = case["mass"].as_f64().expect("a mass");
            let shares = |key: &str| numbers(&case[key]).iter().map(|v| v / mass).collect::<Vec<f64>>();
            assert_close(&read(sinkhorn.plan), &shares("Pi"), 1e-6, &format!("{name}: plan"));
            assert_close(&read(sinkhorn.rows()), &shares("rows"), 1e-6, &format!("{name}: rows"));
            assert!(read(error)[0] < 1e-5, "{name}: {}", read(error)[0]);
        }
    }
}

/// Without relaxation nothing is recorded that was not before.
#[test]
fn strict_marginals_cost_nothing_extra() {
    let recorded = |relaxation| {
        let (a, b) = (vec![0.25; 4], vec![0.2; 5]);
        let mut plan = Plan::new();
        let cost = plan.mat("cost", 4, 5);
        let clock = plan.set_schedule(1, &[0.1]);
        let marginals = Marginals { a: &a, b: &b, relaxation };
        let sinkhorn = Sinkhorn::new(&mut plan, 1, marginals, clock, 0);
        plan.begin_pass("sinkhorn");
        sinkhorn.record(&mut plan, cost, 10);
        let stages: usize = plan.passes().iter().map(|pass| pass.stages.len()).sum();
        (stages, plan.bytes())
    };
    let (stages, bytes) = recorded(Relaxation::STRICT);
    assert_eq!(stages, 22, "2·iterations + 2");
    let (more, larger) = recorded(Relaxation::both(0.5));
    assert!(more > stages && larger > bytes, "{more} stages, {larger} bytes");
}

#[test]
fn matrix_products_match_float64_loops() {
    let mut rng = Rng::new(5);
    for [m, n, k] in [[1, 1, 1], [2, 3, 5], [17, 9, 33], [70, 65, 130]] {
        for layout in [Layout::NN, Layout::NT, Layout::TN] {
            let (m, n, k) = (m as usize, n as usize, k as usize);
            let (a, b) = (rng.fill(m * k, -1.0, 1.0), rng.fill(k * n, -1.0, 1.0));
            let at = |i: usize, l: usize| if layout == Layout::TN { a[l * m + i] } else { a[i * k + l] };
            let bt = |l: usize, j: usize| if layout == Layout::NT { b[j * k + l] } else { b[l * n + j] };
            let want: Vec<f64> = (0..m * n)
                .map(|e| {
                    (0..k).map(|l| f64::from(at(e / n, l)) * f64::from(bt(l, e % n))).sum::<f64>() * -4.0
                })
                .collect();

            let mut plan = Plan::new();
            let shape = |transposed, r: usize, c: usize| if transposed { (c, r) } else { (r, c) };
            let mut input = |label, (rows, cols): (usize, usize), data: &[f32]| {
                let mat = plan.mat(label, rows as u32, cols as u32);
                plan.set_initial(mat.buf, data);
                mat
            };
            let a = input("a", shape(layout == Layout::TN, m, k), &a);
            let b = input("b", shape(layout == Layout::NT, k, n), &b);
            let c = input("c", (m, n), &vec![f32::NAN; m * n]);
            let pass = plan.begin_pass("product");
            matmul::record(&mut plan, layout, -4.0, [a, b, c], Epilogue::None);
            let mut cpu = CpuExecutor::prepare(plan).expect("fits in memory");
            cpu.submit(pass, 1).expect("plays");
            let got = pollster::block_on(cpu.read(c.buf)).expect("reads");
            assert_close(&got, &want, 1e-4, &format!("{layout:?} {m}×{n}×{k}"));
        }
    }
}
