//! One of our solvers in a process of its own.

use std::path::Path;
use std::process::{Command, Stdio};

use concord::exec::Device;
use concord::geometry::Dense;
use concord::procedure::{NoControl, streamed};
use concord::rng::Rng;
use concord::scale::multiscale::multiscale;
use concord::scale::{Clouds, NoWatch, Solved};
use concord::solver::cost::CostKind;
use pollster::block_on;
use serde_json::json;

use super::point::Point;
use super::{EPS, Method, TOLERANCE};
use crate::arguments::Arguments;
use crate::bench::timing::{peak_memory_mb, seconds};
use crate::npy;

const CLUSTERS: usize = 12;
/// Dimensions that matter; the others are a linear image of them, and noise.
const HIDDEN: usize = 6;

/// Embeddings as encoders give them: clusters of unequal size, the same on both sides and filled differently.
pub fn clouds(n: usize, dim: usize) -> Clouds {
    let mut rng = Rng::new(31);
    let centres = Dense::new(CLUSTERS, HIDDEN, rng.fill(CLUSTERS * HIDDEN, -2.0, 2.0));
    let map = Dense::new(HIDDEN, dim, rng.fill(HIDDEN * dim, -1.0, 1.0));
    let [x, y] = [2, 1].map(|unevenness| {
        let mut points = Dense::from_fn(n, dim, |_, _| rng.uniform(-0.1, 0.1));
        for i in 0..n {
            let cluster = rng.uniform(0.0, 1.0).powi(unevenness) * CLUSTERS as f32;
            let centre = centres.row((cluster as usize).min(CLUSTERS - 1));
            let hidden: Vec<f32> = centre.iter().map(|c| c + rng.uniform(-0.6, 0.6)).collect();
            for (j, v) in points.row_mut(i).iter_mut().enumerate() {
                *v += hidden.iter().enumerate().map(|(k, h)| h * map.at(k, j)).sum::<f32>();
            }
        }
        points
    });
    Clouds::new([&x, &y], CostKind::Sqm)
}

/// Solves what lies in the folder in a process of its own.
pub fn run(method: Method, folder: &Path, n: usize, dim: usize) -> Result<Point, String> {
    let own = std::env::current_exe().map_err(|error| format!("where am I? {error}"))?;
    let output = Command::new(own)
        .args(["inference-child", "--method", method.name(), "--data"])
        .arg(folder)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("no child could be started: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("'{}' ended with {}", method.name(), output.status));
    }
    let answer = serde_json::from_str(&text).map_err(|error| format!("'{text}': {error}"))?;
    Point::read(method.name(), n, dim, &answer)
}

/// What that process does: `lab inference-child --method METHOD --data DIR`.
pub fn child(words: &[String]) -> Result<(), String> {
    let arguments = Arguments::read(words, &["method", "data"], &[])?;
    let name = arguments.required("method")?;
    let method = Method::named(name).ok_or_else(|| format!("there is no method '{name}'"))?;
    let folder = Path::new(arguments.required("data")?);
    let [x, y] = [npy::read(&folder.join("x.npy"))?, npy::read(&folder.join("y.npy"))?];
    let clouds = Clouds::new([&x, &y], CostKind::Sqm);
    drop([x, y]);
    let (time, solved) = seconds(|| solve(method, clouds));
    let solved = solved?;
    println!(
        "{}",
        json!({
            "seconds": time,
            "iterations": solved.iterations,
            "error": solved.error,
            "memory_mb": peak_memory_mb(),
        })
    );
    Ok(())
}

fn solve(method: Method, clouds: Clouds) -> Result<Solved, String> {
    match method {
        Method::Streamed => block_on(streamed(&Device::Cpu, clouds, EPS, TOLERANCE, None, &mut NoControl))
            .map_err(|failure| failure.to_string()),
        Method::Multiscale => block_on(multiscale(clouds, EPS, TOLERANCE, &mut NoWatch))
            .map(|found| found.solved)
            .map_err(|cancelled| cancelled.to_string()),
    }
}
