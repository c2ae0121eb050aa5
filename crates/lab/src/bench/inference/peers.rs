//! Other people's matrix-free transports on the same embeddings, on one thread.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use super::point::Point;
use super::{EPS, TOLERANCE};
use crate::bench::peers::{ONE_THREAD, environment, install, pinned};

const SCRIPT: &str = include_str!("../../../peers_inference.py");

/// The word for the script, what pip is to install, and the most points a side it is given: beyond, an iteration takes
/// minutes, or the plan more memory than there is.
const PROGRAMS: [(&str, &[&str], usize); 3] = [
    ("ott", &["jax<0.7", "ott-jax"], 45_000),
    ("ott-gw", &["jax<0.7", "ott-jax"], 5_000),
    ("pot", &["pot"], 10_000),
];

/// Up to this many points peers solve to the end; beyond, they do as many iterations as it takes to time one.
const SOLVED: usize = 2_000;
const MOST_ITERATIONS: u32 = 2_000;
const FEW_ITERATIONS: u32 = 10;

/// A Python environment with those that could be installed.
pub struct Peers {
    python: PathBuf,
    script: PathBuf,
    programs: Vec<(&'static str, usize)>,
}

impl Peers {
    /// What is missing is said, and the others go on.
    pub fn install(folder: &Path) -> Option<Self> {
        let missing = |why: String| eprintln!("\nMISSING: {why}\nThis peer is left out.");
        let python = environment(folder).map_err(missing).ok()?;
        let script = folder.join("peers_inference.py");
        std::fs::write(&script, SCRIPT).map_err(|error| missing(error.to_string())).ok()?;
        let installed = PROGRAMS
            .into_iter()
            .filter(|(_, packages, _)| install(&python, packages).map_err(missing).is_ok());
        let programs = installed.map(|(word, _, most)| (word, most)).collect();
        Some(Self { python, script, programs })
    }

    /// Those that take this size, on what lies in the folder.
    pub fn run(&self, folder: &Path, n: usize, dim: usize) -> Vec<Point> {
        let able = self.programs.iter().filter(|(_, most)| n <= *most);
        let run = |(word, _): &(&'static str, usize)| {
            eprintln!("{word}, {n} points a side, {dim} dimensions");
            let failed = |why| eprintln!("\nFAILED: {word}: {why}");
            self.measure(word, folder, n, dim).map_err(failed).ok()
        };
        able.filter_map(run).collect()
    }

    fn measure(&self, word: &str, folder: &Path, n: usize, dim: usize) -> Result<Point, String> {
        let iterations = if n <= SOLVED { MOST_ITERATIONS } else { FEW_ITERATIONS };
        let output = pinned(&self.python)
            .arg(&self.script)
            .arg(word)
            .args([folder.join("x.npy"), folder.join("y.npy")])
            .args([EPS.to_string(), TOLERANCE.to_string(), iterations.to_string()])
            .envs(ONE_THREAD)
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("it could not be started: {error}"))?;
        if !output.status.success() {
            return Err(format!("it ended with {}", output.status));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let answer: Value = serde_json::from_str(&text).map_err(|error| format!("'{text}': {error}"))?;
        Point::read(answer["name"].as_str().unwrap_or(word), n, dim, &answer)
    }
}
