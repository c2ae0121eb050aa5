//! Whole alignments, each in a process of its own, so that the peak of its memory is its own as well.
//!
//! A single fit may end in a mirrored alignment, which is why a real run makes several and chooses. Its time is
//! therefore a unit to count in and not the price of a right answer; entropic GW, like the peers, is solved once.

use std::path::Path;
use std::process::{Command, Stdio};

use align::baseline::entropic_gw::{GwSettings, solve};
use align::procedure::{self, NoControl, Settings, Sides, transport};
use align::solver::align::{AlignSettings, Objective};
use align::solver::infer::Encoders;
use align::solver::marginals::Relaxation;
use compute::exec::{Device, Executor};
use compute::plan::Plan;
use pollster::block_on;
use serde_json::{Value, json};

use super::data::Clouds;
use super::parts::{Given, align, dense, low_rank, prepare, record_gw, scaled_low_rank};
use super::row::Row;
use super::timing::{Timing, peak_memory_mb, seconds};
use crate::arguments::Arguments;
use crate::npy;

/// Points a side that the encoders are trained on.
const TRAINED: usize = 300;
const INFERENCE_EPS: f32 = 0.05;

/// What a child can be asked for: the word, and its name in the results.
const KINDS: [(&str, &str); 4] = [
    ("procedure", "the whole default procedure"),
    ("fit", "one fit: 300 steps on 300 points, applied to all"),
    ("gw-low-rank", "entropic GW to convergence, low rank"),
    ("gw-dense", "entropic GW to convergence, dense"),
];

/// Runs every kind in children and adds the rows.
pub fn alignments(clouds: &Clouds, folder: &Path, repeats: u64, rows: &mut Vec<Row>) -> Result<(), String> {
    npy::write(&folder.join("x.npy"), &clouds.x)?;
    npy::write(&folder.join("y.npy"), &clouds.y)?;
    for (kind, name) in KINDS {
        let name = format!("{name}, n = {}", clouds.x.rows());
        eprintln!("{name}: {repeats} processes");
        let runs = (0..repeats).map(|_| run_child(kind, folder)).collect::<Result<Vec<_>, _>>()?;
        let figures = |key: &str| runs.iter().filter_map(|run| run[key].as_f64()).collect::<Vec<f64>>();
        if runs.iter().any(|run| run["converged"] == json!(false)) {
            eprintln!("  did NOT converge: {}", runs[0]);
        }
        let memory = figures("memory_mb");
        let memory_mb = (!memory.is_empty()).then(|| Timing::of(memory).median);
        rows.push(Row { memory_mb, ..Row::new(name, Timing::of(figures("seconds"))) });
    }
    Ok(())
}

fn run_child(kind: &str, folder: &Path) -> Result<Value, String> {
    let own = std::env::current_exe().map_err(|error| format!("where am I? {error}"))?;
    let output = Command::new(own)
        .args(["bench-child", "--kind", kind, "--data"])
        .arg(folder)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("no child could be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("'{kind}' ended with {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).map_err(|error| format!("'{kind}' answered '{text}': {error}"))
}

/// What a child does: `lab bench-child --kind KIND --data DIR`.
pub fn child(words: &[String]) -> Result<(), String> {
    let arguments = Arguments::read(words, &["kind", "data"], &[])?;
    let folder = Path::new(arguments.required("data")?);
    // The parent has prepared them.
    let clouds = Clouds { x: npy::read(&folder.join("x.npy"))?, y: npy::read(&folder.join("y.npy"))? };
    let (time, outcome) = match arguments.required("kind")? {
        "fit" => seconds(|| fit(&clouds)),
        "procedure" => seconds(|| whole(&clouds)),
        "gw-low-rank" => seconds(|| gw(&clouds, scaled_low_rank)),
        "gw-dense" => seconds(|| gw(&clouds, dense)),
        other => return Err(format!("there is no kind '{other}'")),
    };
    let mut answer = outcome?;
    answer["seconds"] = json!(time);
    answer["memory_mb"] = json!(peak_memory_mb());
    println!("{answer}");
    Ok(())
}

/// Trains on a part and applies the encoders to everything.
fn fit(clouds: &Clouds) -> Result<Value, String> {
    let settings = AlignSettings::default();
    let mut plan = Plan::new();
    let trained =
        align(&mut plan, &settings, &clouds.part(TRAINED), |p, c| Ok(Objective::Classic(low_rank(p, c)?)))?;
    let mut cpu = prepare(plan)?;
    cpu.submit(trained.step, settings.steps).map_err(|error| error.to_string())?;
    let weights = block_on(cpu.read(trained.weights)).map_err(|error| error.to_string())?;
    drop(cpu);

    let [x, y] = clouds.inputs();
    let encoders = Encoders::Networks { shapes: trained.shapes, weights, cost: settings.cost };
    let coupling = block_on(transport(
        &Device::Cpu,
        &encoders,
        [&x, &y],
        INFERENCE_EPS,
        Relaxation::STRICT,
        &mut NoControl,
    ))
    .map_err(|error| error.to_string())?;
    Ok(json!({ "marginal_error": coupling.error }))
}

/// The whole default procedure: all candidates, the choice, and its plan between all points.
fn whole(clouds: &Clouds) -> Result<Value, String> {
    let settings = Settings::default();
    let sides = Sides::new(clouds.x.clone(), clouds.y.clone()).map_err(|error| error.to_string())?;
    let alignment = block_on(procedure::align(&Device::Cpu, &sides, &settings, &mut NoControl))
        .map_err(|error| error.to_string())?;
    let coupling =
        block_on(procedure::infer(&Device::Cpu, &sides, alignment.best(), &settings, &mut NoControl))
            .map_err(|error| error.to_string())?;
    Ok(json!({ "candidates": alignment.candidates.len(), "marginal_error": coupling.error }))
}

/// Solves entropic GW on all points until the plan no longer changes.
fn gw(clouds: &Clouds, distances: Given) -> Result<Value, String> {
    let mut plan = Plan::new();
    let gw = record_gw(&mut plan, &GwSettings::default(), clouds, distances)?;
    let mut cpu = prepare(plan)?;
    let solution = block_on(solve(&mut cpu, &gw)).map_err(|error| error.to_string())?;
    Ok(json!({
        "outer": solution.outer,
        "change": solution.change,
        "marginal_error": solution.marginal_error,
        "converged": solution.converged,
    }))
}
