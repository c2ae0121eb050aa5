//! The sample data: the default procedure finds what is hidden in each, and its encoders hold for points that
//! were not there in training. `SEEDS` asks for more than one seed.
#![cfg(not(target_arch = "wasm32"))]

use align::geometry::Dense;
use align::metrics::plan::matches;
use align::metrics::truth::exact_matches;
use align::procedure::{self, Candidate, Coupling, NoControl, Settings, Sides};
use analysis::prepare::Raw;
use analysis::recall::{Data, recall};
use compute::exec::Device;
use formats::write::model::Model;
use formats::{Bytes, Choices, NoWatch};
use pollster::block_on;

fn text(set: &str, file: &str) -> String {
    let path = format!("{}/www/samples/{set}/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn points(set: &str, file: &str) -> Dense {
    let path = format!("{}/www/samples/{set}/{file}", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).expect("a sample");
    let loaded = block_on(formats::read(&Bytes::new(&path, &bytes), &Choices::default(), &mut NoWatch));
    let table = loaded.expect("readable").table;
    Dense::new(table.rows, table.cols, table.values)
}

/// A column of a table with a header.
fn column(set: &str, file: &str, name: &str) -> Vec<String> {
    let text = text(set, file);
    let at = text.lines().next().and_then(|h| h.split(',').position(|c| c == name)).expect("a header");
    text.lines().skip(1).map(|line| line.split(',').nth(at).expect("a cell").to_owned()).collect()
}

fn pairs(set: &str, file: &str) -> Vec<(usize, usize)> {
    let number = |name: &str| column(set, file, name).into_iter().map(|v| v.parse().expect("a row"));
    number("x_row").zip(number("y_row")).collect()
}

fn seeds() -> std::ops::RangeInclusive<u64> {
    1..=std::env::var("SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1)
}

/// The default procedure, then its choice applied to other points, which are in the units of the sides.
fn aligned(sides: &Sides, seed: u64, new: [&Dense; 2]) -> (Candidate, Coupling) {
    let settings = Settings { seed, ..Settings::default() };
    let alignment =
        block_on(procedure::align(&Device::Cpu, sides, &settings, &mut NoControl)).expect("aligns");
    let best = alignment.best().clone();
    let [px, py] = best.origin.preparations();
    let [x, y] = [sides.seen(0, px, new[0]), sides.seen(1, py, new[1])];
    let coupling = block_on(procedure::transport(
        &Device::Cpu,
        &best.encoders,
        [&x, &y],
        settings.eps,
        settings.relaxed(&best.encoders),
        &mut NoControl,
    ))
    .expect("matches");
    (best, coupling)
}

#[test]
fn digits_behind_a_rotation_are_found_and_so_are_unseen_ones() {
    let sides = Sides::new(points("digits", "x.npy"), points("digits", "y.npy")).expect("usable");
    let [x, y] = ["x_new.npy", "y_new.npy"].map(|file| points("digits", file));
    let [x, y] = [sides.in_unit(0, &x), sides.in_unit(1, &y)];
    for seed in seeds() {
        let (best, coupling) = aligned(&sides, seed, [&x, &y]);
        let exact = exact_matches(&matches(&coupling.plan.whole()), &pairs("digits", "pairs_new.csv"));
        eprintln!("digits, seed {seed}: {exact:.4} of unseen pairs exact, by {:?}", best.origin);
        assert!(exact >= 0.97, "seed {seed}: {exact}");
    }
}

#[test]
fn words_of_two_models_meet_in_their_category() {
    let sides = Sides::new(points("words", "x.npy"), points("words", "y.npy")).expect("usable");
    let [lx, ly] = ["labels_x.csv", "labels_y.csv"].map(|file| column("words", file, "category"));
    for seed in seeds() {
        let (best, coupling) = aligned(&sides, seed, sides.points());
        let right =
            matches(&coupling.plan.whole()).iter().zip(&lx).filter(|(j, label)| &ly[**j] == *label).count();
        let share = right as f64 / lx.len() as f64;
        let exact = exact_matches(&matches(&coupling.plan.whole()), &pairs("words", "pairs.csv"));
        eprintln!("words, seed {seed}: category {share:.3}, word {exact:.3}, by {:?}", best.origin);
        assert!(share >= 0.8, "seed {seed}: {share}");
    }
}

#[test]
fn assays_of_different_cells_meet_in_their_type() {
    let sides = Sides::new(points("assays", "x.npy"), points("assays", "y.npy")).expect("usable");
    let [lx, ly] = ["labels_x.csv", "labels_y.csv"].map(|file| column("assays", file, "type"));
    for seed in seeds() {
        let (best, coupling) = aligned(&sides, seed, sides.points());
        let right =
            matches(&coupling.plan.whole()).iter().zip(&lx).filter(|(j, label)| &ly[**j] == *label).count();
        let share = right as f64 / lx.len() as f64;
        eprintln!("assays, seed {seed}: type {share:.3}, by {:?}", best.origin);
        assert!(share >= 0.86, "seed {seed}: {share}");
    }
}

#[test]
fn a_roll_is_laid_flat_and_so_are_points_it_was_not_trained_on() {
    let [x, y] = ["x.npy", "y.npy"].map(|file| points("swiss", file));
    // Every sixth point of the roll is kept back.
    let (held, trained): (Vec<usize>, Vec<usize>) = (0..x.rows()).partition(|i| i % 6 == 5);
    let part = |rows: &[usize]| Dense::from_fn(rows.len(), x.cols(), |i, j| x.at(rows[i], j));
    let sides = Sides::new(part(&trained), y.clone()).expect("usable");
    for seed in seeds() {
        // All points are matched, and those that were kept back are looked at.
        let (best, coupling) = aligned(&sides, seed, [&sides.in_unit(0, &x), &sides.in_unit(1, &y)]);
        let plan = coupling.plan.whole();
        for axis in ["along", "across"] {
            let numbers = |file: &str| -> Vec<f64> {
                column("swiss", file, axis).iter().map(|v| v.parse().expect("a number")).collect()
            };
            let (lx, ly) = (numbers("labels_x.csv"), numbers("labels_y.csv"));
            let carried: Vec<f64> = held
                .iter()
                .map(|&i| {
                    let row = plan.row(i);
                    let mass: f64 = row.iter().map(|&p| f64::from(p)).sum();
                    row.iter().zip(&ly).map(|(&p, l)| f64::from(p) * l).sum::<f64>() / mass
                })
                .collect();
            let truth: Vec<f64> = held.iter().map(|&i| lx[i]).collect();
            let r = correlation(&carried, &truth).abs();
            eprintln!("swiss, seed {seed}: {axis} {r:.4}, by {:?}", best.origin);
            assert!(r >= 0.99, "seed {seed}, {axis}: {r}");
        }
    }
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let sum = |f: &dyn Fn(f64, f64) -> f64| a.iter().zip(b).map(|(a, b)| f(a - ma, b - mb)).sum::<f64>();
    sum(&|a, b| a * b) / (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt()
}

/// The encoders that the samples come with (`cargo xtask samples`), applied as the page does it.
#[test]
fn every_sample_comes_with_encoders_that_align_it() {
    for (set, least) in [("words", 0.1), ("digits", 0.02), ("assays", 0.4), ("swiss", 0.05)] {
        let path = format!("{}/www/samples/{set}/model.safetensors", env!("CARGO_MANIFEST_DIR"));
        let model = Model::load(&std::fs::read(&path).expect("a model")).expect("loads");
        let tables = [points(set, "x.npy"), points(set, "y.npy")];
        let [x, y] = tables.clone();
        let sides = Sides::new(x, y).expect("usable");
        let data = Data {
            sides,
            rows: Default::default(),
            truth: pairs(set, "pairs.csv"),
            tables: tables.map(Raw::from),
        };
        let study = block_on(recall(&Device::Cpu, data, model.clone(), &mut NoControl)).expect("is recalled");
        let (outcome, _) = block_on(study.outcome(&mut NoControl)).expect("shown");
        assert!(outcome.trained_before && outcome.train_s.is_none());
        let value = |key: &str| outcome.figures.iter().find(|f| f.key == key).map(|f| f.value).expect(key);
        eprintln!("{set}: FOSCTTM {:.4}, score {:.4}", value("foscttm"), value("spearman"));
        assert!(value("foscttm") < least, "{set}: {}", value("foscttm"));
        // What is shown again is the same.
        let again = block_on(study.couple(&Device::Cpu, 0, &mut NoControl)).expect("couples");
        assert_eq!(again.plan.whole(), study.looked.coupling.plan.whole());
        assert_eq!(study.saved.map(|saved| saved.model), Some(model));
    }
}
