//! Groups that only one side has, in made-up data: left out they are found, and where none is missing nothing is offered.
#![cfg(not(target_arch = "wasm32"))]

use std::collections::BTreeMap;

use align::geometry::Dense;
use align::geometry::panel::{Distance, Measure};
use align::geometry::polar::polar;
use align::geometry::products::product;
use align::metrics::truth::closer_shares;
use align::procedure::{
    self, Alignment, Candidate, Control, EncoderChoice, Failure, GroupChoice, LeftOut, NoControl, Progress,
    Settings, Sides, Start,
};
use compute::exec::Device;
use compute::rng::Rng;
use pollster::block_on;

const DIMS: usize = 6;

/// Groups of different sizes, each spread more to one side than to the other, and a share of which is in the first group.
fn cloud(rows: usize, seed: u64) -> (Dense, Vec<usize>) {
    let mut rng = Rng::new(seed);
    let centres = Dense::new(6, DIMS, rng.fill(6 * DIMS, -1.0, 1.0));
    let kinds: Vec<usize> = (0..rows).map(|i| [0, 1, 0, 2, 3, 0, 1, 2, 4, 5, 0, 1, 3][i % 13]).collect();
    let points = Dense::from_fn(rows, DIMS, |i, j| {
        let long = if j == kinds[i] % DIMS { 0.8 } else { 0.25 };
        centres.at(kinds[i], j) + long * (rng.unit() * rng.unit() - 0.25)
    });
    (points, kinds)
}

/// A cloud, and the same cloud turned with its rows in another order and without one of its groups.
fn pair(rows: usize, seed: u64, missing: Option<usize>) -> (Sides, Vec<(usize, usize)>) {
    let (x, kinds) = cloud(rows, seed);
    let mut rng = Rng::new(seed ^ 77);
    let turn = polar(&Dense::new(DIMS, DIMS, rng.fill(DIMS * DIMS, -1.0, 1.0)));
    let order: Vec<usize> =
        rng.sample(rows, rows).into_iter().filter(|&i| Some(kinds[i]) != missing).collect();
    let noisy = Dense::from_fn(rows, DIMS, |i, j| x.at(i, j) + 0.02 * rng.uniform(-1.0, 1.0));
    let y = product(&noisy.picked(&order), &turn);
    (Sides::new(x, y).expect("usable"), order.into_iter().enumerate().map(|(j, i)| (i, j)).collect())
}

fn settings(groups: GroupChoice) -> Settings {
    let measures = vec![Measure::same(Distance::Euclidean)];
    Settings {
        encoder: EncoderChoice::Linear,
        groups,
        measures,
        starts: vec![Start::Fused, Start::Noise],
        more_starts: 2,
        refined: 3,
        ..Settings::default()
    }
}

fn align(sides: &Sides, settings: &Settings) -> Alignment {
    block_on(procedure::align(&Device::Cpu, sides, settings, &mut NoControl)).expect("aligns")
}

/// FOSCTTM of a candidate over the rows that have a partner.
fn wrong(sides: &Sides, candidate: &Candidate, pairs: &[(usize, usize)]) -> f64 {
    let settings = &settings(GroupChoice::Off);
    let found =
        block_on(procedure::infer(&Device::Cpu, sides, candidate, settings, &mut NoControl)).expect("infers");
    let shares = block_on(closer_shares(&found.plan, pairs, &mut align::scale::NoWatch)).expect("computed");
    shares.iter().map(|[a, b]| 0.5 * (a + b)).sum::<f64>() / shares.len() as f64
}

/// X has a group of three rows in thirteen, or of two, that Y lacks.
#[test]
fn a_group_that_one_side_lacks_is_left_out() {
    for (missing, rows) in [(0, 139), (1, 104)] {
        let (sides, pairs) = pair(450, 1, Some(missing));
        let plain = align(&sides, &settings(GroupChoice::Off));
        let tried = align(&sides, &settings(GroupChoice::Try));
        let off = wrong(&sides, plain.best(), &pairs);
        let on = wrong(&sides, tried.best(), &pairs);
        assert!(off > 0.25 && on < 0.05, "FOSCTTM {off} as they are, {on} without a group");
        let left = tried.best().origin.left_out().expect("a group is left out");
        assert_eq!(left, LeftOut { side: 0, rows });
        assert!(tried.candidates.len() == plain.candidates.len() + 1 && tried.alternatives == [1]);
        assert!(plain.candidates.iter().all(|candidate| candidate.origin.left_out().is_none()));
    }
}

/// Where nobody asks, groups are left out between many rows only, and only if another alignment fits about as well.
#[test]
fn between_many_rows_groups_are_left_out_where_there_is_doubt() {
    let auto = |rows: usize, missing: Option<usize>| {
        let (sides, pairs) = pair(rows, 1, missing);
        let alignment = align(&sides, &settings(GroupChoice::Auto));
        (wrong(&sides, alignment.best(), &pairs), alignment.best().origin.left_out())
    };
    let (right, left) = auto(650, Some(0));
    assert!(right < 0.1 && left.is_some_and(|left| left.side == 0), "{right}, {left:?}");
    assert_eq!(auto(650, None).1, None, "no group is missing");
    assert_eq!(auto(450, Some(0)).1, None, "one side has few rows");
}

/// Ends a run at one of its checkpoints, and keeps what it tells.
#[derive(Default)]
struct Keeping {
    seen: Vec<&'static str>,
    end_at: Option<usize>,
    reached: BTreeMap<String, Vec<f32>>,
}

impl Control for Keeping {
    async fn checkpoint(&mut self, progress: Progress) -> Result<(), Failure> {
        assert!(progress.done <= progress.of, "{progress:?}");
        self.seen.push(progress.phase);
        if self.end_at.is_some_and(|at| self.seen.len() > at) { Err(Failure::Cancelled) } else { Ok(()) }
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

#[test]
fn leaving_groups_out_can_be_cancelled_and_taken_up_again() {
    let (sides, _) = pair(120, 1, Some(0));
    let settings = Settings { refined: 2, more_starts: 0, ..settings(GroupChoice::Try) };
    let run = |control: &mut Keeping| block_on(procedure::align(&Device::Cpu, &sides, &settings, control));
    let mut whole = Keeping::default();
    let want = run(&mut whole).expect("aligns");
    let leaving: Vec<usize> =
        (0..whole.seen.len()).filter(|&at| whole.seen[at] == "leaving groups out").collect();
    let last = leaving[leaving.len() - 1];
    for end_at in [leaving[0], leaving[leaving.len() / 2], last] {
        let mut ended = Keeping { end_at: Some(end_at), ..Keeping::default() };
        assert!(matches!(run(&mut ended), Err(Failure::Cancelled)));
        assert_eq!(ended.seen, whole.seen[..=end_at], "nothing runs on");
        let mut again = Keeping { reached: ended.reached, ..Keeping::default() };
        let found = run(&mut again).expect("aligns");
        let both = found.candidates.iter().zip(&want.candidates);
        assert!(both.clone().count() == want.candidates.len());
        assert!(both.into_iter().all(|(a, b)| a.encoders == b.encoders && a.origin == b.origin));
        if end_at == last {
            assert!(
                3 * again.seen.len() < 2 * whole.seen.len(),
                "{} of {}",
                again.seen.len(),
                whole.seen.len()
            );
        }
    }
}

#[test]
fn tiny_and_degenerate_sides_are_aligned_as_ever() {
    let few = |rows: usize| Dense::from_fn(rows, 3, |i, j| ((i * 7 + j * j * 5) % 11) as f32);
    let spike = |rows: usize| Dense::from_fn(rows, 3, |i, j| if i == 0 { j as f32 } else { 1.0 });
    let two = |rows: usize| Dense::from_fn(rows, 2, |i, j| ((i + j) % 2) as f32);
    let settings = Settings { refined: 1, more_starts: 0, ..settings(GroupChoice::Try) };
    for [x, y] in
        [[few(4), few(5)], [few(7), few(30)], [spike(40), few(40)], [spike(30), spike(9)], [two(50), two(44)]]
    {
        let sides = Sides::new(x, y).expect("usable");
        let found = align(&sides, &settings);
        assert!(!found.candidates.is_empty());
        assert!(found.candidates.iter().all(|c| c.score.is_finite() && c.error.is_finite()));
    }
}
