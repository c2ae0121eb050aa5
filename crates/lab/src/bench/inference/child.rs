//! One of our solvers in a process of its own.

use std::path::Path;
use std::process::{Command, Stdio};

use align::procedure::{NoControl, streamed};
use align::scale::multiscale::multiscale;
use align::scale::{Clouds, NoWatch, Solved};
use align::solver::cost::CostKind;
use align::solver::marginals::Relaxation;
use compute::exec::Device;
use pollster::block_on;
use serde_json::json;

use super::point::Point;
use super::{EPS, Method, TOLERANCE};
use crate::arguments::Arguments;
use crate::bench::timing::{peak_memory_mb, seconds};
use crate::npy;

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
        Method::Streamed => {
            block_on(streamed(&Device::Cpu, clouds, EPS, Relaxation::STRICT, TOLERANCE, None, &mut NoControl))
                .map_err(|failure| failure.to_string())
        }
        Method::Multiscale => {
            block_on(multiscale(clouds, EPS, Relaxation::STRICT, TOLERANCE, None, &mut NoWatch))
                .map(|found| found.solved)
                .map_err(|cancelled| cancelled.to_string())
        }
    }
}
