//! Losses, terms and costs: float64 fixtures, and every gradient against central differences of a formula that
//! stands here in float64. On both executors, natively and in a browser.

use crate::common::{block_on_test, gpu};
use crate::fixtures::{assert_close, embedded, floats, matrix, numbers};
use align::geometry::spectral::{Thin, thin};
use align::solver::cost::{Cost, CostKind};
use align::solver::losses::classic::{self, Distances};
use align::solver::losses::rank_gw::{self, Halves, Ranks};
use align::solver::losses::soft_rank::{self, SoftRank, TAU};
use align::solver::losses::sums::Sums;
use align::solver::losses::{Graded, Symmetry, frobenius};
use align::solver::terms::{dirichlet, fused, pairs};
use compute::exec::{Device, Executor};
use compute::kernels::soft_rank::{self as soft_rank_kernel, Blocks, soft_ranks};
use compute::kernels::{soft_rank_grad, sort_rows};
use compute::plan::{Mat, PassId, Plan};
use compute::rng::Rng;
use serde_json::Value;

/// Fits in a stack. Those of the random tests differ from each other, so that a wrong stride shows.
const BATCH: usize = 2;

/// One row-major matrix for every fit.
type Stack = [Vec<f64>; BATCH];

/// A matrix of a fixture, the same for every fit.
fn given(plan: &mut Plan, value: &Value) -> Mat {
    let dense = matrix(value);
    put(plan, [dense.rows(), dense.cols()], &[(); BATCH].map(|()| numbers(value)))
}

/// A column vector of a fixture.
fn column(plan: &mut Plan, value: &Value) -> Mat {
    let len = floats(value).len();
    put(plan, [len, 1], &[(); BATCH].map(|()| numbers(value)))
}

fn put(plan: &mut Plan, [rows, cols]: [usize; 2], stack: &Stack) -> Mat {
    let mat = plan.mats("input", BATCH as u32, rows as u32, cols as u32);
    plan.set_initial(mat.buf, &stack.concat().into_iter().map(|v| v as f32).collect::<Vec<f32>>());
    mat
}

/// Random matrices whose values float32 holds exactly.
fn random(rng: &mut Rng, len: usize, low: f32, high: f32) -> Stack {
    [(); BATCH].map(|()| rng.fill(len, low, high).into_iter().map(f64::from).collect())
}

/// Random symmetric matrices with a zero diagonal.
fn symmetric(rng: &mut Rng, n: usize) -> Stack {
    random(rng, n * n, 0.1, 1.0).map(|full| {
        (0..n * n)
            .map(|e| match (e / n, e % n) {
                (i, j) if i == j => 0.0,
                (i, j) => full[i.min(j) * n + i.max(j)],
            })
            .collect()
    })
}

/// A·B, for A with `rows` and B with `cols`.
fn product(a: &[f64], b: &[f64], [rows, cols]: [usize; 2]) -> Vec<f64> {
    let inner = a.len() / rows;
    (0..rows * cols)
        .map(|e| (0..inner).map(|k| a[e / cols * inner + k] * b[k * cols + e % cols]).sum())
        .collect()
}

fn transposed(a: &[f64], rows: usize) -> Vec<f64> {
    let cols = a.len() / rows;
    (0..a.len()).map(|e| a[e % rows * cols + e / rows]).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Central differences.
fn differences(at: &[f64], value: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    const H: f64 = 1e-6;
    (0..at.len())
        .map(|i| {
            let shifted = |by| {
                let mut moved = at.to_vec();
                moved[i] += by;
                value(&moved)
            };
            (shifted(H) - shifted(-H)) / (2.0 * H)
        })
        .collect()
}

/// Plays a pass twice on both executors (a step repeats, so nothing may pile up) and compares, with a
/// tolerance relative to the largest value that is wanted.
async fn play(plan: &Plan, pass: PassId, wanted: &[(Mat, Stack, f64, &str)]) {
    for (name, device) in [("CPU", Device::Cpu), ("GPU", gpu().await)] {
        let mut executor = device.prepare(plan.clone()).await.expect("prepares");
        executor.submit(pass, 2).expect("submits");
        for (mat, stack, tolerance, what) in wanted {
            let got = executor.read(mat.buf).await.expect("reads");
            let scale = stack.iter().flatten().fold(1e-3, |top: f64, v| top.max(v.abs()));
            for (fit, (got, want)) in got.chunks_exact(mat.len() as usize).zip(stack).enumerate() {
                assert_close(got, want, tolerance * scale, &format!("{what} of fit {fit} on the {name}"));
            }
        }
    }
}

/// Compares a loss with a fixture.
async fn is_as_in_fixture(plan: &Plan, pass: PassId, graded: Graded, value: f64, grad: &[f64]) {
    let wanted = [
        (graded.value, [(); BATCH].map(|()| vec![value]), 1e-5, "value"),
        (graded.grad, [(); BATCH].map(|()| grad.to_vec()), 1e-5, "gradient"),
    ];
    play(plan, pass, &wanted).await;
}

/// Compares a loss with a formula and its central differences.
async fn is_gradient_of(
    (plan, pass): (&Plan, PassId),
    graded: Graded,
    at: &Stack,
    formula: impl Fn(usize, &[f64]) -> f64,
) {
    let fits: [usize; BATCH] = std::array::from_fn(|fit| fit);
    let wanted = [
        (graded.value, fits.map(|fit| vec![formula(fit, &at[fit])]), 1e-5, "value"),
        (graded.grad, fits.map(|fit| differences(&at[fit], |x| formula(fit, x))), 2e-5, "gradient"),
    ];
    play(plan, pass, &wanted).await;
}

/// n, m and the marginal of the rows that the random tests use.
const N: usize = 9;
const M: usize = 13;

/// `P D Pᵀ` with `P = Π/a`.
fn carried(pi: &[f64], a: &[f64], d: &[f64]) -> Vec<f64> {
    let p: Vec<f64> = pi.iter().enumerate().map(|(e, v)| v / a[e / M]).collect();
    product(&product(&p, d, [N, M]), &transposed(&p, N), [N, N])
}

block_on_test! {
    async fn classic_dense_is_the_gradient_of_its_value() {
        let rng = &mut Rng::new(1);
        let (dx, dy, pi) = (symmetric(rng, N), symmetric(rng, M), random(rng, N * M, 0.0, 0.02));
        let mut plan = Plan::new();
        let x = put(&mut plan, [N, N], &dx);
        let y = put(&mut plan, [M, M], &dy);
        let at = put(&mut plan, [N, M], &pi);
        let pass = plan.begin_pass("loss");
        let graded = classic::graded(&mut plan, &Distances::Dense { x, y }, at);
        is_gradient_of((&plan, pass), graded, &pi, |fit, pi| {
            -2.0 * dot(&product(&product(&dx[fit], pi, [N, M]), &dy[fit], [N, M]), pi)
        })
        .await;
    }
}

block_on_test! {
    async fn classic_of_low_rank_is_the_gradient_of_its_value() {
        let rng = &mut Rng::new(2);
        const RANK: usize = 4;
        let [u, v] = [N, M].map(|rows| random(rng, rows * RANK, -1.0, 1.0));
        let signs = [1.0, -2.0, 0.5, -1.0];
        let signed = |stack: &Stack| {
            stack.each_ref().map(|u| u.iter().enumerate().map(|(e, u)| u * signs[e % RANK]).collect::<Vec<f64>>())
        };
        let (us, vt) = (signed(&u), signed(&v));
        let pi = random(rng, N * M, 0.0, 0.02);
        let mut plan = Plan::new();
        let [u_mat, us_mat] = [&u, &us].map(|stack| put(&mut plan, [N, RANK], stack));
        let [v_mat, vt_mat] = [&v, &vt].map(|stack| put(&mut plan, [M, RANK], stack));
        let at = put(&mut plan, [N, M], &pi);
        let pass = plan.begin_pass("loss");
        let distances = Distances::LowRank { u: u_mat, us: us_mat, v: v_mat, vt: vt_mat };
        let graded = classic::graded(&mut plan, &distances, at);
        is_gradient_of((&plan, pass), graded, &pi, |fit, pi| {
            let dx = product(&us[fit], &transposed(&u[fit], N), [N, N]);
            let dy = product(&vt[fit], &transposed(&v[fit], M), [M, M]);
            -2.0 * dot(&product(&product(&dx, pi, [N, M]), &dy, [N, M]), pi)
        })
        .await;
    }
}

/// `[RX | RXᵀ]`, as the dense rank loss wants it, of a square matrix.
fn both_ways(ranks: &[f64], n: usize) -> Vec<f64> {
    beside(ranks, &transposed(ranks, n), n)
}

/// `[A | B]` for matrices of as many rows.
fn beside(a: &[f64], b: &[f64], rows: usize) -> Vec<f64> {
    let [wide, narrow] = [a, b].map(|part| part.chunks_exact(part.len() / rows));
    wide.zip(narrow).flat_map(|(a, b)| [a, b].concat()).collect()
}

/// Puts `[A|B]` and `[B|A]` into the plan.
fn halves(plan: &mut Plan, a: &Stack, b: &Stack, rows: usize) -> Halves {
    let cols = (a[0].len() + b[0].len()) / rows;
    let mut put_beside = |a: &Stack, b: &Stack| {
        put(plan, [rows, cols], &std::array::from_fn(|fit| beside(&a[fit], &b[fit], rows)))
    };
    Halves { ab: put_beside(a, b), ba: put_beside(b, a) }
}

fn mask(plan: &mut Plan, x: usize, y: usize) -> Mat {
    let mask: Vec<f64> = rank_gw::mask(x as u32, y as u32).into_iter().map(f64::from).collect();
    put(plan, [2 * x, 2 * y], &[(); BATCH].map(|()| mask.clone()))
}

block_on_test! {
    async fn rank_gw_is_as_in_the_fixture() {
        let fixture = embedded!("rank_gw");
        for (name, n, m) in [("uniform_6x6", 6, 6), ("weighted_7x5", 7, 5), ("ties_6x8", 6, 8)] {
            let case = &fixture[name];
            let figure = |key: &str| case[key].as_f64().expect("a number");
            // The value is the part of the loss that depends on the plan.
            let value = figure("loss") - figure("const");
            for thinned in [false, true] {
                let mut plan = Plan::new();
                let ranks = if thinned {
                    // As many columns as points: nothing is left out.
                    let [x, y] = ["R_X", "R_Y"].map(|key| {
                        let ranks = matrix(&case[key]);
                        let Thin { left, right } = thin(&ranks, 0.999_999, 16).expect("a full product");
                        let [left, right] = [left, right].map(|side| {
                            let side: Vec<f64> = side.data().iter().map(|v| f64::from(*v)).collect();
                            [(); BATCH].map(|()| side.clone())
                        });
                        halves(&mut plan, &left, &right, ranks.rows())
                    });
                    Ranks::Thin { x, y, mask: mask(&mut plan, n, m) }
                } else {
                    let x = both_ways(&numbers(&case["R_X"]), n);
                    let x = put(&mut plan, [n, 2 * n], &[(); BATCH].map(|()| x.clone()));
                    Ranks::Dense { x, y: given(&mut plan, &case["R_Y"]) }
                };
                let pi = given(&mut plan, &case["Pi"]);
                let pass = plan.begin_pass("loss");
                let graded = rank_gw::graded(&mut plan, &ranks, pi);
                is_as_in_fixture(&plan, pass, graded, value, &numbers(&case["grad_Pi"])).await;
            }
        }
    }
}

/// What the rank loss is without its constant, for any matrices.
fn ranked_apart(rx: &[f64], ry: &[f64], pi: &[f64]) -> f64 {
    -2.0 * dot(&product(&product(rx, pi, [N, M]), &transposed(ry, M), [N, M]), pi)
}

block_on_test! {
    async fn rank_gw_dense_is_the_gradient_of_its_value() {
        let rng = &mut Rng::new(10);
        let (rx, ry) = (random(rng, N * N, 0.0, 1.0), random(rng, M * M, 0.0, 1.0));
        let pi = random(rng, N * M, 0.0, 0.02);
        let mut plan = Plan::new();
        let x = put(&mut plan, [N, 2 * N], &rx.each_ref().map(|r| both_ways(r, N)));
        let y = put(&mut plan, [M, M], &ry);
        let at = put(&mut plan, [N, M], &pi);
        let pass = plan.begin_pass("loss");
        let graded = rank_gw::graded(&mut plan, &Ranks::Dense { x, y }, at);
        is_gradient_of((&plan, pass), graded, &pi, |fit, pi| ranked_apart(&rx[fit], &ry[fit], pi)).await;
    }
}

block_on_test! {
    async fn rank_gw_thin_is_the_gradient_of_its_value() {
        let rng = &mut Rng::new(11);
        // Of different widths, so that blocks that are exchanged show.
        const WIDTHS: [usize; 2] = [4, 3];
        let [(ax, bx), (ay, by)] = [(N, WIDTHS[0]), (M, WIDTHS[1])]
            .map(|(rows, width)| (random(rng, rows * width, -1.0, 1.0), random(rng, rows * width, -1.0, 1.0)));
        let pi = random(rng, N * M, 0.0, 0.02);
        let mut plan = Plan::new();
        let x = halves(&mut plan, &ax, &bx, N);
        let y = halves(&mut plan, &ay, &by, M);
        let mask = mask(&mut plan, WIDTHS[0], WIDTHS[1]);
        let at = put(&mut plan, [N, M], &pi);
        let pass = plan.begin_pass("loss");
        let graded = rank_gw::graded(&mut plan, &Ranks::Thin { x, y, mask }, at);
        is_gradient_of((&plan, pass), graded, &pi, |fit, pi| {
            let rx = product(&ax[fit], &transposed(&bx[fit], N), [N, N]);
            let ry = product(&ay[fit], &transposed(&by[fit], M), [M, M]);
            ranked_apart(&rx, &ry, pi)
        })
        .await;
    }
}

block_on_test! {
    async fn a_loss_with_its_sums_is_the_gradient_of_its_value() {
        // Of a plan of mass 1 whose sums are not the weights.
        let rng = &mut Rng::new(12);
        let (rx, ry) = (random(rng, N * N, -0.5, 0.5), random(rng, M * M, -0.5, 0.5));
        let pi = random(rng, N * M, 0.0, 1.0).map(|fit| {
            let mass: f64 = fit.iter().sum();
            fit.iter().map(|v| f64::from((v / mass) as f32)).collect::<Vec<f64>>()
        });
        let rows = |pi: &[f64]| pi.chunks_exact(M).map(|row| row.iter().sum()).collect::<Vec<f64>>();
        let sums_of = |pi: &[f64]| [rows(pi), (0..M).map(|j| pi.iter().skip(j).step_by(M).sum()).collect()];
        let [a, b] = [N, M].map(|points| {
            let weights = random(rng, points, 0.5, 1.5);
            weights.map(|fit| fit.iter().map(|w| w / fit.iter().sum::<f64>()).collect::<Vec<f64>>())
        });
        let square = |r: &[f64], n: usize| -> Vec<f64> {
            (0..n * n).map(|e| r[e].powi(2) + r[e % n * n + e / n].powi(2)).collect()
        };
        let at_weights = |fit: usize| {
            let of = |r: &[f64], w: &[f64]| {
                let n = w.len();
                (0..n * n).map(|e| r[e].powi(2) * w[e / n] * w[e % n]).sum::<f64>()
            };
            of(&rx[fit], &a[fit]) + of(&ry[fit], &b[fit])
        };
        let fits: [usize; BATCH] = std::array::from_fn(|fit| fit);

        let mut plan = Plan::new();
        let x = put(&mut plan, [N, 2 * N], &rx.each_ref().map(|r| both_ways(r, N)));
        let y = put(&mut plan, [M, M], &ry);
        let squares = [
            put(&mut plan, [N, N], &rx.each_ref().map(|r| square(r, N))),
            put(&mut plan, [M, M], &ry.each_ref().map(|r| square(r, M))),
        ];
        let constant = put(&mut plan, [1, 1], &fits.map(|fit| vec![at_weights(fit)]));
        let sides = [0, 1].map(|side| {
            let n = [N, M][side];
            let sums = pi.each_ref().map(|pi| sums_of(pi)[side].clone());
            [put(&mut plan, [n, 1], &sums), put(&mut plan, [n, 1], [&a, &b][side])]
        });
        let at = put(&mut plan, [N, M], &pi);
        let pass = plan.begin_pass("loss");
        let graded = rank_gw::graded(&mut plan, &Ranks::Dense { x, y }, at);
        Sums { squares, constant }.add(&mut plan, sides, &graded);
        is_gradient_of((&plan, pass), graded, &pi, |fit, pi| {
            let divergence = |masses: &[f64], weights: &[f64]| -> f64 {
                masses.iter().zip(weights).map(|(r, a)| r * (r / a).ln() - r + a).sum()
            };
            let [r, c] = sums_of(pi);
            let mut loss = 0.05 * (divergence(&r, &a[fit]) + divergence(&c, &b[fit])) - at_weights(fit);
            for (ij, mass) in pi.iter().enumerate() {
                for (kl, other) in pi.iter().enumerate() {
                    let apart = rx[fit][ij / M * N + kl / M] - ry[fit][ij % M * M + kl % M];
                    loss += apart.powi(2) * mass * other;
                }
            }
            loss
        })
        .await;
    }
}

block_on_test! {
    async fn frobenius_is_as_in_the_fixture() {
        let case = embedded!("gw_loss");
        for (x, y, value, grad, symmetry) in [
            ("DX", "DY", "fro_loss_mean", "fro_grad_Pi", Symmetry::Symmetric),
            ("DX", "DY", "fro_loss_mean", "fro_grad_Pi", Symmetry::General),
            ("asym_DX", "asym_DY", "asym_fro_loss", "asym_fro_grad_Pi", Symmetry::General),
        ] {
            let mut plan = Plan::new();
            let [x, y, pi] = [x, y, "Pi"].map(|key| given(&mut plan, &case[key]));
            let a = column(&mut plan, &case["a"]);
            let pass = plan.begin_pass("loss");
            let graded = frobenius::record(&mut plan, [x, y], symmetry, pi, a);
            let value = case[value].as_f64().expect("a value");
            is_as_in_fixture(&plan, pass, graded, value, &numbers(&case[grad])).await;
        }
    }
}

block_on_test! {
    async fn frobenius_is_the_gradient_of_its_value() {
        let rng = &mut Rng::new(3);
        let a = random(rng, N, 0.05, 0.15);
        for symmetry in [Symmetry::Symmetric, Symmetry::General] {
            let (dx, dy) = match symmetry {
                Symmetry::Symmetric => (symmetric(rng, N), symmetric(rng, M)),
                Symmetry::General => (random(rng, N * N, 0.0, 1.0), random(rng, M * M, 0.0, 1.0)),
            };
            let pi = random(rng, N * M, 0.0, 0.02);
            let mut plan = Plan::new();
            let x = put(&mut plan, [N, N], &dx);
            let y = put(&mut plan, [M, M], &dy);
            let at = put(&mut plan, [N, M], &pi);
            let weights = put(&mut plan, [N, 1], &a);
            let pass = plan.begin_pass("loss");
            let graded = frobenius::record(&mut plan, [x, y], symmetry, at, weights);
            is_gradient_of((&plan, pass), graded, &pi, |fit, pi| {
                let carried = carried(pi, &a[fit], &dy[fit]);
                dx[fit].iter().zip(&carried).map(|(d, c)| (d - c).powi(2)).sum::<f64>() / (N * N) as f64
            })
            .await;
        }
    }
}

block_on_test! {
    async fn dirichlet_is_as_in_the_fixture() {
        let case = embedded!("dirichlet");
        let mut plan = Plan::new();
        let [cost, lx, ly] = ["C", "L_X", "L_Y"].map(|key| given(&mut plan, &case[key]));
        let pass = plan.begin_pass("term");
        let graded = dirichlet::record(&mut plan, [lx, ly], cost);
        let value = case["energy"].as_f64().expect("a value");
        is_as_in_fixture(&plan, pass, graded, value, &numbers(&case["grad_C"])).await;
    }
}

block_on_test! {
    async fn dirichlet_is_the_gradient_of_its_value() {
        // Of any graph: what edges {i, j} of weight w say is w·|row i − row j|².
        let rng = &mut Rng::new(4);
        let [wx, wy] = [N, M].map(|n| symmetric(rng, n));
        let laplacian = |weights: &Stack, n: usize| {
            weights.each_ref().map(|w| {
                let degree = |i: usize| w[i * n..][..n].iter().sum::<f64>();
                (0..n * n).map(|e| if e / n == e % n { degree(e / n) } else { -w[e] }).collect::<Vec<f64>>()
            })
        };
        let cost = random(rng, N * M, 0.0, 2.0);
        let mut plan = Plan::new();
        let lx = put(&mut plan, [N, N], &laplacian(&wx, N));
        let ly = put(&mut plan, [M, M], &laplacian(&wy, M));
        let at = put(&mut plan, [N, M], &cost);
        let pass = plan.begin_pass("term");
        let graded = dirichlet::record(&mut plan, [lx, ly], at);
        let energy = |w: &[f64], rows: &[f64], n: usize| -> f64 {
            let width = rows.len() / n;
            let row = |i: usize| &rows[i * width..][..width];
            let apart = |i, k| row(i).iter().zip(row(k)).map(|(p, q)| (p - q).powi(2)).sum::<f64>();
            0.5 * (0..n * n).map(|e| w[e] * apart(e / n, e % n)).sum::<f64>()
        };
        is_gradient_of((&plan, pass), graded, &cost, |fit, cost| {
            energy(&wx[fit], cost, N) + energy(&wy[fit], &transposed(cost, N), M)
        })
        .await;
    }
}

block_on_test! {
    async fn fused_is_the_gradient_of_its_value_and_is_added_with_its_weight() {
        let rng = &mut Rng::new(5);
        const DIM: usize = 3;
        let (x, y) = (random(rng, N * DIM, -1.0, 1.0), random(rng, M * DIM, -1.0, 1.0));
        let (dx, dy, pi) = (symmetric(rng, N), symmetric(rng, M), random(rng, N * M, 0.0, 0.02));
        let narrow = |values: &[f64]| values.iter().map(|v| *v as f32).collect::<Vec<f32>>();
        let shared: Stack = std::array::from_fn(|fit| {
            let cost = fused::shared_cost([&narrow(&x[fit]), &narrow(&y[fit])], DIM);
            cost.into_iter().map(f64::from).collect()
        });
        let mut plan = Plan::new();
        let dx_mat = put(&mut plan, [N, N], &dx);
        let dy_mat = put(&mut plan, [M, M], &dy);
        let cost = put(&mut plan, [N, M], &shared);
        let at = put(&mut plan, [N, M], &pi);
        let pass = plan.begin_pass("term");
        let term = fused::record(&mut plan, cost, at);
        let loss = classic::graded(&mut plan, &Distances::Dense { x: dx_mat, y: dy_mat }, at);
        loss.add(&mut plan, 0.7, &term);

        // The cost once more, from its definition.
        let linear = |fit: usize, pi: &[f64]| {
            let point = |points: &Stack, i: usize| points[fit][i * DIM..][..DIM].to_vec();
            let squares: Vec<f64> = (0..N * M)
                .map(|e| {
                    let (p, q) = (point(&x, e / M), point(&y, e % M));
                    p.iter().zip(&q).map(|(p, q)| (p - q).powi(2)).sum()
                })
                .collect();
            dot(&squares, pi) / (squares.iter().sum::<f64>() / (N * M) as f64)
        };
        is_gradient_of((&plan, pass), term, &pi, linear).await;
        is_gradient_of((&plan, pass), loss, &pi, |fit, pi| {
            0.7 * linear(fit, pi) - 2.0 * dot(&product(&product(&dx[fit], pi, [N, M]), &dy[fit], [N, M]), pi)
        })
        .await;
    }
}

/// Different pairs for each fit, one of them given twice.
const PAIRS: [&[(usize, usize)]; BATCH] = [&[(0, 3), (4, 4), (8, 12)], &[(1, 1), (2, 0), (2, 0), (5, 12)]];

block_on_test! {
    async fn pairs_are_the_gradient_of_their_value() {
        let rng = &mut Rng::new(6);
        let (pi, a) = (random(rng, N * M, 0.002, 0.02), random(rng, N, 0.05, 0.15));
        let weights = PAIRS.map(|pairs| pairs::weights(N, M, pairs).into_iter().map(f64::from).collect());
        let mut plan = Plan::new();
        let weights = put(&mut plan, [N, M], &weights);
        let at = put(&mut plan, [N, M], &pi);
        let marginal = put(&mut plan, [N, 1], &a);
        let pass = plan.begin_pass("term");
        let graded = pairs::record(&mut plan, weights, at, marginal);
        is_gradient_of((&plan, pass), graded, &pi, |fit, pi| {
            let logs = PAIRS[fit].iter().map(|&(i, j)| (pi[i * M + j] / a[fit][i]).ln());
            -logs.sum::<f64>() / PAIRS[fit].len() as f64
        })
        .await;
    }
}

block_on_test! {
    async fn pairs_stay_finite_where_the_plan_has_underflowed() {
        // Also what the backward pass makes of the gradient, G∘Π, must be finite, and right where Π is tiny.
        let pi: Stack = std::array::from_fn(|fit| vec![[1e-25, 0.0][fit]; N * M]);
        let weights = PAIRS.map(|pairs| pairs::weights(N, M, pairs).into_iter().map(f64::from).collect());
        let mut plan = Plan::new();
        let weights = put(&mut plan, [N, M], &weights);
        let at = put(&mut plan, [N, M], &pi);
        let marginal = put(&mut plan, [N, 1], &[(); BATCH].map(|()| vec![1.0 / N as f64; N]));
        let pass = plan.begin_pass("term");
        let graded = pairs::record(&mut plan, weights, at, marginal);
        for device in [Device::Cpu, gpu().await] {
            let mut executor = device.prepare(plan.clone()).await.expect("prepares");
            executor.submit(pass, 1).expect("submits");
            let grad = executor.read(graded.grad.buf).await.expect("reads");
            let value = executor.read(graded.value.buf).await.expect("reads");
            assert!(grad.iter().chain(&value).all(|v| v.is_finite()));
            let mass = |fit: usize| grad[fit * N * M..][..N * M].iter().map(|g| g * pi[fit][0] as f32).sum::<f32>();
            assert!((mass(0) + 1.0).abs() < 1e-4 && mass(1) == 0.0, "{} {}", mass(0), mass(1));
        }
    }
}

/// Compares a cost, and its gradients under a random upstream, with a formula of both embeddings.
async fn is_cost(kind: CostKind, seed: u64, formula: impl Fn(&[f64], &[f64]) -> Vec<f64>) {
    const DIM: usize = 3;
    let rng = &mut Rng::new(seed);
    let (z, w) = (random(rng, N * DIM, -1.0, 1.0), random(rng, M * DIM, -1.0, 1.0));
    let upstream = random(rng, N * M, -1.0, 1.0);
    let mut plan = Plan::new();
    let z_mat = put(&mut plan, [N, DIM], &z);
    let w_mat = put(&mut plan, [M, DIM], &w);
    let grad = put(&mut plan, [N, M], &upstream);
    let pass = plan.begin_pass("cost");
    let cost = Cost::forward(&mut plan, kind, z_mat, w_mat);
    let [dz, dw] = cost.backward(&mut plan, grad);
    let fits: [usize; BATCH] = std::array::from_fn(|fit| fit);
    let loss = |fit: usize, z: &[f64], w: &[f64]| dot(&formula(z, w), &upstream[fit]);
    let wanted = [
        (cost.cost(), fits.map(|fit| formula(&z[fit], &w[fit])), 1e-5, "cost"),
        (dz, fits.map(|fit| differences(&z[fit], |z| loss(fit, z, &w[fit]))), 2e-5, "first gradient"),
        (dw, fits.map(|fit| differences(&w[fit], |w| loss(fit, &z[fit], w))), 2e-5, "second gradient"),
    ];
    play(&plan, pass, &wanted).await;
}

block_on_test! {
    async fn the_sqm_cost_has_the_gradient_of_its_formula() {
        is_cost(CostKind::Sqm, 7, |z, w| {
            let apart = |p: &[f64], q: &[f64]| p.iter().zip(q).map(|(p, q)| (p - q).powi(2)).sum::<f64>();
            let squares: Vec<f64> =
                z.chunks_exact(3).flat_map(|p| w.chunks_exact(3).map(move |q| apart(p, q))).collect();
            let mean = squares.iter().sum::<f64>() / squares.len() as f64;
            squares.into_iter().map(|s| s / mean).collect()
        })
        .await;
    }
}

block_on_test! {
    async fn the_cosine_cost_has_the_gradient_of_its_formula() {
        is_cost(CostKind::Cosine, 8, |z, w| {
            let far = |p: &[f64], q: &[f64]| 1.0 - dot(p, q) / (dot(p, p) * dot(q, q)).sqrt();
            z.chunks_exact(3).flat_map(|p| w.chunks_exact(3).map(move |q| far(p, q))).collect()
        })
        .await;
    }
}

block_on_test! {
    async fn an_embedding_without_a_direction_is_one_away_from_everything_and_stays() {
        let mut plan = Plan::new();
        let z = put(&mut plan, [2, 2], &[(); BATCH].map(|()| vec![0.0, 0.0, 3.0, 4.0]));
        let w = put(&mut plan, [1, 2], &[(); BATCH].map(|()| vec![0.0, 2.0]));
        let grad = put(&mut plan, [2, 1], &[(); BATCH].map(|()| vec![1.0, 1.0]));
        let pass = plan.begin_pass("cost");
        let cost = Cost::forward(&mut plan, CostKind::Cosine, z, w);
        let [dz, _] = cost.backward(&mut plan, grad);
        let wanted = [
            (cost.cost(), [(); BATCH].map(|()| vec![1.0, 0.2]), 1e-6, "cost"),
            // −(e − ⟨e, u⟩u)/|z| for e = (0, 1), u = (0.6, 0.8), |z| = 5
            (dz, [(); BATCH].map(|()| vec![0.0, 0.0, 0.096, -0.072]), 1e-5, "gradient"),
        ];
        play(&plan, pass, &wanted).await;
    }
}

block_on_test! {
    async fn soft_ranks_and_their_gradients_are_as_in_the_fixture() {
        // There ranks go up to n.
        let fixture = embedded!("softrank");
        for (index, case) in fixture["cases"].as_array().expect("cases").iter().enumerate() {
            let repeated = |key: &str, factor: f64| {
                [(); BATCH].map(|()| numbers(&case[key]).iter().map(|v| factor * v).collect::<Vec<f64>>())
            };
            let n = numbers(&case["theta"]).len();
            let mut plan = Plan::new();
            let theta = put(&mut plan, [1, n], &repeated("theta", 1.0));
            let upstream = put(&mut plan, [1, n], &repeated("u", 1.0));
            let width = put(&mut plan, [1, 1], &repeated("delta", n as f64));
            let [ranks, grad] = [(); 2].map(|()| plan.mats("output", BATCH as u32, 1, n as u32));
            let pass = plan.begin_pass("ranks");
            let blocks = Blocks::new(&mut plan, theta, width);
            sort_rows::record(&mut plan, [theta, blocks.sorted, blocks.order]);
            soft_rank_kernel::record(&mut plan, &blocks, ranks);
            soft_rank_grad::record(&mut plan, &blocks, upstream, grad);
            let mut wanted = vec![(ranks, repeated("rank", 1.0 / n as f64), 1e-5, "ranks")];
            // Three values of this one are exactly δ apart: whether they are one block depends on rounding.
            if index != 5 {
                wanted.push((grad, repeated("vjp", 1.0 / n as f64), 1e-5, "gradient"));
            }
            play(&plan, pass, &wanted).await;

            for device in [Device::Cpu, gpu().await] {
                let mut executor = device.prepare(plan.clone()).await.expect("prepares");
                executor.submit(pass, 1).expect("submits");
                let blocks = executor.read(blocks.blocks.buf).await.expect("reads");
                let begin = blocks[..n].iter().enumerate().filter(|(j, other)| **other >= *j as f32).count();
                assert!(begin as u64 == case["n_blocks"].as_u64().expect("a number") || index == 5, "case {index}");
            }
        }
    }
}

block_on_test! {
    async fn soft_rank_is_as_in_the_fixture() {
        // There ranks go up to n, and the loss is 12/n² times the mean.
        let case = embedded!("gw_loss");
        let (dx, n) = (matrix(&case["DX"]), 5);
        let width = n as f32 * case["rank_delta"].as_f64().expect("a number") as f32;
        let target: Vec<f64> = (0..n).flat_map(|i| soft_ranks(dx.row(i), width)).map(f64::from).collect();
        for symmetry in [Symmetry::Symmetric, Symmetry::General] {
            let mut plan = Plan::new();
            let constants = SoftRank {
                target: put(&mut plan, [n, n], &[(); BATCH].map(|()| target.clone())),
                y: given(&mut plan, &case["DY"]),
                width: put(&mut plan, [1, 1], &[(); BATCH].map(|()| vec![width.into()])),
                symmetry,
            };
            let pi = given(&mut plan, &case["Pi"]);
            let a = column(&mut plan, &case["a"]);
            let pass = plan.begin_pass("loss");
            let graded = soft_rank::record(&mut plan, &constants, pi, a);
            let value = case["rank_loss"].as_f64().expect("a value") / 12.0;
            let grad: Vec<f64> = numbers(&case["rank_grad_Pi"]).iter().map(|g| g / 12.0).collect();
            is_as_in_fixture(&plan, pass, graded, value, &grad).await;
        }
    }
}

/// Soft ranks of one row by the minimax formula of isotonic regression, and how many blocks they have.
fn ranks_by_definition(row: &[f64], width: f64) -> (Vec<f64>, usize) {
    let n = row.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| row[j].total_cmp(&row[i]));
    let z: Vec<f64> = order.iter().map(|&j| row[j] / width).collect();
    let y: Vec<f64> = z.iter().enumerate().map(|(j, z)| z - (n - j) as f64 / n as f64).collect();
    let mean = |s: usize, t: usize| y[s..=t].iter().sum::<f64>() / (t + 1 - s) as f64;
    let mut ranks = vec![0.0; n];
    let mut levels = Vec::new();
    for j in 0..n {
        let highest = |s: usize| (j..n).map(|t| mean(s, t)).fold(f64::MIN, f64::max);
        let v = (0..=j).map(highest).fold(f64::MAX, f64::min);
        ranks[order[j]] = z[j] - v;
        if levels.last().is_none_or(|last: &f64| (last - v).abs() > 1e-12) {
            levels.push(v);
        }
    }
    (ranks, levels.len())
}

block_on_test! {
    async fn soft_rank_is_the_gradient_of_its_value() {
        let rng = &mut Rng::new(9);
        let a = random(rng, N, 0.05, 0.15);
        let (dx, dy) = (symmetric(rng, N), symmetric(rng, M));
        // Nearly sharp, so that the carried distances differ enough to be ranked.
        let pi = random(rng, N * M, 0.0, 1.0).map(|fit| fit.iter().map(|v| f64::from((0.15 * v.powi(12)) as f32)).collect());
        let narrow = |stack: &Stack| stack.concat().iter().map(|v| *v as f32).collect::<Vec<f32>>();
        let mut plan = Plan::new();
        let sides = [&*narrow(&dx), &*narrow(&dy)];
        let constants = SoftRank::new(&mut plan, sides, [N as u32, M as u32], TAU, Symmetry::Symmetric);
        let at = put(&mut plan, [N, M], &pi);
        let weights = put(&mut plan, [N, 1], &a);
        let pass = plan.begin_pass("loss");
        let graded = soft_rank::record(&mut plan, &constants, at, weights);

        let width = |d: &[f64], n: usize| {
            let ends = |row: &[f64]| {
                row.iter().fold(f64::MIN, |top, v| top.max(*v)) - row.iter().fold(f64::MAX, |low, v| low.min(*v))
            };
            0.3 * d.chunks_exact(n).map(ends).sum::<f64>() / n as f64
        };
        let ranked = |rows: &[f64], width: f64| -> (Vec<f64>, usize) {
            let (ranks, blocks): (Vec<_>, Vec<_>) =
                rows.chunks_exact(N).map(|row| ranks_by_definition(row, width)).unzip();
            (ranks.concat(), blocks.iter().sum())
        };
        for fit in 0..BATCH {
            let (_, blocks) = ranked(&carried(&pi[fit], &a[fit], &dy[fit]), width(&dy[fit], M));
            assert!(blocks > 2 * N && blocks < N * N - N, "{blocks} blocks in {N} rows of {N} values");
        }
        is_gradient_of((&plan, pass), graded, &pi, |fit, pi| {
            let (target, _) = ranked(&dx[fit], width(&dx[fit], N));
            let (ranks, _) = ranked(&carried(pi, &a[fit], &dy[fit]), width(&dy[fit], M));
            ranks.iter().zip(&target).map(|(r, t)| (r - t).powi(2)).sum::<f64>() / (N * N) as f64
        })
        .await;
    }
}
