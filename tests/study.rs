//! From tables to what is shown and taken away, natively: the worker adds only messages to this.
#![cfg(not(target_arch = "wasm32"))]

use align::geometry::Dense;
use align::metrics::plan::matches as strongest;
use align::procedure::{self, Coupling, EncoderChoice, Failure, FreshFits, NoControl, Settings, Sides};
use align::scale::{self, Cancelled};
use align::solver::marginals::Relaxation;
use analysis::model::Taught;
use analysis::outcome::{Study, matches};
use analysis::rows::{Rows, classed};
use analysis::subject::{Looked, Subject};
use analysis::take_away::{Goods, file};
use analysis::{model, new_rows, options, prepare};
use compute::exec::Device;
use compute::rng::Rng;
use formats::write::model::{About, Cost, Model};
use formats::write::record::Record;
use formats::{Bytes, Choices, Labels, MissingChoice, NoWatch, Step, Table, Trouble};
use pollster::block_on;
use schema::{AlignOptions, Export, Side};

/// A bent cloud of three lumps, and the same cloud rotated, rows in another order.
fn tables() -> ([Table; 2], Vec<(usize, usize)>) {
    let mut rng = Rng::new(9);
    let centres = rng.fill(15, -3.0, 3.0);
    let x = Dense::from_fn(90, 5, |i, j| {
        centres[(i % 3) * 5 + j] + (1.0 + j as f32) * 0.3 * rng.uniform(-1.0, 1.0)
    });
    let n = x.rows();
    let order: Vec<usize> = (0..n).map(|i| (i * 37 + 11) % n).collect();
    // A rotation of neighbouring axes, one after the other.
    let mut turned = x.clone();
    for (a, angle) in [0.7f32, -0.4, 1.1, 0.3].into_iter().enumerate() {
        let (s, c) = angle.sin_cos();
        for i in 0..n {
            let row = turned.row_mut(i);
            (row[a], row[a + 1]) = (c * row[a] - s * row[a + 1], s * row[a] + c * row[a + 1]);
        }
    }
    let y = turned.picked(&order);
    let table = |points: &Dense, lump: &dyn Fn(usize) -> usize| Table {
        rows: n,
        cols: 5,
        values: points.data().to_vec(),
        columns: None,
        remainders: Vec::new(),
        ids: Some((0..n).map(|i| format!("cell, {i}")).collect()),
        labels: vec![Labels {
            name: "lump".into(),
            names: ["red", "green", "blue"].map(String::from).to_vec(),
            codes: (0..n).map(|i| lump(i) as u32).collect(),
        }],
    };
    let pairs = order.iter().enumerate().map(|(j, &i)| (i, j)).collect();
    ([table(&x, &|i| i % 3), table(&y, &|j| order[j] % 3)], pairs)
}

/// The chain of these steps, and what it makes of a table.
fn prepared(table: &Table, steps: &[Step]) -> (Vec<formats::write::model::Step>, Dense) {
    block_on(prepare::fit(table, steps, &mut scale::NoWatch)).expect("fits")
}

/// Where a model puts the rows of a side.
fn embedded(model: &Model, side: usize, points: &Dense) -> Dense {
    block_on(model::embed(model, side, points, &mut scale::NoWatch)).expect("embeds")
}

fn study(
    encoder: EncoderChoice,
    cost: &str,
    steps: &[Step],
) -> (Study, [Vec<formats::write::model::Step>; 2], [Table; 2]) {
    let (tables, truth) = tables();
    let [(cx, x), (cy, y)] = tables.each_ref().map(|table| prepared(table, steps));
    let sides = Sides::new(x, y).expect("usable");
    let options = AlignOptions { steps: 120, sample: 90, cost: cost.into(), ..options::defaults() };
    let settings = Settings { encoder, ..options::settings(&options).expect("usable") };
    let alignment =
        block_on(procedure::align(&Device::Cpu, &sides, &settings, &mut NoControl)).expect("aligns");
    let coupling =
        block_on(procedure::infer(&Device::Cpu, &sides, alignment.best(), &settings, &mut NoControl))
            .expect("infers");
    let rows = tables.each_ref().map(|t| Rows { ids: t.ids.clone(), labels: t.labels.first().cloned() });
    let subject = Subject { sides, rows, truth, settings };
    let looked = block_on(subject.look(coupling, &mut NoControl)).expect("read");
    let study = Study {
        subject,
        looked,
        options,
        alignment,
        shown: 0,
        chance: None,
        fits: None,
        saved: None,
        train_s: Some(1.0),
        infer_s: 0.5,
    };
    (study, [cx, cy], tables)
}

fn model_of(study: &Study, chains: &[Vec<formats::write::model::Step>; 2]) -> Model {
    let about = About {
        version: "test".into(),
        seed: study.subject.settings.seed,
        settings: "{}".into(),
        cost: Cost::Sqm,
        eps: study.subject.settings.eps,
    };
    let taught = chains.each_ref().map(|chain| Taught::plain(5, chain));
    model::of(study.candidate(), &study.subject.sides, [&taught[0], &taught[1]], about)
}

/// By the settings that its networks were trained with, whatever those of the run are; a linear map by the run's.
#[test]
fn a_saved_model_is_matched_as_it_was_trained() {
    for encoder in [EncoderChoice::Linear, EncoderChoice::Networks] {
        let (study, chains, _) = study(encoder, "sqm", &[]);
        let trained = |marginals: &str| {
            let options = AlignOptions { marginals: marginals.into(), ..study.options.clone() };
            let mut model = model_of(&study, &chains);
            model.about.settings = model::about(&options).settings;
            model
        };
        let of = |model: &Model, relaxed_networks: bool| {
            model::relaxed(model, &Settings { relaxed_networks, ..study.subject.settings.clone() })
        };
        let networks = encoder == EncoderChoice::Networks;
        for run in [false, true] {
            let strict = if networks { Relaxation::STRICT } else { study.subject.settings.relaxation };
            for marginals in ["", "relaxed", "strict"] {
                assert_eq!(of(&trained(marginals), run), strict, "{encoder:?}, {marginals}");
            }
            assert_eq!(of(&trained("relaxed-all"), run), study.subject.settings.relaxation, "{encoder:?}");
        }
        assert!(!study.subject.settings.relaxation.is_strict());
    }
}

#[test]
fn what_is_shown_agrees_with_itself() {
    let (study, ..) = study(EncoderChoice::Linear, "sqm", &[]);
    let (outcome, bulk) = block_on(study.outcome(&mut NoControl)).expect("shown");
    assert_eq!((outcome.n, outcome.m), (90, 90));
    let sizes: Vec<usize> = bulk.iter().map(Vec::len).collect();
    let picture = (outcome.picture * outcome.picture) as usize;
    // Nobody has measured confidence.
    let [side, points] = [90, 180];
    let expected = [points, points, points, points, side, side, 0, 0, side, side, picture];
    assert_eq!(sizes, [&expected[..], &[side; 7]].concat());
    assert!(bulk.iter().flatten().all(|v| v.is_finite()));
    // Candidates are compared by how far apart their matches lie, which says 0 for the first and ½ for unrelated ones.
    let differences: Vec<f64> = study.alignment.candidates.iter().map(|c| c.difference).collect();
    assert_eq!(outcome.candidates.iter().map(|row| row.difference).collect::<Vec<_>>(), differences);
    assert!(differences[0] == 0.0 && differences.iter().all(|d| (0.0..0.8).contains(d)), "{differences:?}");
    let value = |key: &str| outcome.figures.iter().find(|f| f.key == key).map(|f| f.value).expect(key);
    assert!(value("foscttm") < 0.02, "a rotation is found: {}", value("foscttm"));
    assert!(value("label-transfer") > 0.95);
    // The curve of all pairs and the figure are of the same thing.
    let mean = bulk[11].iter().map(|v| f64::from(*v)).sum::<f64>() / 90.0;
    assert!((mean - value("foscttm")).abs() < 1e-6);
    // Matches by number and by name.
    let (total, rows) = matches(&study.looked, &study.subject.rows, "cell, 4", 2, 3);
    assert_eq!(rows.len(), 3);
    assert!(
        total >= 11 && rows.iter().all(|row| row.x_id.contains("cell, 4") || row.y_id.contains("cell, 4"))
    );
    let at = rows[0].x as usize;
    assert_eq!((rows[0].y, rows[0].share, rows[0].confidence), (bulk[4][at] as u32, bulk[16][at], None));
    assert!(bulk[16].iter().all(|share| (0.0..=1.0001).contains(share)));
    // A label that both sides have has the same colour on both.
    assert_eq!(outcome.labels[0].names, outcome.labels[1].names);
    let right = (0..90).filter(|&i| bulk[8][i] == bulk[9][bulk[4][i] as usize]).count();
    assert!(right > 80, "{right} matches of 90 stay within their lump");
}

/// Whoever shows another candidate gets the confidence of its matches, from the same fits.
#[test]
fn confidence_is_measured_and_shown() {
    let (mut study, ..) = study(EncoderChoice::Linear, "sqm", &[]);
    let without = block_on(study.couple(&Device::Cpu, 0, &mut NoControl)).expect("couples");
    assert_eq!((without.confidence, study.looked.stability()), (None, None));
    let (sides, settings) = (&study.subject.sides, &study.subject.settings);
    let control = &mut NoControl;
    let fits = FreshFits::new(&Device::Cpu, sides, settings, &study.alignment, control);
    study.fits = block_on(fits).expect("fits");
    assert!(study.fits.is_some());
    let coupling = block_on(study.couple(&Device::Cpu, 0, &mut NoControl)).expect("couples");
    study.looked = block_on(study.subject.look(coupling, &mut NoControl)).expect("read");
    let (outcome, bulk) = block_on(study.outcome(&mut NoControl)).expect("shown");
    assert_eq!([bulk[6].len(), bulk[7].len()], [90, 90]);
    assert!(bulk[6..8].iter().flatten().all(|sure| (0.0..=1.0).contains(sure)));
    let stability = study.looked.stability().expect("measured");
    assert!(stability >= 0.5, "fresh fits find a rotation again: {stability}");
    assert!(!outcome.findings.iter().any(|finding| finding.what.contains("Fresh fits")));
    let (_, rows) = matches(&study.looked, &study.subject.rows, "", 0, 90);
    assert!(rows.iter().all(|row| row.confidence == Some(bulk[6][row.x as usize])));
    let last = study.alignment.candidates.len() - 1;
    let other = block_on(study.couple(&Device::Cpu, last, &mut NoControl)).expect("couples");
    assert_eq!(other.confidence.map(|both| both.map(|side| side.len())), Some([90, 90]));
}

#[test]
fn a_saved_model_puts_points_where_the_encoders_do() {
    for (encoder, cost) in [
        (EncoderChoice::Linear, "sqm"),
        (EncoderChoice::Networks, "sqm"),
        (EncoderChoice::Networks, "cosine"),
    ] {
        let (study, chains, tables) = study(encoder, cost, &[Step::ZScore]);
        let saved = model_of(&study, &chains).save().expect("saved");
        let loaded = Model::load(&saved).expect("loaded");
        assert_eq!(loaded, model_of(&study, &chains), "the same bits");
        let raw = tables.each_ref().map(|t| Dense::new(t.rows, t.cols, t.values.clone()));
        let again = [0, 1].map(|side| embedded(&loaded, side, &raw[side]));
        let encoders = model::embedded(&loaded).expect("fits");
        let points = [&again[0], &again[1]];
        let coupling = block_on(procedure::transport(
            &Device::Cpu,
            &encoders,
            points,
            loaded.about.eps,
            model::relaxed(&loaded, &study.subject.settings),
            &mut NoControl,
        ))
        .expect("solved");
        let embedded = study.looked.coupling.embedded.as_ref().expect("encoders");
        if cost == "sqm" {
            for (mine, theirs) in again.iter().zip(embedded) {
                let size = theirs.data().iter().copied().fold(0f32, |a, b| a.max(b.abs()));
                let apart =
                    mine.data().iter().zip(theirs.data()).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
                assert!(apart < 2e-5 * size, "{apart} beside {size}");
            }
        }
        let (plan, again) = (study.looked.coupling.plan.whole(), coupling.plan.whole());
        let largest = plan.data().iter().copied().fold(0f32, f32::max);
        let apart = plan.data().iter().zip(again.data()).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
        assert!(apart < 2e-3 * largest, "{encoder:?} {cost}: {apart} beside {largest}");
        let same = strongest(&plan).iter().zip(strongest(&again)).filter(|(a, b)| **a == *b).count();
        assert!(same >= 89, "{same} of 90 matches are the same");
    }
}

fn record() -> Record {
    Record {
        format: Record::FORMAT,
        versions: Default::default(),
        date: String::new(),
        chosen: Default::default(),
        seed: 1,
        settings: Default::default(),
        executor: "cpu".into(),
        inputs: Vec::new(),
        pairs: Vec::new(),
        timings: Vec::new(),
        metrics: Default::default(),
    }
}

/// Counts the looks of one kind or the other, and ends the work at one of them.
struct Looks {
    seen: usize,
    end: usize,
}

impl Looks {
    fn look<E>(&mut self, ended: E) -> Result<(), E> {
        self.seen += 1;
        if self.seen > self.end { Err(ended) } else { Ok(()) }
    }
}

impl scale::Watch for Looks {
    async fn step(&mut self, _done: f64) -> Result<(), Cancelled> {
        self.look(Cancelled)
    }
}

impl formats::Watch for Looks {
    async fn passed(&mut self, _done: u64, _of: u64) -> Result<(), Trouble> {
        self.look(Trouble::cancelled())
    }
}

#[test]
fn applying_a_model_to_many_rows_can_be_given_up() {
    let (study, chains, _) = study(EncoderChoice::Networks, "sqm", &[Step::ZScore]);
    let model = model_of(&study, &chains);
    let looks = |rows: usize, end: usize| {
        let points = Dense::new(rows, 5, Rng::new(3).fill(5 * rows, -1.0, 1.0));
        let mut looks = Looks { seen: 0, end };
        let places = block_on(model::embed(&model, 0, &points, &mut looks));
        if end < usize::MAX {
            assert!(matches!(places, Err(Failure::Cancelled)), "after {end} looks");
        } else {
            // In pieces as row by row.
            let last = Dense::new(1, 5, points.row(rows - 1).to_vec());
            assert_eq!(places.expect("embeds").row(rows - 1), embedded(&model, 0, &last).data());
        }
        looks.seen
    };
    let [few, many] = [90, 9000].map(|rows| looks(rows, usize::MAX));
    assert!(few == 0 && many >= 2, "{few} and {many} looks");
    assert_eq!([0, many - 1].map(|end| looks(9000, end)), [1, many], "nothing runs on");
}

#[test]
fn writing_everything_can_be_given_up() {
    // Rows as they are, without encoders, and a plan that couples each with itself.
    let goods = |n: usize| {
        let points = Dense::new(n, 24, Rng::new(5).fill(24 * n, -1.0, 1.0));
        let sides = Sides::new(points.clone(), points.clone()).expect("usable");
        let plan = Dense::from_fn(n, n, |i, j| if i == j { 1.0 / n as f32 } else { 0.0 });
        let rows = [Rows { ids: None, labels: None }, Rows { ids: None, labels: None }];
        let subject = Subject { sides, rows, truth: Vec::new(), settings: Settings::default() };
        let plan = scale::Matching::Held(plan);
        let coupling = Coupling {
            plan,
            embedded: Some([points.clone(), points]),
            error: 0.0,
            way: procedure::Way::Held,
            relaxation: Relaxation::STRICT,
            retained: None,
            confidence: None,
        };
        let looked = block_on(subject.look(coupling, &mut NoControl)).expect("read");
        (subject, looked)
    };
    let record = record();
    let write = |(subject, looked): &(Subject, Looked), end: usize| {
        let goods = Goods { subject, looked, model: None, record: &record };
        let mut looks = Looks { seen: 0, end };
        let written = block_on(file(Export::Everything, &goods, &mut looks));
        let kind = written.as_ref().err().map(|trouble| trouble.kind);
        assert_eq!(kind, (end < usize::MAX).then_some(formats::Kind::Cancelled), "after {end} looks");
        looks.seen
    };
    let (small, large) = (goods(60), goods(3000));
    let [few, many] = [&small, &large].map(|goods| write(goods, usize::MAX));
    // Of nine megabytes a plan, of one each table: every one of them is written and packed.
    assert!(many >= few + 60, "{few} and {many} looks");
    for end in (0..many).step_by(many / 6 + 1) {
        assert_eq!(write(&large, end), end + 1, "nothing runs on");
    }
}

#[test]
fn files_that_are_taken_away_can_be_read_again() {
    let (mut study, chains, _) = study(EncoderChoice::Linear, "sqm", &[Step::Pca(4)]);
    study.looked.coupling.confidence = Some([vec![0.625; 90], vec![0.25; 90]]);
    let model = model_of(&study, &chains);
    let record = Record { settings: serde_json::to_value(&study.options).expect("plain"), ..record() };
    let goods =
        Goods { subject: &study.subject, looked: &study.looked, model: Some(&model), record: &record };
    let read = |what: Export| {
        let (name, bytes) = block_on(file(what, &goods, &mut NoWatch)).expect("written");
        let loaded = block_on(formats::read(&Bytes::new(&name, &bytes), &Choices::default(), &mut NoWatch));
        loaded.unwrap_or_else(|trouble| panic!("{name}: {trouble}")).table
    };
    let plan = read(Export::PlanDense);
    assert_eq!(plan.values, study.looked.coupling.plan.whole().data());
    let embedded = study.looked.coupling.embedded.as_ref().expect("encoders");
    assert_eq!(read(Export::Embeddings(Side::Y)).values, embedded[1].data());
    let matched = read(Export::Matches);
    let names = matched.columns.clone().expect("a header");
    assert!(names.iter().any(|name| name == "confidence"), "{names:?}");
    assert_eq!(matched.rows, 90);
    let top = read(Export::PlanTop);
    assert_eq!((top.rows, top.cols), (900, 3));
    let texts = |what| {
        String::from_utf8(block_on(file(what, &goods, &mut NoWatch)).expect("written").1).expect("text")
    };
    let plan = texts(Export::PlanTop);
    assert!(plan.starts_with("x_row,y_row,mass,x_id,y_id\n0,"), "{}", &plan[..60]);
    assert!(plan.lines().nth(1).is_some_and(|line| line.contains("\"cell, 0\",\"cell, ")), "ids are named");
    let matched = texts(Export::Matches);
    let (head, first) = matched.split_once('\n').expect("rows");
    assert!(
        head.ends_with("second_y_id,label_x,label_y,predicted_label_x,retained_mass,no_partner,share"),
        "{head}"
    );
    assert!(first.lines().next().is_some_and(|line| line.contains(",red,red,red,")), "{first}");
    assert!(first.lines().all(|line| line.contains(",0.625,")), "the measured confidence: {first}");
    let share = study.looked.share(0)[0].to_string();
    assert!(first.lines().next().is_some_and(|line| line.ends_with(&format!(",{share}"))), "{first}");
    let back = AlignOptions::default();
    let (_, bytes) = block_on(file(Export::Record, &goods, &mut NoWatch)).expect("written");
    let settings = Record::read(&bytes).expect("read").settings;
    let options: AlignOptions = serde_json::from_value(settings).expect("options");
    assert_ne!(options, back);
    assert_eq!(options, study.options);
    let (_, bytes) = block_on(file(Export::Everything, &goods, &mut NoWatch)).expect("written");
    for name in [
        "matches.csv",
        "model.safetensors",
        "encoder_x.onnx",
        "run.json",
        "embedding_y.csv",
        "plan.npy",
        "README.txt",
    ] {
        assert!(bytes.windows(name.len()).any(|w| w == name.as_bytes()), "{name} is in the archive");
    }
    let without = Goods { model: None, ..goods };
    assert!(block_on(file(Export::Model, &without, &mut NoWatch)).is_err());
    // Where confidence was not measured, its cells are empty, and all columns stay in their places.
    study.looked.coupling.confidence = None;
    let goods = Goods { subject: &study.subject, looked: &study.looked, model: None, record: &record };
    let (_, bytes) = block_on(file(Export::Matches, &goods, &mut NoWatch)).expect("written");
    let text = String::from_utf8(bytes).expect("text");
    let (bare, rows) = text.split_once('\n').expect("rows");
    assert_eq!(bare, head);
    let counted = |line: &str| line.replace("cell, ", "cell ").split(',').count();
    assert!(rows.lines().all(|line| counted(line) == counted(head)), "{rows}");
    assert!(rows.lines().all(|line| line.contains("\",,")), "{rows}");
}

#[test]
fn measurements_in_the_place_of_labels_become_classes() {
    let labels = |stretch: f32| Labels {
        name: "age".into(),
        names: (0..100).map(|i| (i as f32 * stretch).to_string()).collect(),
        codes: (0..100).collect(),
    };
    let rows = |labels| Rows { ids: None, labels: Some(labels) };
    let [x, y] = classed([rows(labels(0.1)), rows(labels(0.2))]);
    let (x, y) = (x.labels.expect("classes"), y.labels.expect("classes"));
    assert_eq!((x.names.len(), &x.names), (8, &y.names));
    // 9.9 is in the middle of 0 to 19.8, on both sides.
    assert_eq!((x.codes[99], y.codes[99], x.codes[0], y.codes[49]), (4, 7, 0, 3));
    // Names that are all different say nothing about groups; a few groups stay as they are.
    let words = Labels { names: (0..100).map(|i| format!("cell {i}")).collect(), ..labels(1.0) };
    assert!(classed([rows(words.clone()), rows(words)]).iter().all(|side| side.labels.is_none()));
    let groups = Labels { name: "g".into(), names: vec!["a".into(), "b".into()], codes: vec![0, 1, 0] };
    let [kept, _] = classed([rows(groups.clone()), rows(labels(1.0))]);
    assert_eq!(kept.labels, Some(groups));
}

/// Known pairs decide between candidates, and have no part in a figure that says how well distances agree.
#[test]
fn known_pairs_do_not_raise_the_rank_agreement() {
    let (tables, truth) = tables();
    let [x, y] = tables.each_ref().map(|table| prepared(table, &[]).1);
    let wrong: Vec<(usize, usize)> = truth.iter().map(|&(i, j)| (i, (j + 45) % 90)).take(20).collect();
    let sides = Sides::new(x, y).expect("usable").knowing(wrong).expect("within");
    let options = AlignOptions { steps: 60, sample: 60, ..options::defaults() };
    let settings = Settings {
        encoder: EncoderChoice::Linear,
        relaxation: Relaxation::STRICT,
        ..options::settings(&options).expect("usable")
    };
    let alignment =
        block_on(procedure::align(&Device::Cpu, &sides, &settings, &mut NoControl)).expect("aligns");
    let best = alignment.best();
    let mean = best.spearman.iter().sum::<f64>() / best.spearman.len() as f64;
    let coupling =
        block_on(procedure::infer(&Device::Cpu, &sides, best, &settings, &mut NoControl)).expect("infers");
    let whole =
        block_on(procedure::plan_spearman(&sides, &settings, &coupling, &mut NoControl)).expect("judged");
    assert!((best.rank_agreement() - mean).abs() < 1e-12);
    assert!((best.score - mean).abs() > 0.05, "the pairs are wrong, and cost: {} beside {mean}", best.score);
    // Few rows are scored by maps that have not seen them, and at another softness.
    assert!((whole - mean).abs() < 0.05, "{whole} beside {mean}");
}

/// A saved model knows the names of its columns: rows with the same columns in another order are embedded alike.
#[test]
fn a_saved_model_matches_new_rows_by_the_names_of_their_columns() {
    let (study, chains, tables) = study(EncoderChoice::Linear, "sqm", &[Step::ZScore]);
    let names: Vec<String> = (0..5).map(|j| format!("gene {j}")).collect();
    let named = tables.map(|table| Table { columns: Some(names.clone()), ..table });
    let taught = [0, 1].map(|side| Taught::new(&named[side], &chains[side], MissingChoice::Mean));
    let about = model::about(&study.options);
    let model = model::of(study.candidate(), &study.subject.sides, [&taught[0], &taught[1]], about);
    let model = Model::load(&model.save().expect("saved")).expect("loaded");
    let order = [3, 0, 4, 2, 1];
    for (side, table) in named.iter().enumerate() {
        let turned = Table {
            values: table.values.chunks_exact(5).flat_map(|row| order.map(|j| row[j])).collect(),
            columns: Some(order.iter().map(|j| names[*j].clone()).collect()),
            ..table.clone()
        };
        let place = |table: &Table| {
            let fit = new_rows::fit(&model.sides[side], table, MissingChoice::Keep).expect("follows");
            embedded(&model, side, &fit.rows(table).0)
        };
        assert_eq!(place(&turned), place(table), "side {side}");
    }
    // What training filled with means, new rows fill with the means of training.
    let mut gap = named[0].clone();
    gap.values[2] = f32::NAN;
    let fit = new_rows::fit(&model.sides[0], &gap, MissingChoice::Keep).expect("follows");
    let mean = named[0].values.iter().skip(2).step_by(5).sum::<f32>() / 90.0;
    assert!((fit.rows(&gap).0.at(0, 2) - mean).abs() < 1e-4);
}
