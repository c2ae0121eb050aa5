//! A run that was ended at any moment and is taken up again comes to the same bits as one that was left alone, without
//! computing again what it had reached.
#![cfg(not(target_arch = "wasm32"))]

use std::collections::BTreeMap;

use align::geometry::Dense;
use align::geometry::panel::{Distance, Measure};
use align::procedure::{
    self, Alignment, Control, Coupling, EncoderChoice, Failure, LossChoice, NoControl, Progress, Settings,
    Sides, Start, Statistics, Way,
};
use align::scale::Matching;
use align::solver::align::AlignSettings;
use align::solver::cost::CostKind;
use align::solver::infer::Encoders;
use align::solver::marginals::Relaxation;
use compute::exec::Device;
use compute::rng::Rng;
use pollster::block_on;

/// Keeps everything that is told, and may end the run.
#[derive(Default)]
struct Keeping {
    reached: BTreeMap<String, Vec<f32>>,
    looks: usize,
    end_at: Option<usize>,
    phases: Vec<&'static str>,
    /// Steps of networks that were computed, and those whose statistics were told.
    trained: Vec<u32>,
    told: Vec<u32>,
}

impl Keeping {
    fn after(reached: BTreeMap<String, Vec<f32>>) -> Self {
        Self { reached, ..Self::default() }
    }
}

impl Control for Keeping {
    async fn checkpoint(&mut self, progress: Progress) -> Result<(), Failure> {
        self.looks += 1;
        self.phases.push(progress.phase);
        // The zeroth step is looked at while points are prepared.
        if progress.phase == "training" && progress.done > 0 {
            self.trained.push(progress.done);
        }
        if self.end_at.is_some_and(|at| self.looks > at) { Err(Failure::Cancelled) } else { Ok(()) }
    }

    fn chunk(&self) -> u32 {
        7
    }

    fn statistics(&mut self, new: Statistics<'_>) {
        self.told.extend(new.first_step..new.first_step + new.eps.len() as u32);
    }

    fn recall(&mut self, what: &str) -> Option<Vec<f32>> {
        self.reached.get(what).cloned()
    }

    fn keeps(&mut self, _finished: bool) -> bool {
        true
    }

    fn remember(&mut self, what: &str, values: Vec<f32>) {
        self.reached.insert(what.to_owned(), values);
    }
}

fn cloud(n: usize, seed: u64) -> Dense {
    let mut rng = Rng::new(seed);
    let centres = Dense::new(5, 4, rng.fill(20, -2.0, 2.0));
    Dense::from_fn(n, 4, |i, j| centres.at(i * i % 5, j) + 0.4 * rng.uniform(-1.0, 1.0))
}

fn small() -> Settings {
    Settings {
        sample: 40,
        train: AlignSettings { hidden: 16, embedding: 4, steps: 60, ..AlignSettings::default() },
        ..Settings::default()
    }
}

fn align(sides: &Sides, settings: &Settings, control: &mut impl Control) -> Result<Alignment, Failure> {
    block_on(procedure::align(&Device::Cpu, sides, settings, control))
}

fn same(a: &Alignment, b: &Alignment) -> bool {
    let both = || a.candidates.iter().zip(&b.candidates);
    a.candidates.len() == b.candidates.len()
        && both().all(|(a, b)| a.encoders == b.encoders && a.origin == b.origin && a.score == b.score)
}

/// Ends a run at many of its moments and takes each up again.
fn taken_up_anywhere(sides: &Sides, settings: &Settings) {
    let want = align(sides, settings, &mut NoControl).expect("aligns");
    let mut whole = Keeping::default();
    let kept = align(sides, settings, &mut whole).expect("aligns");
    assert!(same(&kept, &want), "keeping changes nothing");
    let (mut spared, mut in_training) = (0, 0);
    // All over the run, and in the midst of training.
    let training: Vec<usize> = (0..whole.looks).filter(|&at| whole.phases[at] == "training").collect();
    let spread = (1..whole.looks).step_by((whole.looks / 24).max(1));
    for end_at in spread.chain([training[training.len() / 2], training[training.len() - 2]]) {
        let mut ended = Keeping { end_at: Some(end_at), ..Keeping::default() };
        assert!(matches!(align(sides, settings, &mut ended), Err(Failure::Cancelled)));
        let last = ended.phases.last().copied();
        let mut again = Keeping::after(ended.reached);
        let found = align(sides, settings, &mut again).expect("aligns");
        assert!(same(&found, &want), "ended after {end_at} looks, in {last:?}");
        assert!(again.looks <= whole.looks, "{} looks, {} in all", again.looks, whole.looks);
        spared += whole.looks - again.looks;
        // The curves are whole again, each step once.
        assert_eq!(again.told, whole.told, "ended in {last:?}");
        if last == Some("training") && ended.trained.len() > 2 {
            in_training += 1;
            let before = ended.trained[ended.trained.len() - 2];
            assert!(again.trained.first().is_none_or(|first| *first >= before), "goes on where it was");
        }
    }
    assert!(spared > whole.looks && in_training > 0, "{spared} looks spared, {in_training} in training");
    // All of it at hand: nothing is trained again.
    let mut again = Keeping::after(whole.reached);
    let found = align(sides, settings, &mut again).expect("aligns");
    assert!(same(&found, &want) && again.trained.is_empty() && again.told == whole.told);
}

#[test]
fn the_default_procedure_is_taken_up_anywhere() {
    let sides = Sides::new(cloud(60, 3), cloud(50, 4)).expect("usable");
    taken_up_anywhere(&sides, &small());
}

#[test]
fn subsamples_that_are_drawn_anew_are_those_of_the_step() {
    let sides = Sides::new(cloud(90, 3), cloud(80, 4)).expect("usable");
    let settings = Settings { encoder: EncoderChoice::Networks, redraw: Some(15), ..small() };
    taken_up_anywhere(&sides, &settings);
}

/// On either side of the 44th step, from which marginals are relaxed: no multiple of what is submitted together.
#[test]
fn networks_that_go_over_to_relaxed_marginals_are_taken_up() {
    let sides = Sides::new(cloud(90, 3), cloud(80, 4)).expect("usable");
    for (loss, redraw) in [(LossChoice::RankGw, None), (LossChoice::Classic, Some(15))] {
        let mut networks = Settings { encoder: EncoderChoice::Networks, loss, redraw, ..small() };
        networks.train.steps = 55;
        let relaxed = Settings { relaxed_networks: true, ..networks.clone() };
        taken_up_anywhere(&sides, &relaxed);
        let [strict, relaxed] =
            [networks, relaxed].map(|settings| align(&sides, &settings, &mut NoControl).expect("aligns"));
        assert!(!same(&strict, &relaxed), "{loss:?}: relaxed marginals change nothing");
    }
}

#[test]
fn training_on_all_points_is_taken_up() {
    let sides = Sides::new(cloud(60, 3), cloud(50, 4)).expect("usable");
    let mut settings = Settings {
        encoder: EncoderChoice::Networks,
        loss: LossChoice::Classic,
        all_points: true,
        measures: vec![Measure::same(Distance::SquaredEuclidean)],
        ..small()
    };
    settings.train.steps = 12;
    taken_up_anywhere(&sides, &settings);
}

/// What was kept of other data or by another version is not taken for this run's.
#[test]
fn what_does_not_fit_is_left_alone() {
    let sides = Sides::new(cloud(60, 3), cloud(50, 4)).expect("usable");
    let want = align(&sides, &small(), &mut NoControl).expect("aligns");
    let mut whole = Keeping::default();
    align(&sides, &small(), &mut whole).expect("aligns");
    for change in [Vec::clear, |values: &mut Vec<f32>| values.push(0.0)] {
        let mut reached = whole.reached.clone();
        reached.values_mut().for_each(change);
        assert!(same(&align(&sides, &small(), &mut Keeping::after(reached)).expect("aligns"), &want));
    }
    // A counter beyond the end.
    let mut reached = whole.reached;
    let networks = reached.iter_mut().find(|(what, _)| what.ends_with("/networks"));
    networks.expect("told").1[1] = f32::from_bits(1_000_000);
    assert!(same(&align(&sides, &small(), &mut Keeping::after(reached)).expect("aligns"), &want));
}

/// One value, one setting, one pair or the order of the sides makes it another run, although everything has the same size.
#[test]
fn what_another_run_has_reached_is_not_taken() {
    let usual = || Sides::new(cloud(50, 3), cloud(50, 4)).expect("usable");
    let mut whole = Keeping::default();
    align(&usual(), &small(), &mut whole).expect("aligns");
    let moved = Dense::from_fn(50, 4, |i, j| cloud(50, 4).at(i, j) + f32::from(i == 49 && j == 3) * 1e-3);
    let distances = [cloud(50, 3), cloud(50, 4)].map(|points| {
        let apart = |i: usize, j: usize| (0..4).map(|k| (points.at(i, k) - points.at(j, k)).abs()).sum();
        Dense::from_fn(50, 50, apart)
    });
    let [dx, dy] = distances;
    let others = [
        (Sides::new(cloud(50, 3), moved).expect("usable"), small()),
        (Sides::new(cloud(50, 4), cloud(50, 3)).expect("usable"), small()),
        (usual().knowing(vec![(1, 2)]).expect("usable"), small()),
        (usual().measured(dx, dy).expect("usable"), small()),
        (usual(), Settings { seed: 2, ..small() }),
        (usual(), Settings { train: AlignSettings { rate: 2.1e-3, ..small().train }, ..small() }),
    ];
    for (at, (sides, settings)) in others.into_iter().enumerate() {
        let want = align(&sides, &settings, &mut NoControl).expect("aligns");
        let found = align(&sides, &settings, &mut Keeping::after(whole.reached.clone())).expect("aligns");
        assert!(same(&found, &want), "the run that differs in point {at} took what is not its own");
    }
}

/// What a plan is computed from.
fn potentials(coupling: &Coupling) -> [&[f32]; 2] {
    match &coupling.plan {
        Matching::Computed(plan) | Matching::Near { plan, .. } => [&plan.f, &plan.g],
        Matching::Held(_) => panic!("a plan that is held"),
    }
}

/// Whether two plans are the same, as far as either is solved: potentials are known up to a constant.
fn same_plan(a: &Coupling, b: &Coupling, eps: f32) -> bool {
    let [(fa, ga), (fb, gb)] = [a, b].map(|coupling| {
        let [f, g] = potentials(coupling);
        (f, g)
    });
    let mean = |a: &[f32], b: &[f32]| {
        a.iter().zip(b).map(|(a, b)| f64::from(a - b)).sum::<f64>() / a.len().max(1) as f64
    };
    let shift = mean(fa, fb);
    let apart = |a: &[f32], b: &[f32], shift: f64| {
        let off: f64 = a.iter().zip(b).map(|(a, b)| (f64::from(a - b) - shift).abs()).sum();
        off / a.len() as f64 / f64::from(eps)
    };
    apart(fa, fb, shift) < 0.02 && apart(ga, gb, -shift) < 0.02
}

/// A transport between all points goes on from the potentials it had reached, either way.
#[test]
fn a_transport_between_all_points_is_taken_up() {
    let (x, y, eps) = (cloud(1500, 3), cloud(1400, 5), 0.02);
    let encoders = Encoders::Embedded { dim: 4, cost: CostKind::Sqm };
    for (way, what) in [(Way::Streamed, "potentials"), (Way::Multiscale, "fine potentials")] {
        let solve = |control: &mut Keeping| {
            block_on(procedure::transport_by(
                way,
                &Device::Cpu,
                &encoders,
                [&x, &y],
                eps,
                Relaxation::STRICT,
                control,
            ))
        };
        let mut whole = Keeping::default();
        let want = solve(&mut whole).expect("solves");
        assert!(want.error <= 1e-3 && want.way == way);
        assert_eq!(whole.reached.keys().collect::<Vec<_>>(), [what]);
        assert_eq!(whole.reached[what], potentials(&want).concat(), "{way:?}: the end is told");
        let mut ended = Keeping { end_at: Some(3 * whole.looks / 4), ..Keeping::default() };
        assert!(matches!(solve(&mut ended), Err(Failure::Cancelled)));
        assert_eq!(ended.reached[what].len(), 2900, "{way:?}: told before it was ended");
        let mut again = Keeping::after(ended.reached);
        let found = solve(&mut again).expect("solves");
        assert!(again.looks < whole.looks, "{way:?}: {} looks, {} in all", again.looks, whole.looks);
        assert!(found.error <= 1e-3 && same_plan(&found, &want, eps), "{way:?}");
        // What does not fit, or is nothing, is left alone.
        for wrong in [vec![0.0; 2899], vec![f32::NAN; 2900]] {
            let mut other = Keeping::after([(what.to_owned(), wrong)].into());
            let found = solve(&mut other).expect("solves");
            assert!(potentials(&found) == potentials(&want), "{way:?}");
        }
    }
}

/// The end of a run bears its mark like everything before.
#[test]
fn the_last_transport_of_another_run_is_not_taken() {
    let sides = Sides::new(cloud(4100, 3), cloud(4000, 4)).expect("usable");
    let settings = Settings {
        encoder: EncoderChoice::Linear,
        starts: vec![Start::Signature],
        refined: 1,
        measures: vec![Measure::same(Distance::Cosine)],
        ..small()
    };
    let alignment = align(&sides, &settings, &mut NoControl).expect("aligns");
    let conclude = |settings: &Settings, control: &mut Keeping| {
        block_on(procedure::conclude(&Device::Cpu, &sides, settings, alignment.best(), control))
            .expect("concludes")
    };
    let mut whole = Keeping::default();
    let want = conclude(&settings, &mut whole);
    // That of the plan, and the more relaxed one that tells which rows have no partner.
    assert_eq!((want.way, whole.reached.len()), (Way::Multiscale, 2));
    let mut again = Keeping::after(whole.reached.clone());
    let found = conclude(&settings, &mut again);
    assert!(again.looks < whole.looks, "{} looks, {} in all", again.looks, whole.looks);
    assert!(same_plan(&found, &want, settings.eps));
    let mut other = Keeping::after(whole.reached);
    let found = conclude(&Settings { seed: 2, ..settings }, &mut other);
    assert!(potentials(&found) == potentials(&want), "from the start");
    assert_eq!(other.looks, whole.looks);
}
