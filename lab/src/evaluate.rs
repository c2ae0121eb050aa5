//! `cargo xtask evaluate`: the default procedure, or one part of it, on folders of data whose truth is
//! known. The truth is used for scoring only.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use concord::data::npy;
use concord::exec::{Device, Preference};
use concord::geometry::Dense;
use concord::geometry::features::Preparation;
use concord::geometry::normalise::Normalisation;
use concord::geometry::panel::{Distance, Measure, POSITIONS};
use concord::metrics::plan::{barycentric, gw_loss, independent};
use concord::metrics::truth::{exact_matches, foscttm, label_transfer};
use concord::procedure::{
    self, Candidate, Control, EncoderChoice, Failure, LossChoice, Origin, Progress, Settings, Sides,
};
use concord::rng::Rng;
use serde_json::{Value, json};

use crate::arguments::Arguments;

/// Rows a side, at most: the whole plan is in memory.
const MOST: usize = 6000;

pub fn evaluate(words: &[String]) -> Result<(), String> {
    let names = ["data", "sets", "seeds", "first-seed", "method", "distance", "loss", "executor", "json"];
    let arguments = Arguments::read(words, &names, &["candidates"])?;
    let root = PathBuf::from(arguments.required("data")?);
    let out = arguments.required("json")?;
    let sets = sets(&root, arguments.get("sets"))?;
    let seeds = arguments.number("seeds", 1)?;
    let first = arguments.number("first-seed", 1)?;
    let method = arguments.get("method").unwrap_or("learned");
    let mut settings = Settings::default();
    settings.encoder = match method {
        "learned" => EncoderChoice::Both,
        "mlp" => EncoderChoice::Networks,
        "linear" => EncoderChoice::Linear,
        other => return Err(format!("--method {other}: there are learned, mlp, linear")),
    };
    if let Some(names) = arguments.get("distance") {
        settings.measures = names
            .split(',')
            .map(|name| {
                let known: Vec<&str> = Distance::ALL.iter().map(|d| d.name()).collect();
                Distance::named(name)
                    .map(Measure::same)
                    .ok_or_else(|| format!("--distance {name}: there are {}", known.join(", ")))
            })
            .collect::<Result<_, _>>()?;
    }
    if let Some(name) = arguments.get("loss") {
        let known: Vec<&str> = LossChoice::ALL.iter().map(|l| l.name()).collect();
        settings.loss = LossChoice::named(name)
            .ok_or_else(|| format!("--loss {name}: there are {}", known.join(", ")))?;
    }
    let (preference, executor) = match arguments.get("executor").unwrap_or("cpu") {
        "cpu" => (Preference::Cpu, "cpu"),
        "gpu" => (Preference::Gpu, "gpu"),
        other => return Err(format!("--executor {other}: there are cpu, gpu")),
    };
    let device = pollster::block_on(Device::open(preference)).device;
    if executor == "gpu" && matches!(device, Device::Cpu) {
        return Err("no Vulkan device was found (mesa's lavapipe will do); try --executor cpu".into());
    }

    println!(
        "{:<22} {:>4} {:>6} {:>8} {:>17} {:>13} {:>6} {:>8} {:>7} {:>7}",
        "set", "seed", "points", "encoder", "FOSCTTM", "labels", "exact", "Spearman", "train", "infer"
    );
    let mut rows = Vec::new();
    for set in &sets {
        let data = Data::read(&root.join(set))?;
        for seed in first..first + seeds {
            let settings = Settings { seed, ..settings.clone() };
            let row = one(&device, set, &data, method, &settings, executor, arguments.flag("candidates"))?;
            print_row(&row);
            rows.push(row);
            let text = serde_json::to_string_pretty(&rows).map_err(|error| error.to_string())?;
            std::fs::write(out, text).map_err(|error| format!("{out}: {error}"))?;
        }
    }
    Ok(())
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

struct Data {
    x: Dense,
    y: Dense,
    labels: Vec<u32>,
}

impl Data {
    fn read(folder: &Path) -> Result<Self, String> {
        let side = |name: &str| -> Result<Dense, String> {
            let path = folder.join(name);
            let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let numbers = npy::read(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok(Dense::new(numbers.rows, numbers.cols, numbers.values))
        };
        let (x, y) = (side("x.npy")?, side("y.npy")?);
        let path = folder.join("labels.txt");
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let words: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let mut kinds: Vec<&str> = words.clone();
        kinds.sort_unstable();
        kinds.dedup();
        let labels: Vec<u32> =
            words.iter().map(|word| kinds.binary_search(word).unwrap_or(0) as u32).collect();
        if x.rows() != y.rows() || labels.len() != x.rows() {
            return Err(format!(
                "{}: {} rows in x.npy, {} in y.npy, {} labels; rows have to correspond",
                folder.display(),
                x.rows(),
                y.rows(),
                labels.len()
            ));
        }
        Ok(Self { x, y, labels })
    }
}

fn picked(side: &Dense, rows: &[usize]) -> Dense {
    Dense::from_fn(rows.len(), side.cols(), |i, j| side.at(rows[i], j))
}

/// One complete procedure, scored.
fn one(
    device: &Device,
    set: &str,
    data: &Data,
    method: &str,
    settings: &Settings,
    executor: &str,
    show: bool,
) -> Result<Value, String> {
    // Rows of both sides in orders of their own, so that nothing can be learned from the order.
    let mut rng = Rng::new(settings.seed ^ 0x0065_7661_6c75);
    let ix = rng.sample(data.x.rows(), MOST);
    let order = rng.sample(ix.len(), ix.len());
    let iy: Vec<usize> = order.iter().map(|&i| ix[i]).collect();
    let pairs: Vec<(usize, usize)> = order.iter().enumerate().map(|(j, &i)| (i, j)).collect();
    let labels = [&ix, &iy].map(|rows| rows.iter().map(|&i| data.labels[i]).collect::<Vec<u32>>());
    let sides = Sides::new(picked(&data.x, &ix), picked(&data.y, &iy)).map_err(|e| e.to_string())?;

    let mut bar = Bar {
        label: format!("{set} seed {}", settings.seed),
        last: Instant::now(),
        spent: Vec::new(),
        checked: Instant::now(),
    };
    let start = Instant::now();
    let alignment = pollster::block_on(procedure::align(device, &sides, settings, &mut bar))
        .map_err(|error| error.to_string())?;
    let train_s = start.elapsed().as_secs_f64();
    let (best, eps) = (alignment.best(), alignment.eps);
    let start = Instant::now();
    let coupling = pollster::block_on(procedure::infer(device, &sides, best, eps, &mut bar))
        .map_err(|error| error.to_string())?;
    let infer_s = start.elapsed().as_secs_f64();
    bar.clear();

    if show {
        let phases: Vec<String> = bar.spent.iter().map(|(phase, s)| format!("{phase} {s:.2} s")).collect();
        eprintln!("    {}; ε {eps}, rival {:?}", phases.join(", "), alignment.rival);
        for candidate in &alignment.candidates {
            let coupling = pollster::block_on(procedure::infer(device, &sides, candidate, eps, &mut bar))
                .map_err(|error| error.to_string())?;
            bar.clear();
            let f = closeness(&sides, candidate, &coupling.plan, &pairs);
            let rho: Vec<String> = candidate.spearman.iter().map(|r| format!("{r:.4}")).collect();
            let exact = exact_matches(&coupling.matches(), &pairs);
            eprintln!(
                "    {:.4} [{}] FOSCTTM {:.4} {:.4} exact {exact:.3} error {:.1e} {:?}",
                candidate.score,
                rho.join(" "),
                f[0],
                f[1],
                candidate.error,
                candidate.origin
            );
        }
    }

    let [x, y] = sides.points();
    let views = views(&sides, best);
    let [fxy, fyx] = closeness(&sides, best, &coupling.plan, &pairs);
    let back = transposed(&coupling.plan);
    let x_there = barycentric(&coupling.plan, &views[1]);
    let y_there = barycentric(&back, &views[0]);
    let measure = match best.origin {
        Origin::Network { measure, .. } => measure,
        Origin::Linear { .. } => settings.panel(sides.dims())[0],
    };
    // Figures over all pairs of pairs: on all rows, up to 2000 a side.
    let [judged_x, judged_y] = sides.judged(0);
    let dx = halved(measure.x.matrix(&picked(x, &judged_x)));
    let dy = halved(measure.y.matrix(&picked(y, &judged_y)));
    let part =
        Dense::from_fn(judged_x.len(), judged_y.len(), |i, j| coupling.plan.at(judged_x[i], judged_y[j]));
    let (loss, steps) = match best.origin {
        Origin::Network { loss, .. } => (loss.name(), settings.train.steps),
        Origin::Linear { .. } => ("schatten", 100),
    };
    Ok(json!({
        "set": set,
        "method": method,
        "encoder": best.origin.encoder(),
        "distance": measure.name(),
        "loss": loss,
        "seed": settings.seed,
        "n": x.rows(),
        "m": y.rows(),
        "foscttm_xy": fxy,
        "foscttm_yx": fyx,
        "label_transfer_xy": label_transfer(&x_there, &labels[0], &views[1], &labels[1], 5),
        "label_transfer_yx": label_transfer(&y_there, &labels[1], &views[0], &labels[0], 5),
        "exact_match": exact_matches(&coupling.matches(), &pairs),
        "gw_loss": gw_loss(&dx, &dy, &part),
        "null_gw_loss": gw_loss(&dx, &dy, &independent(&part)),
        "plan_spearman": best.score,
        "train_s": train_s,
        "infer_s": infer_s,
        "steps": steps,
        "executor": executor,
    }))
}

fn halved(distances: Dense) -> Dense {
    let mean = distances.data().iter().map(|&v| f64::from(v)).sum::<f64>() / distances.data().len() as f64;
    let scale = if mean > 0.0 { (0.5 / mean) as f32 } else { 0.0 };
    Dense::from_fn(distances.rows(), distances.cols(), |i, j| scale * distances.at(i, j))
}

fn transposed(plan: &Dense) -> Dense {
    Dense::from_fn(plan.cols(), plan.rows(), |i, j| plan.at(j, i))
}

/// Both sides in the coordinates the candidate saw them in: rows of length 1 for profiles, positions as they are.
fn views(sides: &Sides, candidate: &Candidate) -> [Dense; 2] {
    let preparations = candidate.origin.preparations();
    [0, 1].map(|side| {
        let mut points = sides.points()[side].clone();
        let profile = match preparations[side] {
            Preparation::Unit => true,
            Preparation::Linear => points.cols() > POSITIONS,
            Preparation::Plain | Preparation::Standardised => false,
        };
        if profile {
            Normalisation::L2Rows.apply(&mut points);
        }
        points
    })
}

/// FOSCTTM of x carried over to y's space, and of y carried over to x's.
fn closeness(sides: &Sides, candidate: &Candidate, plan: &Dense, pairs: &[(usize, usize)]) -> [f64; 2] {
    let [x, y] = views(sides, candidate);
    let there = foscttm(&barycentric(plan, &y), &y, pairs);
    let back = foscttm(&x, &barycentric(&transposed(plan), &x), pairs);
    [(there.xy + there.yx) / 2.0, (back.xy + back.yx) / 2.0]
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

/// A progress bar on one line of the terminal.
struct Bar {
    label: String,
    last: Instant,
    /// Seconds between checkpoints, by what was being done.
    spent: Vec<(&'static str, f64)>,
    checked: Instant,
}

impl Bar {
    fn clear(&self) {
        eprint!("\r{:78}\r", "");
    }
}

impl Control for Bar {
    async fn checkpoint(&mut self, progress: Progress) -> Result<(), Failure> {
        let seconds = self.checked.elapsed().as_secs_f64();
        self.checked = Instant::now();
        match self.spent.iter_mut().find(|(phase, _)| *phase == progress.phase) {
            Some((_, total)) => *total += seconds,
            None => self.spent.push((progress.phase, seconds)),
        }
        if self.last.elapsed().as_millis() > 100 {
            self.last = Instant::now();
            let filled = (20 * progress.done / progress.of.max(1)).min(20) as usize;
            let bar = format!("{}{}", "█".repeat(filled), "░".repeat(20 - filled));
            eprint!("\r{} {bar} {:<30}", self.label, progress.phase);
            let _ = std::io::stderr().flush();
        }
        Ok(())
    }
}
