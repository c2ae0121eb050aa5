//! Other people's programs on the same distances, in a Python environment that is thrown away afterwards.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use align::baseline::entropic_gw::GwSettings;
use serde_json::Value;

use super::data::Clouds;
use super::row::Row;
use crate::npy;

const SCRIPT: &str = include_str!("../../peers.py");

/// The word for the script, the package to install, and whether to solve the problem on the distances that SCOT
/// publishes, at the ε that follows: 1e-3 is SCOT's own.
const PROGRAMS: [(&str, &str, Option<f32>); 4] = [
    ("ott", "ott-jax", None),
    ("ott", "ott-jax", Some(5e-3)),
    ("pot", "pot", None),
    ("pot", "pot", Some(1e-3)),
];

/// One thread for everybody, however they count them.
pub(super) const ONE_THREAD: [(&str, &str); 5] = [
    ("OMP_NUM_THREADS", "1"),
    ("OPENBLAS_NUM_THREADS", "1"),
    ("MKL_NUM_THREADS", "1"),
    ("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"),
    ("JAX_PLATFORMS", "cpu"),
];

/// The measurements of every peer that could be run; what is missing is said, and the others go on.
pub fn run(clouds: &Clouds, folder: &Path) -> Result<Vec<Row>, String> {
    let python = match environment(folder) {
        Ok(python) => python,
        Err(missing) => {
            eprintln!("\nMISSING: {missing}\nThe peers are left out.");
            return Ok(Vec::new());
        }
    };
    let script = folder.join("peers.py");
    std::fs::write(&script, SCRIPT)
        .map_err(|error| format!("{} cannot be written: {error}", script.display()))?;
    let files = ["dx.npy", "dy.npy"].map(|name| folder.join(name));
    let mut rows = Vec::new();
    for (program, package, published) in PROGRAMS {
        let distances = if published.is_some() { clouds.steps()? } else { clouds.distances() };
        for (file, distances) in files.iter().zip(distances) {
            npy::write(file, &distances)?;
        }
        if let Err(missing) = install(&python, &[package]) {
            eprintln!("\nMISSING: {missing}\nThis peer is left out.");
            continue;
        }
        eprintln!("{package} solves the same problem (this may take minutes)");
        match measure(&python, &script, program, &files, published.unwrap_or(GwSettings::default().eps)) {
            Ok(measured) => rows.extend(measured.into_iter().map(|row| {
                let note = published.map_or_else(String::new, |eps| format!(", SCOT's distances, ε = {eps}"));
                Row { name: format!("{}{note}", row.name), ..row }
            })),
            Err(why) => eprintln!("\nFAILED: {package}: {why}\nThis peer is left out."),
        }
    }
    Ok(rows)
}

/// Makes the environment and returns its Python.
pub(super) fn environment(folder: &Path) -> Result<PathBuf, String> {
    let venv = folder.join("python");
    eprintln!("making a Python environment for the peers");
    let output = Command::new("python3")
        .args(["-m", "venv"])
        .arg(&venv)
        .output()
        .map_err(|error| format!("python3 could not be started ({error}); install Python 3"))?;
    if !output.status.success() {
        let why = [last_line(&output.stderr), last_line(&output.stdout)].concat();
        return Err(format!("python3 makes no environments ({why}); Debian: apt install python3-venv"));
    }
    let bin = venv.join(if cfg!(windows) { "Scripts" } else { "bin" });
    Ok(bin.join("python"))
}

/// All at once: one after the other, a later one would replace an earlier one's version by the newest.
pub(super) fn install(python: &Path, packages: &[&str]) -> Result<(), String> {
    let package = packages.join(" and ");
    eprintln!("installing {package} with pip");
    let output = Command::new(python)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(packages)
        .output()
        .map_err(|error| format!("pip could not be started: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let why = last_line(&output.stderr);
    Err(format!("pip could not install {package} ({why}); is there a way to a package index?"))
}

fn measure(
    python: &Path,
    script: &Path,
    program: &str,
    files: &[PathBuf; 2],
    eps: f32,
) -> Result<Vec<Row>, String> {
    let mut command = pinned(python);
    command.arg(script).arg(program).args(files).arg(eps.to_string());
    let output = command
        .envs(ONE_THREAD)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("it could not be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("it ended with {}", output.status));
    }
    String::from_utf8_lossy(&output.stdout).lines().map(parse).collect()
}

/// A line of the script.
fn parse(line: &str) -> Result<Row, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| format!("'{line}': {error}"))?;
    let name = value["name"].as_str().ok_or_else(|| format!("'{line}' has no name"))?;
    let seconds = value["seconds"].as_f64().ok_or_else(|| format!("'{line}' has no seconds"))?;
    Ok(Row {
        name: format!("{name}, entropic GW"),
        seconds,
        least: None,
        peer: None,
        peer_seconds: None,
        memory_mb: value["memory_mb"].as_f64(),
    })
}

/// On one core where the system can say so: a variable stops most threads, this stops all.
pub(super) fn pinned(python: &Path) -> Command {
    let can = Command::new("taskset").args(["-c", "0", "true"]).stderr(Stdio::null()).status();
    if can.is_ok_and(|status| status.success()) {
        let mut command = Command::new("taskset");
        command.args(["-c", "0"]).arg(python);
        command
    } else {
        Command::new(python)
    }
}

fn last_line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .lines()
        .rfind(|line| !line.trim().is_empty())
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_script_becomes_a_row() {
        let row = parse(r#"{"name": "POT 1", "seconds": 2.5, "memory_mb": 300.0}"#).expect("a row");
        assert_eq!((row.name.as_str(), row.seconds, row.memory_mb), ("POT 1, entropic GW", 2.5, Some(300.0)));
        assert!(parse("Warning").is_err());
        assert!(parse(r#"{"name": "POT 1"}"#).is_err());
    }
}
