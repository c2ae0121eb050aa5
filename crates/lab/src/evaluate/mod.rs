//! `cargo xtask evaluate`: the default procedure, or one part of it, on folders of data whose truth is
//! known. The truth is used for scoring only, but for the pairs and labels that are to guide, which do not score.

mod bar;
mod calibration;
mod case;
mod data;
mod print;
mod run;
mod score;
mod variant;

use std::path::{Path, PathBuf};

use align::geometry::panel::{Distance, Measure};
use align::procedure::{EncoderChoice, GroupChoice, LossChoice, Settings, Start};
use align::solver::annealing::Shape;
use align::solver::marginals::Relaxation;
use case::Draw;
use compute::exec::{Device, Preference};
use data::Data;
use pollster::block_on;
use run::Run;
use variant::Variant;

use crate::arguments::Arguments;

/// Rows a side, at most: the whole plan is in memory, and of the baseline also all distances.
const MOST: u64 = 6000;
const MOST_WITHOUT_ENCODERS: u64 = 2000;

const NAMES: [&str; 22] = [
    "starts",
    "groups",
    "marginals",
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
    "sample",
    "fits",
    "steps",
    "pairs",
    "labels",
    "variant",
    "rows",
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
        draw: draw(&arguments)?,
        show: arguments.flag("candidates"),
    };
    if run.draw.labels > 0.0 {
        eprintln!(
            "labels do not guide yet: those that are drawn are held out of the score, and nothing else"
        );
    }

    print::head();
    let mut rows = Vec::new();
    for set in &sets {
        let data = Data::read(&root.join(set))?;
        for seed in seeds.clone() {
            let row = run.one(set, &data, seed)?;
            print::row(&row);
            rows.push(row);
            // After every row, so that an interrupted run leaves what it has.
            let text = serde_json::to_string_pretty(&rows).map_err(|error| error.to_string())?;
            std::fs::write(out, text).map_err(|error| format!("{out}: {error}"))?;
        }
        if seeds.end - seeds.start > 1 {
            print::medians(set, &rows);
        }
    }
    Ok(())
}

/// What of a data set takes part, and what of its truth is given to the solver. The seed is that of each run.
fn draw(arguments: &Arguments) -> Result<Draw, String> {
    let share: f64 = match arguments.get("labels") {
        None => 0.0,
        Some(text) => text
            .parse()
            .ok()
            .filter(|share| (0.0..=1.0).contains(share))
            .ok_or_else(|| format!("--labels takes a share from 0 to 1, not '{text}'"))?,
    };
    let variant = match arguments.get("variant") {
        None => None,
        Some(name) => Variant::named(chosen("variant", name, &Variant::NAMES)?),
    };
    let most = match arguments.get("method") {
        Some("entropic-gw") => MOST_WITHOUT_ENCODERS,
        _ => MOST,
    };
    let most = arguments.number("rows", most)?.min(most) as usize;
    Ok(Draw { seed: 0, most, pairs: arguments.number("pairs", 0)? as usize, labels: share, variant })
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
        let known: Vec<&str> =
            Distance::ALL.into_iter().chain([Distance::Given]).map(Distance::name).collect();
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
    let marginals = arguments.get("marginals").unwrap_or("relaxed");
    match chosen("marginals", marginals, &["relaxed", "relaxed-all", "strict"])? {
        "strict" => settings.relaxation = Relaxation::STRICT,
        "relaxed-all" => settings.relaxed_networks = true,
        _ => {}
    }
    settings.groups =
        match chosen("groups", arguments.get("groups").unwrap_or("auto"), &["auto", "try", "off"])? {
            "try" => GroupChoice::Try,
            "off" => GroupChoice::Off,
            _ => GroupChoice::Auto,
        };
    if let Some(names) = arguments.get("starts") {
        settings.starts = names.split(',').map(start).collect::<Result<_, _>>()?;
        // Only these: what each kind finds by itself.
        settings.more_starts = 0;
    }
    settings.sample = arguments.number("sample", settings.sample as u64)? as usize;
    settings.fits = arguments.number("fits", settings.fits.into())? as u32;
    settings.train.steps = arguments.number("steps", settings.train.steps.into())? as u32;
    Ok(settings)
}

/// A kind of linear starts.
fn start(name: &str) -> Result<Start, String> {
    Ok(match chosen("starts", name, &["skew", "fused", "signature", "noise"])? {
        "fused" => Start::Fused,
        "signature" => Start::Signature,
        "noise" => Start::Noise,
        _ => Start::Skew,
    })
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
        .filter(|name| data::is_set(&root.join(name)))
        .collect();
    found.sort();
    if found.is_empty() {
        Err(format!("{}: no folder with x.npy or dist_x.npy", root.display()))
    } else {
        Ok(found)
    }
}
