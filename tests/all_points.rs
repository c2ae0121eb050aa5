//! Networks trained on all points at once: what they find, what they cannot take, and how they are stopped.
#![cfg(not(target_arch = "wasm32"))]

use align::geometry::Dense;
use align::geometry::panel::{Distance, Measure};
use align::metrics::truth::closer_shares;
use align::procedure::{
    self, Alignment, Control, EncoderChoice, Failure, LossChoice, NoControl, Progress, Settings, Sides, View,
};
use align::scale::NoWatch;
use align::solver::align::AlignSettings;
use compute::exec::Device;
use compute::rng::Rng;
use pollster::block_on;

/// A crooked sheet in five dimensions: no symmetry, and no two rows alike.
fn sheet(n: usize, rng: &mut Rng) -> Dense {
    let places: Vec<[f32; 2]> =
        (0..n).map(|_| [rng.uniform(0.0, 2.0), rng.uniform(0.0, 1.0).powi(2)]).collect();
    Dense::from_fn(n, 5, |i, j| {
        let [u, v] = places[i];
        [u, v, 0.5 * (2.0 * u).sin(), 0.4 * u * v, 0.3 * (u + 2.0 * v).cos()][j]
    })
}

/// The same sheet seen from elsewhere, its rows in another order, and the true pairs.
fn hidden(n: usize) -> (Sides, Vec<(usize, usize)>) {
    let mut rng = Rng::new(11);
    let x = sheet(n, &mut rng);
    let order = rng.sample(n, n);
    let turn = Dense::new(5, 5, rng.fill(25, -1.0, 1.0));
    let turn = align::geometry::spectral::principal_axes(&turn);
    let y = align::geometry::products::product(&x.picked(&order), &turn);
    let pairs = order.into_iter().enumerate().map(|(j, i)| (i, j)).collect();
    (Sides::new(x, y).expect("usable"), pairs)
}

fn settings() -> Settings {
    Settings {
        encoder: EncoderChoice::Networks,
        loss: LossChoice::Classic,
        all_points: true,
        measures: vec![Measure::same(Distance::SquaredEuclidean)],
        train: AlignSettings { hidden: 48, embedding: 8, steps: 200, ..AlignSettings::default() },
        ..Settings::default()
    }
}

fn align(sides: &Sides, settings: &Settings, control: &mut impl Control) -> Result<Alignment, Failure> {
    block_on(procedure::align(&Device::Cpu, sides, settings, control))
}

/// Counts what it is shown.
#[derive(Default)]
struct Looking {
    seen: u32,
    steps: u32,
    stop_at: Option<u32>,
}

impl Control for Looking {
    async fn checkpoint(&mut self, progress: Progress) -> Result<(), Failure> {
        let stop = progress.phase == "training" && self.stop_at.is_some_and(|at| progress.done >= at);
        if stop { Err(Failure::Cancelled) } else { Ok(()) }
    }

    fn curious(&mut self) -> bool {
        true
    }

    fn statistics(&mut self, new: procedure::Statistics<'_>) {
        assert!(new.values.iter().all(|v| v.is_finite()) && new.eps.len() * 2 == new.values.len());
        self.steps += new.eps.len() as u32;
    }

    /// The plan that is shown is the plan of what is shown: its rows hold their share of the mass.
    fn view(&mut self, view: View<'_>) {
        self.seen += 1;
        let [n, m] = view.rows.map(<[usize]>::len);
        assert_eq!(view.embedded.each_ref().map(Dense::rows), [n, m]);
        assert_eq!((view.plans[0].rows(), view.plans[0].cols()), (n, m));
        let mass: f32 = view.plans[0].data().iter().sum();
        assert!((mass - 1.0).abs() < 2e-3, "all {n} points are shown, so all of the plan: {mass}");
    }
}

#[test]
fn a_hidden_turn_is_found_and_shown_on_the_way() {
    let (sides, pairs) = hidden(240);
    let mut looking = Looking::default();
    let settings = settings();
    let alignment = align(&sides, &settings, &mut looking).expect("aligns");
    assert!(looking.steps > 100 && looking.seen + 1 >= looking.steps, "{} {}", looking.seen, looking.steps);
    assert_eq!(alignment.candidates.len(), 1);
    let best = alignment.best();
    let coupling = block_on(procedure::infer(&Device::Cpu, &sides, best, &settings, &mut NoControl));
    let plan = coupling.expect("infers").plan;
    let shares = block_on(closer_shares(&plan, &pairs, &mut NoWatch)).expect("counted");
    let mean = shares.iter().map(|both| both[0]).sum::<f64>() / shares.len() as f64;
    eprintln!("FOSCTTM {mean:.4}");
    assert!(mean < 0.03, "at random a half: {mean}");
}

#[test]
fn it_ends_when_it_is_cancelled() {
    let (sides, _) = hidden(60);
    let mut looking = Looking { stop_at: Some(3), ..Looking::default() };
    assert!(matches!(align(&sides, &settings(), &mut looking), Err(Failure::Cancelled)));
    assert_eq!(looking.steps, 3);
}

#[test]
fn what_it_cannot_take_is_refused_with_a_way_out() {
    let (sides, _) = hidden(40);
    let refused = |sides: &Sides, settings: Settings, what: &str| {
        match align(sides, &settings, &mut NoControl) {
            Err(Failure::Input(why)) => assert!(why.contains(what) && why.contains("subsample"), "{why}"),
            other => panic!("{what}: {:?}", other.map(|_| ())),
        };
    };
    refused(&sides, Settings { loss: LossChoice::RankGw, ..settings() }, "classic objective");
    let measures = vec![Measure::same(Distance::Geodesic)];
    refused(&sides, Settings { measures, ..settings() }, "geodesic");
    refused(&sides, Settings { dirichlet: 0.1, ..settings() }, "smoothness");
    let knowing = hidden(40).0.knowing(vec![(0, 0)]).expect("a pair");
    refused(&knowing, settings(), "known pairs");
}

/// Without a distance asked for, one is taken that has the form.
#[test]
fn positions_and_profiles_have_a_thin_distance_each() {
    let (sides, _) = hidden(40);
    let open = Settings { measures: Vec::new(), ..settings() };
    assert_eq!(open.panel(&sides), vec![Measure::same(Distance::Cosine)]);
    let flat = |seed| Dense::new(30, 2, Rng::new(seed).fill(60, -1.0, 1.0));
    let flat = Sides::new(flat(1), flat(2)).expect("usable");
    assert_eq!(open.panel(&flat), vec![Measure::same(Distance::SquaredEuclidean)]);
    procedure::suits_all_points(&flat, &open).expect("suits");
}
