//! Cost, Sinkhorn, losses and the implicit backward pass against float64 fixtures, on both executors,
//! natively and in a browser.

use crate::common::{block_on_test, gpu};
use crate::fixtures::{assert_close, embedded, floats, matrix, numbers};
use align::solver::cost::{Cost, CostKind};
use align::solver::implicit;
use align::solver::losses::classic::{self, Distances};
use align::solver::sinkhorn::{Marginals, Relaxation, Sinkhorn};
use compute::exec::{Device, Executor};
use compute::plan::{Mat, PassId, Plan};
use serde_json::Value;

/// A matrix of the fixture, twice: every problem is solved as a batch of two.
const BATCH: u32 = 2;

fn input(plan: &mut Plan, value: &Value) -> Mat {
    let dense = matrix(value);
    let mat = plan.mats("input", BATCH, dense.rows() as u32, dense.cols() as u32);
    plan.set_initial(mat.buf, &dense.data().repeat(BATCH as usize));
    mat
}

/// Plays a pass on both executors and compares both matrices of the batch with what is wanted.
async fn play(plan: &Plan, pass: PassId, repeats: u32, wanted: &[(Mat, Vec<f64>, f64, &str)]) {
    for (name, device) in [("CPU", Device::Cpu), ("GPU", gpu().await)] {
        let mut executor = device.prepare(plan.clone()).await.expect("prepares");
        executor.submit(pass, repeats).expect("submits");
        for (mat, want, tolerance, what) in wanted {
            let got = executor.read(mat.buf).await.expect("reads");
            for half in got.chunks_exact(want.len()) {
                assert_close(half, want, *tolerance, &format!("{what} on the {name}"));
            }
        }
    }
}

block_on_test! {
    async fn cost_and_its_gradient() {
        let case = embedded!("cost_sqm");
        let mut plan = Plan::new();
        let [z, w, grad] = ["fx", "gy", "upstream"].map(|key| input(&mut plan, &case[key]));
        let pass = plan.begin_pass("cost");
        let cost = Cost::forward(&mut plan, CostKind::Sqm, z, w);
        let [dz, dw] = cost.backward(&mut plan, grad);
        play(&plan, pass, 1, &[
            (cost.cost(), numbers(&case["C"]), 1e-5, "cost"),
            (dz, numbers(&case["d_fx"]), 2e-5, "gradient of the first embedding"),
            (dw, numbers(&case["d_gy"]), 2e-5, "gradient of the second embedding"),
        ])
        .await;
    }
}

async fn plan_and_gradient(case: Value, repeats: u32, tolerance: f64) {
    let mut plan = Plan::new();
    let [cost, grad] = ["C", "G"].map(|key| input(&mut plan, &case[key]));
    let [a, b] = ["a", "b"].map(|key| floats(&case[key]));
    // The second of two columns, so that a wrong one shows.
    let clock = plan.set_schedule(2, &[9.0, case["eps"].as_f64().expect("ε") as f32]);
    let lambda = |key: &str| case[key].as_f64().map(|lambda| lambda as f32);
    let relaxation = Relaxation { x: lambda("lambda_x"), y: lambda("lambda_y") };
    let sinkhorn = Sinkhorn::new(&mut plan, BATCH, Marginals { a: &a, b: &b, relaxation }, clock, 1);
    let pass = plan.begin_pass("sinkhorn");
    sinkhorn.record(&mut plan, cost, 20);
    let implicit = implicit::record(&mut plan, &sinkhorn, grad, 15, (clock, 1));
    let scale = numbers(&case["dL_dC"]).iter().fold(0f64, |top, v| top.max(v.abs()));
    play(
        &plan,
        pass,
        repeats,
        &[
            (sinkhorn.plan, numbers(&case["Pi"]), 2e-5, "plan"),
            (implicit.cost_grad, numbers(&case["dL_dC"]), tolerance * scale, "gradient of the cost"),
        ],
    )
    .await;
}

block_on_test! {
    async fn plan_and_implicit_gradient() {
        // Conjugate gradients stop at 1e-3.
        plan_and_gradient(embedded!("sinkhorn_5x7_eps1.0"), 10, 2e-3).await;
        plan_and_gradient(embedded!("sinkhorn_5x7_eps0.1"), 30, 2e-3).await;
        plan_and_gradient(embedded!("sinkhorn_5x7_eps0.02"), 60, 2e-3).await;
    }
}

block_on_test! {
    async fn relaxed_plan_and_implicit_gradient() {
        // The fixtures' gradients agree with their central differences to 1e-6.
        plan_and_gradient(embedded!("unbalanced/kept_eps0.5_lambda0.2_0.2"), 10, 2e-3).await;
        plan_and_gradient(embedded!("unbalanced/kept_eps0.5_lambda1.0_1.0"), 10, 2e-3).await;
        plan_and_gradient(embedded!("unbalanced/kept_eps0.5_lambdainf_0.2"), 10, 2e-3).await;
        plan_and_gradient(embedded!("unbalanced/kept_eps0.05_lambda0.2_0.2"), 20, 2e-3).await;
        plan_and_gradient(embedded!("unbalanced/kept_eps0.05_lambda1.0_1.0"), 20, 2e-3).await;
        plan_and_gradient(embedded!("unbalanced/kept_eps0.05_lambdainf_0.2"), 20, 2e-3).await;
    }
}

block_on_test! {
    async fn classic_loss_dense() {
        let case = embedded!("gw_loss");
        let mut plan = Plan::new();
        let [x, y, pi] = ["DX", "DY", "Pi"].map(|key| input(&mut plan, &case[key]));
        let pass = plan.begin_pass("loss");
        let grad = classic::record(&mut plan, &Distances::Dense { x, y }, pi);
        play(&plan, pass, 1, &[(grad, numbers(&case["gw_grad_Pi"]), 1e-5, "gradient of the plan")]).await;
    }
}

block_on_test! {
    async fn classic_loss_of_low_rank() {
        // |x−y|² = |x|² + |y|² − 2⟨x, y⟩, and with q = |x|² the first two are a difference of squares:
        // q1ᵀ + 1qᵀ = ½((q+1)(q+1)ᵀ − (q−1)(q−1)ᵀ).
        let case = embedded!("gw_loss");
        let factor = |points: &align::geometry::Dense| {
            let (n, d) = (points.rows(), points.cols());
            let q: Vec<f32> = (0..n).map(|i| points.row(i).iter().map(|v| v * v).sum()).collect();
            let u = align::geometry::Dense::from_fn(n, d + 2, |i, j| match j {
                j if j < d => points.at(i, j),
                j if j == d => q[i] + 1.0,
                _ => q[i] - 1.0,
            });
            let s: Vec<f32> = (0..d + 2).map(|j| if j < d { -2.0 } else if j == d { 0.5 } else { -0.5 }).collect();
            let us = align::geometry::Dense::from_fn(n, d + 2, |i, j| u.at(i, j) * s[j]);
            let dense: Vec<f64> = (0..n * n)
                .map(|e| (0..d).map(|j| f64::from(points.at(e / n, j) - points.at(e % n, j)).powi(2)).sum())
                .collect();
            (u, us, dense)
        };
        let (u, us, dx) = factor(&matrix(&case["X"]));
        let (v, vt, dy) = factor(&matrix(&case["Y"]));
        let pi = matrix(&case["Pi"]);
        let (n, m) = (pi.rows(), pi.cols());
        let want: Vec<f64> = (0..n * m)
            .map(|e| {
                let (i, j) = (e / m, e % m);
                let term = |k: usize, l: usize| dx[i * n + k] * f64::from(pi.at(k, l)) * dy[l * m + j];
                -4.0 * (0..n).flat_map(|k| (0..m).map(move |l| (k, l))).map(|(k, l)| term(k, l)).sum::<f64>()
            })
            .collect();

        let mut plan = Plan::new();
        let mut put = |dense: &align::geometry::Dense| {
            let mat = plan.mats("input", BATCH, dense.rows() as u32, dense.cols() as u32);
            plan.set_initial(mat.buf, &dense.data().repeat(BATCH as usize));
            mat
        };
        let [u, us, v, vt, pi] = [&u, &us, &v, &vt, &pi].map(&mut put);
        let pass = plan.begin_pass("loss");
        let grad = classic::record(&mut plan, &Distances::LowRank { u, us, v, vt }, pi);
        play(&plan, pass, 1, &[(grad, want, 1e-4, "gradient of the plan")]).await;
    }
}
