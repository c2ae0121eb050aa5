//! `cargo xtask evaluate`: the default procedure, or one part of it, on folders of data whose truth is
//! known. The truth is used for scoring only.

mod bar;
mod data;
mod score;

use std::path::{Path, PathBuf};
use std::time::Instant;

use bar::Bar;
use concord::exec::{Device, Preference};
use concord::geometry::panel::{Distance, Measure};
use concord::metrics::report::{Known, Report};
use concord::procedure::{self, EncoderChoice, LossChoice, NoControl, Origin, Settings};
use concord::solver::annealing::Shape;
use concord::solver::marginals::Relaxation;
use data::{Case, Data};
use pollster::block_on;
use score::score;
use serde_json::{Value, json};

use crate::arguments::Arguments;

/// Rows a side, at most: the whole plan is in memory, and of the baseline also all distances.
const MOST: usize = 6000;
const MOST_WITHOUT_ENCODERS: usize = 2000;

const NAMES: [&str; 16] = [
    "data",
    "sets",
    "seeds",
    "first-seed",
    "method",
    "distance",
    "loss",
    "executor",
    "json",
    "annealing",
    "eps-start",
    "dirichlet",
    "marginals",
    "sample",
    "fits",
    "steps",
];

const METHODS: [&str; 4] = ["learned", "mlp", "linear", "entropic-gw"];

pub fn evaluate(words: &[String]) -> Result<(), String> {
    let arguments = Arguments::read(words, &NAMES, &["candidates"])?;
    let root = PathBuf::from(arguments.required("data")?);
    let out = arguments.required("json")?;
    let sets = sets(&root, arguments.get("sets"))?;
    let first = arguments.number("first-seed", 1)?;
    let seeds = first..first + arguments.number("seeds", 1)?;
    let (preference, executor) = match arguments.get("executor").unwrap_or("cpu") {
        "cpu" => (Preference::Cpu, "cpu"),
        "gpu" => (Preference::Gpu, "gpu"),
        other => return Err(format!("--executor {other}: there are cpu, gpu")),
    };
    let device = block_on(Device::open(preference)).device;
    if executor == "gpu" && matches!(device, Device::Cpu) {
        return Err("no Vulkan device was found (mesa's lavapipe will do); try --executor cpu".into());
    }
    let run = Run {
        device,
        executor,
        method: chosen("method", arguments.get("method").unwrap_or("learned"), &METHODS)?,
        settings: settings(&arguments)?,
        show: arguments.flag("candidates"),
    };

    println!(
        "{:<22} {:>4} {:>6} {:>8} {:>17} {:>13} {:>6} {:>8} {:>7} {:>7}",
        "set", "seed", "points", "encoder", "FOSCTTM", "labels", "exact", "Spearman", "train", "infer"
    );
    let mut rows = Vec::new();
    for set in &sets {
        let data = Data::read(&root.join(set))?;
        for seed in seeds.clone() {
            let row = run.one(set, &data, seed)?;
            print_row(&row);
            rows.push(row);
            // After every row, so that an interrupted run leaves what it has.
            let text = serde_json::to_string_pretty(&rows).map_err(|error| error.to_string())?;
            std::fs::write(out, text).map_err(|error| format!("{out}: {error}"))?;
        }
        if seeds.end - seeds.start > 1 {
            print_medians(set, &rows);
        }
    }
    Ok(())
}

/// The default settings, but for what is asked.
fn settings(arguments: &Arguments) -> Result<Settings, String> {
    let encoder = match arguments.get("method") {
        Some("mlp") => EncoderChoice::Networks,
        Some("linear") => EncoderChoice::Linear,
        _ => EncoderChoice::Both,
    };
    let mut settings = Settings { encoder, ..Settings::default() };
    if let Some(names) = arguments.get("distance") {
        let known = Distance::ALL.map(Distance::name);
        for name in names.split(',') {
            let name = chosen("distance", name, &known)?;
            settings.measures.extend(Distance::named(name).map(Measure::same));
        }
    }
    if let Some(name) = arguments.get("loss") {
        let name = chosen("loss", name, &LossChoice::ALL.map(LossChoice::name))?;
        settings.loss = LossChoice::named(name).unwrap_or(settings.loss);
    }
    if let Some(name) = arguments.get("annealing") {
        settings.train.annealing.shape =
            match chosen("annealing", name, &["exponential", "linear", "constant"])? {
                "linear" => Shape::Linear,
                "constant" => Shape::Constant,
                _ => Shape::Exponential,
            };
    }
    let float = |name: &str, default: f32| match arguments.get(name) {
        None => Ok(default),
        Some(text) => text.parse().map_err(|_| format!("--{name} takes a number, not '{text}'")),
    };
    settings.train.annealing.start = float("eps-start", settings.train.annealing.start)?;
    settings.dirichlet = float("dirichlet", settings.dirichlet)?;
    if chosen("marginals", arguments.get("marginals").unwrap_or("relaxed"), &["relaxed", "strict"])?
        == "strict"
    {
        settings.relaxation = Relaxation::STRICT;
    }
    settings.sample = arguments.number("sample", settings.sample as u64)? as usize;
    settings.fits = arguments.number("fits", settings.fits.into())? as u32;
    settings.train.steps = arguments.number("steps", settings.train.steps.into())? as u32;
    Ok(settings)
}

/// One of the known words, or what there is.
fn chosen<'a>(name: &str, word: &str, known: &[&'a str]) -> Result<&'a str, String> {
    let found = known.iter().find(|k| **k == word).copied();
    found.ok_or_else(|| format!("--{name} {word}: there are {}", known.join(", ")))
}

/// The folders to run: those named, or all that hold a data set.
fn sets(root: &Path, named: Option<&str>) -> Result<Vec<String>, String> {
    if let Some(names) = named {
        return Ok(names.split(',').map(str::to_owned).collect());
    }
    let entries = std::fs::read_dir(root).map_err(|error| format!("{}: {error}", root.display()))?;
    let mut found: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| root.join(name).join("x.npy").is_file())
        .collect();
    found.sort();
    if found.is_empty() { Err(format!("{}: no folder with x.npy", root.display())) } else { Ok(found) }
}

/// What is the same for all rows.
struct Run {
    device: Device,
    executor: &'static str,
    method: &'static str,
    settings: Settings,
    show: bool,
}

/// What came out of one procedure.
struct Outcome {
    encoder: &'static str,
    loss: &'static str,
    measure: Measure,
    report: Report,
    spearman: f64,
    train_s: f64,
    infer_s: f64,
    steps: u32,
}

impl Run {
    /// One complete procedure, scored.
    fn one(&self, set: &str, data: &Data, seed: u64) -> Result<Value, String> {
        let settings = Settings { seed, ..self.settings.clone() };
        let bar = Bar::new(format!("{set} seed {seed}"));
        let alone = self.method == "entropic-gw";
        let case = data.case(seed, if alone { MOST_WITHOUT_ENCODERS } else { MOST })?;
        let Outcome { encoder, loss, measure, report, spearman, train_s, infer_s, steps } =
            if alone { self.baseline(&case, &settings)? } else { self.learned(&case, &settings, bar)? };
        let [x, y] = case.sides.points();
        let known = |of: fn(&Known) -> f64| report.known.as_ref().map(of);
        Ok(json!({
            "set": set,
            "method": self.method,
            "encoder": encoder,
            "distance": measure.name(),
            "loss": loss,
            "seed": seed,
            "n": x.rows(),
            "m": y.rows(),
            "foscttm_xy": known(|k| k.foscttm[0].value),
            "foscttm_yx": known(|k| k.foscttm[1].value),
            "label_transfer_xy": known(|k| k.labels[0].value),
            "label_transfer_yx": known(|k| k.labels[1].value),
            "exact_match": known(|k| k.exact.value),
            "gw_loss": report.gw_loss.value,
            "null_gw_loss": report.gw_loss.null,
            "plan_spearman": spearman,
            "train_s": train_s,
            "infer_s": infer_s,
            "steps": steps,
            "executor": self.executor,
        }))
    }

    fn learned(&self, case: &Case, settings: &Settings, mut bar: Bar) -> Result<Outcome, String> {
        let start = Instant::now();
        let alignment = block_on(procedure::align(&self.device, &case.sides, settings, &mut bar))
            .map_err(|error| error.to_string())?;
        let train_s = start.elapsed().as_secs_f64();
        let best = alignment.best();
        let panel = settings.panel(&case.sides);
        let scored = |candidate: &procedure::Candidate, bar: &mut Bar| {
            let start = Instant::now();
            let coupling = block_on(procedure::infer(&self.device, &case.sides, candidate, settings, bar))
                .map_err(|error| error.to_string())?;
            let measure = match candidate.origin {
                Origin::Network { measure, .. } => measure,
                Origin::Linear { .. } | Origin::Saved => panel[0],
            };
            let seconds = start.elapsed().as_secs_f64();
            bar.clear();
            Ok::<_, String>((score(case, &coupling, measure)?, measure, seconds))
        };
        if self.show {
            eprintln!("    {}; rival {:?}", bar.phases(), alignment.rival);
            for candidate in &alignment.candidates {
                let (report, _, _) = scored(candidate, &mut bar)?;
                let known = report.known.map(|k| [k.foscttm[0].value, k.foscttm[1].value, k.exact.value]);
                let [xy, yx, exact] = known.unwrap_or([f64::NAN; 3]);
                let rho: Vec<String> = candidate.spearman.iter().map(|r| format!("{r:.4}")).collect();
                let (total, rho) = (candidate.score, rho.join(" "));
                eprintln!(
                    "    {total:.4} [{rho}] FOSCTTM {xy:.4} {yx:.4} exact {exact:.3} {:?}",
                    candidate.origin
                );
            }
        }
        let (report, measure, infer_s) = scored(best, &mut bar)?;
        let (loss, steps) = match best.origin {
            Origin::Network { loss, .. } => (loss.name(), settings.train.steps),
            Origin::Linear { .. } | Origin::Saved => ("schatten", procedure::LINEAR_STEPS),
        };
        let encoder = best.origin.encoder();
        Ok(Outcome { encoder, loss, measure, report, spearman: best.score, train_s, infer_s, steps })
    }

    fn baseline(&self, case: &Case, settings: &Settings) -> Result<Outcome, String> {
        let start = Instant::now();
        let (coupling, steps) =
            block_on(procedure::entropic_gw(&self.device, &case.sides, settings, &mut NoControl))
                .map_err(|error| error.to_string())?;
        let train_s = start.elapsed().as_secs_f64();
        let measure = settings.panel(&case.sides)[0];
        let report = score(case, &coupling, measure)?;
        let spearman = block_on(procedure::plan_spearman(&case.sides, settings, &coupling, &mut NoControl))
            .map_err(|error| error.to_string())?;
        Ok(Outcome {
            encoder: "none",
            loss: "classic",
            measure,
            report,
            spearman,
            train_s,
            infer_s: 0.0,
            steps,
        })
    }
}

fn print_row(row: &Value) {
    let number = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
    println!(
        "{:<22} {:>4} {:>6} {:>8} {:>8.4} {:>8.4} {:>6.3} {:>6.3} {:>6.3} {:>8.4} {:>6.1}s {:>6.1}s",
        row["set"].as_str().unwrap_or(""),
        number("seed"),
        number("n"),
        row["encoder"].as_str().unwrap_or(""),
        number("foscttm_xy"),
        number("foscttm_yx"),
        number("label_transfer_xy"),
        number("label_transfer_yx"),
        number("exact_match"),
        number("plan_spearman"),
        number("train_s"),
        number("infer_s"),
    );
}

fn print_medians(set: &str, rows: &[Value]) {
    let of = |key: &str| {
        let mut values: Vec<f64> =
            rows.iter().filter(|row| row["set"] == set).filter_map(|row| row[key].as_f64()).collect();
        values.sort_by(f64::total_cmp);
        let n = values.len().max(1);
        let at = |i: usize| values.get(i).copied().unwrap_or(f64::NAN);
        (at((n - 1) / 2) + at(n / 2)) / 2.0
    };
    println!(
        "{set:<22}           median   {:>8.4} {:>8.4} {:>6.3} {:>6.3} {:>6.3} {:>8.4} {:>6.1}s",
        of("foscttm_xy"),
        of("foscttm_yx"),
        of("label_transfer_xy"),
        of("label_transfer_yx"),
        of("exact_match"),
        of("plan_spearman"),
        of("train_s"),
    );
}
