//! Transport over trees against a plain dense float64 Sinkhorn, on data of many shapes.
#![cfg(not(target_arch = "wasm32"))]

use align::geometry::Dense;
use align::scale::multiscale::{Found, multiscale};
use align::scale::{Cancelled, Watch};
use align::scale::{Clouds, Implicit};
use align::solver::cost::CostKind;
use align::solver::marginals::Relaxation;
use compute::rng::Rng;
use pollster::block_on;

const EPS: f32 = 0.05;
const TOLERANCE: f32 = 1e-3;

/// Notes the progress, and ends the work after some looks.
struct Looks {
    left: usize,
    seen: Vec<f64>,
}

impl Watch for Looks {
    async fn step(&mut self, done: f64) -> Result<(), Cancelled> {
        self.seen.push(done);
        self.left = self.left.checked_sub(1).ok_or(Cancelled)?;
        Ok(())
    }
}

fn solve(x: &Dense, y: &Dense, eps: f32) -> Found {
    let clouds = Clouds::new([x, y], CostKind::Sqm);
    let mut looks = Looks { left: usize::MAX, seen: Vec::new() };
    let found = block_on(multiscale(clouds, eps, Relaxation::STRICT, TOLERANCE, None, &mut looks))
        .expect("not cancelled");
    assert!(looks.seen.is_sorted() && looks.seen.iter().all(|done| (0.0..=1.0).contains(done)));
    found
}

/// Near enough to a normal number for a test.
fn normal(rng: &mut Rng) -> f32 {
    (0..6).map(|_| rng.uniform(-1.0, 1.0)).sum::<f32>() / 2f32.sqrt()
}

/// Points around some centres. Of a centre's share of the points the next one has the part `falling`.
fn clusters(n: usize, centres: &Dense, spread: f32, falling: f32, rng: &mut Rng) -> Dense {
    let mut data = Vec::new();
    for _ in 0..n {
        let mut k = 0;
        while k + 1 < centres.rows() && rng.unit() < falling {
            k += 1;
        }
        data.extend(centres.row(k).iter().map(|c| c + spread * normal(rng)));
    }
    Dense::new(n, centres.cols(), data)
}

fn cloud(n: usize, dim: usize, rng: &mut Rng) -> Dense {
    Dense::new(n, dim, (0..n * dim).map(|_| normal(rng)).collect())
}

/// Each point of another side a little moved, in another order.
fn moved(x: &Dense, n: usize, by: f32, rng: &mut Rng) -> Dense {
    let order = rng.sample(x.rows(), x.rows());
    Dense::from_fn(n, x.cols(), |i, j| x.at(order[i % order.len()], j) + by * normal(rng))
}

/// The plan by the definition: scalings of the kernel in float64, row by row.
fn exact(plan: &Implicit) -> Vec<f64> {
    let (n, m) = (plan.rows(), plan.cols());
    let cost = |i: usize, j: usize| -> f64 {
        let rows = plan.clouds.x.row(i).iter().zip(plan.clouds.y.row(j));
        rows.map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum()
    };
    let kernel: Vec<f64> =
        (0..n * m).map(|e| (-cost(e / m, e % m) / f64::from(plan.eps)).exp().max(1e-290)).collect();
    let (mut u, mut v) = (vec![1.0; n], vec![1.0; m]);
    for _ in 0..3000 {
        for (u, row) in u.iter_mut().zip(kernel.chunks_exact(m)) {
            *u = 1.0 / n as f64 / row.iter().zip(&v).map(|(k, v)| k * v).sum::<f64>();
        }
        let mut sums = vec![0.0; m];
        for (u, row) in u.iter().zip(kernel.chunks_exact(m)) {
            sums.iter_mut().zip(row).for_each(|(sum, k)| *sum += u * k);
        }
        let error: f64 = sums.iter().zip(&v).map(|(sum, v)| (sum * v - 1.0 / m as f64).abs()).sum();
        sums.iter().zip(&mut v).for_each(|(sum, v)| *v = 1.0 / m as f64 / sum);
        if error < 1e-5 {
            break;
        }
    }
    (0..n * m).map(|e| u[e / m] * kernel[e] * v[e % m]).collect()
}

/// What the potentials say, entry by entry in float64.
fn dense(plan: &Implicit) -> Vec<f64> {
    let (n, m) = (plan.rows(), plan.cols());
    let all = |count: usize| (0..count as u32).collect::<Vec<u32>>();
    plan.logs(&all(n), &all(m)).into_iter().map(|log| f64::from(log).exp()).collect()
}

fn strongest(row: &[f64]) -> (usize, f64) {
    row.iter().copied().enumerate().fold((0, 0.0), |best, at| if at.1 > best.1 { at } else { best })
}

/// Solves, and holds the result against the exact plan. The number of rows that are sure of their match.
fn check(name: &str, x: &Dense, y: &Dense) -> (Found, usize) {
    let found = solve(x, y, EPS);
    let plan = &found.solved.plan;
    let (n, m) = (plan.rows(), plan.cols());
    let (got, want) = (dense(plan), exact(plan));
    let mut cols = vec![0.0; m];
    let mut misses = 0.0;
    let (mut sure, mut same) = (0, 0);
    for (got, want) in got.chunks_exact(m).zip(want.chunks_exact(m)) {
        misses += (got.iter().sum::<f64>() - 1.0 / n as f64).abs();
        cols.iter_mut().zip(got).for_each(|(sum, v)| *sum += v);
        let (best, mass) = strongest(want);
        if mass * n as f64 > 0.5 {
            sure += 1;
            same += usize::from(strongest(got).0 == best);
        }
    }
    misses += cols.iter().map(|sum| (sum - 1.0 / m as f64).abs()).sum::<f64>();
    let reported = f64::from(found.solved.error);
    assert!(reported <= f64::from(TOLERANCE), "{name}: error {reported}");
    assert!(misses < reported + 1e-4, "{name}: misses {misses}, reported {reported}");
    let apart: f64 = got.iter().zip(&want).map(|(a, b)| (a - b).abs()).sum();
    assert!(apart < 0.02, "{name}: {apart} from the exact plan");
    assert!(same * 100 >= sure * 99, "{name}: {same} of {sure} matches");
    (found, sure)
}

#[test]
fn clusters_and_their_copies_are_matched() {
    let mut rng = Rng::new(1);
    // In many dimensions points are far apart, and rows are sure of their copies.
    let apart = cloud(1300, 16, &mut rng);
    let (_, sure) = check("a moved copy", &apart, &moved(&apart, 1300, 0.02, &mut rng));
    assert!(sure > 400, "{sure} sure rows");
    let centres = cloud(8, 16, &mut rng);
    let x = clusters(1300, &centres, 0.35, 0.8, &mut rng);
    check("a moved copy of clusters", &x, &moved(&x, 1300, 0.02, &mut rng));
    // Clusters of very different sizes, on both sides others.
    let y = clusters(900, &centres, 0.35, 0.5, &mut rng);
    check("other sizes", &x, &y);
}

#[test]
fn data_of_every_shape_are_solved() {
    let mut rng = Rng::new(2);
    check("one cloud", &cloud(1100, 16, &mut rng), &cloud(1300, 16, &mut rng));
    let curve = |n: usize, shift: f32, rng: &mut Rng| {
        let at: Vec<f32> = rng.fill(n, 0.0, 6.0);
        Dense::from_fn(n, 16, |i, j| (at[i] * (1.0 + j as f32 / 8.0)).sin() + shift)
    };
    check("a curve", &curve(1200, 0.0, &mut rng), &curve(700, 0.0, &mut rng));
    check("a shifted curve", &curve(600, 0.0, &mut rng), &curve(600, 0.5, &mut rng));
    let few = cloud(12, 16, &mut rng);
    let copies = |n: usize| Dense::from_fn(n, 16, |i, j| few.at(i % 12, j));
    check("duplicates", &copies(600), &copies(1201));
    check("few against many", &cloud(9, 3, &mut rng), &cloud(1100, 3, &mut rng));
}

#[test]
fn tiny_and_degenerate_sides_are_solved() {
    let mut rng = Rng::new(3);
    let four = cloud(4, 2, &mut rng);
    check("four points", &four, &moved(&four, 4, 0.01, &mut rng));
    check("one point each", &cloud(1, 2, &mut rng), &cloud(1, 2, &mut rng));
    check("one against many", &cloud(1, 2, &mut rng), &cloud(300, 2, &mut rng));
    let same = |n| Dense::new(n, 2, vec![1.0; 2 * n]);
    check("all the same", &same(300), &same(200));
    let nobody = solve(&Dense::new(0, 2, Vec::new()), &four, EPS);
    assert!(nobody.solved.plan.f.is_empty() && nobody.near.visit(&nobody.solved.plan).next_rows().is_none());
    // One point so far out that at first nothing reaches it.
    let mut far = cloud(400, 4, &mut rng);
    far.row_mut(7).fill(60.0);
    check("an outlier", &far, &cloud(400, 4, &mut rng));
}

#[test]
fn what_is_left_out_is_as_little_as_said() {
    let mut rng = Rng::new(4);
    let centres = cloud(6, 8, &mut rng);
    let (x, y) = (clusters(900, &centres, 0.2, 0.8, &mut rng), clusters(800, &centres, 0.2, 0.8, &mut rng));
    let found = solve(&x, &y, 0.02);
    let plan = &found.solved.plan;
    let mut rest = dense(plan);
    let all: f64 = rest.iter().sum();
    let (mut rows, mut pairs) = (vec![0; 900], 0);
    let mut visit = found.near.visit(plan);
    while let Some(part) = visit.next_rows() {
        for (row, &i) in part.log_mass.chunks_exact(part.cols.len()).zip(part.rows) {
            rows[i as usize] += 1;
            for (log_mass, &j) in row.iter().zip(part.cols) {
                let want = plan.logs(&[i], &[j])[0];
                assert!((log_mass - want).abs() < 1e-3 * want.abs().max(1.0), "{i}, {j}: {log_mass}, {want}");
                rest[i as usize * 800 + j as usize] = 0.0;
                pairs += 1;
            }
        }
    }
    assert!(rows.iter().all(|count| *count == 1), "every row once");
    assert_eq!(pairs, found.near.pairs());
    assert!(pairs < 900 * 800 / 2, "{pairs} pairs are visited");
    let rest: f64 = rest.iter().sum();
    assert!(rest <= f64::from(found.left_out) * 1.01, "{rest} of {all} outside, {} said", found.left_out);
    assert!(2.0 * found.left_out < TOLERANCE);
}

#[test]
fn work_ends_when_it_is_told_to() {
    let mut rng = Rng::new(5);
    let clouds = Clouds::new([&cloud(3000, 4, &mut rng), &cloud(3000, 4, &mut rng)], CostKind::Sqm);
    let mut looks = Looks { left: usize::MAX, seen: Vec::new() };
    assert!(
        block_on(multiscale(clouds.clone(), EPS, Relaxation::STRICT, TOLERANCE, None, &mut looks)).is_ok()
    );
    let all = looks.seen.len();
    assert!(all > 4, "{all} looks");
    for left in [0, 1, all / 2, all - 1] {
        let mut looks = Looks { left, seen: Vec::new() };
        assert!(
            block_on(multiscale(clouds.clone(), EPS, Relaxation::STRICT, TOLERANCE, None, &mut looks))
                .is_err()
        );
        assert_eq!(looks.seen.len(), left + 1);
    }
}

/// A tail without a mean: quotients of normal numbers.
fn cauchy(n: usize, dim: usize, rng: &mut Rng) -> Dense {
    Dense::from_fn(n, dim, |_, _| normal(rng) / normal(rng).abs().max(1e-3))
}

/// A cloud of which a few points are this many times farther out.
fn with_outliers(n: usize, far: f32, rng: &mut Rng) -> Dense {
    Dense::from_fn(n, 8, |i, _| normal(rng) * if i < 5 { far } else { 1.0 })
}

/// Few points far out, or tails without end, neither break it nor make it say less than is missing.
#[test]
fn outliers_and_heavy_tails_are_solved_and_told_truly() {
    let mut rng = Rng::new(21);
    let cases = [
        ("a few far out", with_outliers(2000, 20.0, &mut rng), with_outliers(2000, 20.0, &mut rng), 0.05),
        ("farther out", with_outliers(2000, 60.0, &mut rng), with_outliers(2000, 60.0, &mut rng), 0.2),
        (
            "farther out, sharply",
            with_outliers(1900, 60.0, &mut rng),
            with_outliers(2000, 60.0, &mut rng),
            0.05,
        ),
        ("tails without end", cauchy(2000, 4, &mut rng), cauchy(2000, 4, &mut rng), 0.05),
        ("tails without end, sharply", cauchy(2000, 4, &mut rng), cauchy(2000, 4, &mut rng), 0.01),
    ];
    for (name, x, y, eps) in cases {
        let found = solve(&x, &y, eps);
        let plan = &found.solved.plan;
        assert!(plan.f.iter().chain(&plan.g).all(|v| v.is_finite()), "{name}: every point has a potential");
        let (n, m) = (plan.rows() as f64, plan.cols() as f64);
        let mut cols = vec![0.0; plan.cols()];
        let mut misses = 0.0;
        for row in dense(plan).chunks_exact(plan.cols()) {
            misses += (row.iter().sum::<f64>() - 1.0 / n).abs();
            cols.iter_mut().zip(row).for_each(|(sum, v)| *sum += v);
        }
        let columns: f64 = cols.iter().map(|sum| (sum - 1.0 / m).abs()).sum();
        let told = f64::from(found.solved.error);
        eprintln!(
            "{name}: told {told:.1e}, rows {misses:.1e}, columns {columns:.1e}, {} sweeps",
            found.solved.iterations
        );
        assert!(told <= f64::from(TOLERANCE), "{name}: {told:.1e} is missing");
        assert!(misses + columns <= told + 1e-4, "{name}: {misses:.1e} and {columns:.1e}, told {told:.1e}");
    }
}
