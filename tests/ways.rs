//! However a plan is found and kept, what people see and take away of it is the same.
#![cfg(not(target_arch = "wasm32"))]

use align::geometry::Dense;
use align::procedure::{self, Control, Failure, NoControl, Progress, Settings, Sides, Way};
use align::solver::marginals::Relaxation;
use align::{
    scale::Matching,
    solver::cost::CostKind,
    solver::infer::{Encoders, LinearMap},
};
use analysis::figures::Agreement;
use analysis::rows::Rows;
use analysis::subject::{Looked, Subject};
use analysis::take_away::{Goods, file};
use compute::exec::Device;
use compute::rng::Rng;
use formats::Labels;
use formats::write::record::Record;
use pollster::block_on;
use schema::{Export, Outcome};

const N: usize = 700;
const DIM: usize = 6;
const EPS: f32 = 0.01;

/// Lumps in a common space, and the same points a little moved and in another order; some rows have no label.
fn subject() -> Subject {
    let mut rng = Rng::new(21);
    let centres = rng.fill(5 * DIM, -2.0, 2.0);
    let x = Dense::from_fn(N, DIM, |i, j| centres[(i % 5) * DIM + j] + 1.2 * rng.uniform(-1.0, 1.0));
    let order: Vec<usize> = (0..N).map(|j| (j * 37 + 5) % N).collect();
    let y = Dense::from_fn(N, DIM, |j, c| x.at(order[j], c) + 0.03 * rng.uniform(-1.0, 1.0));
    let rows = |lump: &dyn Fn(usize) -> usize| Rows {
        ids: None,
        labels: Some(Labels {
            name: "lump".into(),
            names: (0..5).map(|k| format!("lump {k}")).collect(),
            codes: (0..N).map(|i| if i % 11 == 0 { Labels::MISSING } else { lump(i) as u32 }).collect(),
        }),
    };
    let rows = [rows(&|i| i % 5), rows(&|j| order[j] % 5)];
    let truth = order.iter().enumerate().map(|(j, &i)| (i, j)).collect();
    let settings = Settings { eps: EPS, ..Settings::default() };
    Subject { sides: Sides::new(x, y).expect("usable"), rows, truth, settings }
}

fn look(subject: &Subject, way: Way) -> (Looked, Outcome, Vec<Vec<f32>>) {
    let encoders = Encoders::Embedded { dim: DIM as u32, cost: CostKind::Sqm };
    let points = subject.sides.points();
    let (device, control) = (Device::Cpu, &mut NoControl);
    let coupling =
        block_on(procedure::transport_by(way, &device, &encoders, points, EPS, Relaxation::STRICT, control));
    let coupling = coupling.expect("solved");
    match way {
        Way::Held => assert!(matches!(coupling.plan, Matching::Held(_))),
        Way::Streamed => assert!(matches!(coupling.plan, Matching::Computed(_))),
        Way::Multiscale => assert!(matches!(coupling.plan, Matching::Near { .. })),
    }
    let looked = block_on(subject.look(coupling, &mut NoControl)).expect("read");
    let (outcome, bulk) =
        block_on(looked.outcome(subject, Agreement { value: 0.0, chance: None }, &mut NoControl))
            .expect("shown");
    (looked, outcome, bulk)
}

#[test]
fn plans_look_the_same_whichever_way_they_were_found() {
    let subject = subject();
    let (held, outcome, bulk) = look(&subject, Way::Held);
    let value = |outcome: &Outcome, key: &str| {
        outcome.figures.iter().find(|f| f.key == key).map(|f| f.value).expect("a figure")
    };
    assert!(value(&outcome, "foscttm") < 0.01, "{}", value(&outcome, "foscttm"));
    assert!(value(&outcome, "label-transfer") > 0.95, "rows without a label do not count");
    assert_eq!(outcome.way, schema::Way::Held);
    for way in [Way::Streamed, Way::Multiscale] {
        let (looked, other, other_bulk) = look(&subject, way);
        assert_eq!(other.way, analysis::estimate::named(way), "what was done is told");
        let exactness = other.figures.iter().find(|figure| figure.key == "exactness");
        assert_eq!(exactness.is_some(), way == Way::Multiscale);
        assert!(exactness.is_none_or(|figure| figure.value > 0.97), "{exactness:?}");
        for figure in &outcome.figures {
            let got = value(&other, &figure.key);
            let near = 5e-3 * figure.value.abs().max(0.1);
            assert!(
                (got - figure.value).abs() < near,
                "{way:?}, {}: {got}, not {}",
                figure.key,
                figure.value
            );
        }
        // Partners that get most of their rows' mass, and where everything is drawn.
        for (matches, share) in [(4, 16), (5, 17)] {
            let sure = (0..N).filter(|&i| bulk[share][i] > 0.5);
            let (mut same, mut all) = (0, 0);
            for i in sure {
                all += 1;
                same += usize::from(bulk[matches][i] == other_bulk[matches][i]);
            }
            assert!(all > 100 && 100 * same >= 99 * all, "{way:?}: {same} of {all}");
        }
        for at in [2, 3, 8, 9] {
            assert_eq!(bulk[at], other_bulk[at], "{way:?}: what does not depend on the plan");
        }
        // Either is solved to a thousandth of the mass, so that single points may lie a little apart.
        let apart =
            |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f32>() / a.len() as f32;
        let (mine, others) = (&held.readout.projected, &looked.readout.projected);
        let (sent, drawn) = (apart(mine.data(), others.data()), apart(&bulk[10], &other_bulk[10]));
        assert!(sent < 2e-3 && drawn < 2e-3, "{way:?}: sent {sent}, drawn {drawn} apart");
        // Every file that is made of a plan.
        let files = |looked: &Looked, what: Export| {
            let record = Record {
                format: Record::FORMAT,
                versions: Default::default(),
                date: String::new(),
                chosen: Default::default(),
                seed: 1,
                settings: Default::default(),
                executor: "cpu".into(),
                inputs: Vec::new(),
                timings: Vec::new(),
                metrics: Default::default(),
                pairs: Vec::new(),
            };
            let goods = Goods { subject: &subject, looked, model: None, record: &record };
            block_on(file(what, &goods, &mut formats::NoWatch)).expect("written").1.len() as f64
        };
        for what in [Export::Matches, Export::PlanTop, Export::PlanDense, Export::Projection] {
            let (mine, others) = (files(&held, what), files(&looked, what));
            assert!((mine / others - 1.0).abs() < 0.05, "{way:?}: {what:?} has {others} bytes, not {mine}");
        }
    }
}

/// X has a lump that Y has not, and of the others twice as many points.
fn unequal() -> [Dense; 2] {
    let mut rng = Rng::new(5);
    let centres = rng.fill(5 * DIM, -2.0, 2.0);
    let mut side = |n: usize, lumps: usize| {
        Dense::from_fn(n, DIM, |i, j| centres[(i % lumps) * DIM + j] + 0.7 * rng.uniform(-1.0, 1.0))
    };
    [side(500, 5), side(400, 4)]
}

/// Says how far a plan is from the optimum of the relaxed problem, whichever way it was found: at the optimum
/// `ε log(Π/(a⊗b)) + C + λx log(r/a) ⊕ λy log(c/b)` is the same for all pairs, and where weights are met they are met. The
/// mean distance from that, weighted by the mass, and what strict sides miss in sum.
fn from_optimum(
    plan: &Dense,
    cost: impl Fn(usize, usize) -> f32,
    eps: f64,
    relaxation: Relaxation,
) -> [f64; 2] {
    let (n, m) = (plan.rows(), plan.cols());
    let p = |i: usize, j: usize| f64::from(plan.at(i, j)).max(1e-30);
    let r: Vec<f64> = (0..n).map(|i| (0..m).map(|j| p(i, j)).sum()).collect();
    let c: Vec<f64> = (0..m).map(|j| (0..n).map(|i| p(i, j)).sum()).collect();
    let missed = |sums: &[f64]| sums.iter().map(|sum| (sum - 1.0 / sums.len() as f64).abs()).sum::<f64>();
    let strict: f64 = [(relaxation.x, &r), (relaxation.y, &c)]
        .iter()
        .filter(|(lambda, _)| lambda.is_none())
        .map(|(_, sums)| missed(sums))
        .sum();
    let given = |lambda: Option<f32>, sum: f64, count: usize| {
        lambda.map_or(0.0, |lambda| f64::from(lambda) * (sum * count as f64).ln())
    };
    let at = |i: usize, j: usize| {
        eps * (p(i, j) * (n * m) as f64).ln()
            + f64::from(cost(i, j))
            + given(relaxation.x, r[i], n)
            + given(relaxation.y, c[j], m)
    };
    // A strict side has a potential of its own, which is what remains on average.
    let mut off = vec![vec![0.0; m]; n];
    (0..n).for_each(|i| (0..m).for_each(|j| off[i][j] = at(i, j)));
    let all: f64 = (0..n).flat_map(|i| (0..m).map(move |j| (i, j))).map(|(i, j)| p(i, j) * off[i][j]).sum();
    let of_row = |i: usize| (0..m).map(|j| p(i, j) * off[i][j]).sum::<f64>() / r[i];
    let of_column = |j: usize| (0..n).map(|i| p(i, j) * off[i][j]).sum::<f64>() / c[j];
    let rows: Vec<f64> = (0..n).map(|i| if relaxation.x.is_none() { of_row(i) } else { all }).collect();
    let columns: Vec<f64> =
        (0..m).map(|j| if relaxation.y.is_none() { of_column(j) - all } else { 0.0 }).collect();
    let mean = (0..n)
        .flat_map(|i| (0..m).map(move |j| (i, j)))
        .map(|(i, j)| p(i, j) * (off[i][j] - rows[i] - columns[j]).abs())
        .sum();
    [mean, strict]
}

/// The contract of every solver: the same relaxed problem has the same plan, and it is the optimum.
#[test]
fn relaxed_plans_are_the_same_whichever_way_they_were_found() {
    let [x, y] = unequal();
    let clouds = align::scale::Clouds::new([&x, &y], CostKind::Sqm);
    let encoders = Encoders::Embedded { dim: DIM as u32, cost: CostKind::Sqm };
    for relaxation in [
        Relaxation::both(0.5),
        Relaxation::both(0.1),
        Relaxation { x: Some(0.2), y: None },
        Relaxation { x: None, y: Some(0.2) },
        Relaxation { x: Some(2.0), y: Some(0.3) },
    ] {
        let mut first: Option<Dense> = None;
        for way in [Way::Held, Way::Streamed, Way::Multiscale] {
            let control = &mut NoControl;
            let solved =
                procedure::transport_by(way, &Device::Cpu, &encoders, [&x, &y], 0.05, relaxation, control);
            let coupling = block_on(solved).expect("solved");
            assert!(coupling.error <= 1e-3, "{way:?}, {relaxation:?}: {}", coupling.error);
            let plan = coupling.plan.whole();
            let mass: f64 = plan.data().iter().map(|p| f64::from(*p)).sum();
            assert!((mass - 1.0).abs() < 1e-3, "{way:?}, {relaxation:?}: a mass of {mass}");
            let [off, strict] = from_optimum(&plan, |i, j| clouds.cost(i, j), 0.05, relaxation);
            assert!(
                off < 1e-3 && strict < 1.5e-3,
                "{way:?}, {relaxation:?}: {off} and {strict} from the optimum"
            );
            match &first {
                None => first = Some(plan),
                Some(first) => {
                    let apart: f32 = first.data().iter().zip(plan.data()).map(|(a, b)| (a - b).abs()).sum();
                    assert!(apart < 5e-3, "{way:?}, {relaxation:?}: {apart} of the mass lies elsewhere");
                }
            }
        }
        // The lump that Y has not keeps less than the others.
        let plan = first.expect("a plan");
        let kept = |i: usize| (0..400).map(|j| 500.0 * plan.at(i, j)).sum::<f32>();
        let mean = |alone: bool| {
            let rows: Vec<f32> = (0..500).filter(|i| (i % 5 == 4) == alone).map(kept).collect();
            rows.iter().sum::<f32>() / rows.len() as f32
        };
        if relaxation.x.is_some() {
            assert!(mean(true) < 0.8 * mean(false), "{relaxation:?}: {} and {}", mean(true), mean(false));
        }
    }
}

/// A point that the plan gives nothing is not shown as the partner of the first row.
#[test]
fn a_point_without_mass_is_matched_with_nothing() {
    let subject = subject();
    let (held, ..) = look(&subject, Way::Held);
    let whole = held.coupling.plan.whole();
    let plan = Dense::from_fn(N, N, |i, j| if j == 3 { 1e-31 } else { whole.at(i, j) });
    let coupling = procedure::Coupling { plan: Matching::Held(plan), ..held.coupling };
    let looked = block_on(subject.look(coupling, &mut NoControl)).expect("read");
    let agreement = Agreement { value: 0.0, chance: None };
    let (_, bulk) = block_on(looked.outcome(&subject, agreement, &mut NoControl)).expect("shown");
    assert_eq!((bulk[5][3], bulk[17][3]), (-1.0, 0.0));
    assert!(bulk[4].iter().all(|y| *y >= 0.0 && *y != 3.0));
    assert_eq!(bulk[5].iter().filter(|x| **x < 0.0).count(), 1);
}

#[test]
fn few_points_are_held_and_many_are_not() {
    let gpu = Some(1_000_000);
    assert_eq!(Way::of(4000, 4000, gpu), Way::Held);
    assert_eq!(Way::of(4001, 4000, gpu), Way::Streamed);
    assert_eq!(Way::of(4001, 4000, None), Way::Multiscale);
    assert_eq!(Way::of(100_001, 4000, gpu), Way::Multiscale);
    assert_eq!(Way::of(90_000, 4000, Some(80_000)), Way::Multiscale, "a side that fits into no buffer");
    assert_eq!(Way::of(usize::MAX, usize::MAX, None), Way::Multiscale);
}

/// Very many points against a few: the plan is small and held, but what layers hold of the many is not.
#[test]
fn many_points_against_few_are_embedded_in_pieces() {
    let mut rng = Rng::new(3);
    let (n, m) = (20_500, 12);
    let x = Dense::new(n, 3, rng.fill(3 * n, -1.0, 1.0));
    let y = Dense::new(m, 2, rng.fill(2 * m, -1.0, 1.0));
    let encoders = Encoders::Linear {
        x: LinearMap { rows: 3, cols: 2, values: vec![1.0, 0.0, 0.0, 1.0, 0.5, -0.5] },
        y: None,
    };
    let mut phases = Phases::default();
    let coupling = block_on(procedure::transport(
        &Device::Cpu,
        &encoders,
        [&x, &y],
        0.05,
        Relaxation::STRICT,
        &mut phases,
    ));
    let coupling = coupling.expect("solved");
    assert!(phases.0.contains(&"embedding"), "{:?}", phases.0);
    let Matching::Held(plan) = &coupling.plan else { panic!("the plan is small") };
    assert_eq!((plan.rows(), plan.cols()), (n, m));
    assert!(coupling.error < 1e-3, "{}", coupling.error);
    let [there, _] = coupling.embedded.expect("embedded");
    let want = [x.at(7, 0) + 0.5 * x.at(7, 2), x.at(7, 1) - 0.5 * x.at(7, 2)];
    assert!(there.row(7).iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-5));
}

/// Notes what is done.
#[derive(Default)]
struct Phases(Vec<&'static str>);

impl Control for Phases {
    async fn checkpoint(&mut self, progress: Progress) -> Result<(), Failure> {
        self.0.push(progress.phase);
        Ok(())
    }
}
