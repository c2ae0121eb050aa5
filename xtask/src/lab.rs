//! `cargo xtask evaluate`, `bench` and `samples`: builds the crate `lab` for measuring and runs it.

use crate::run::{Outcome, cargo, run, say};
use crate::system::Program;
use crate::test::{BROWSER_BENCH, in_chromium};
use crate::tools;

/// Runs a command of the lab with its arguments, on this terminal.
pub fn lab(command: &str, arguments: &[String]) -> Outcome {
    say(&format!("building the lab for '{command}' (the first time takes a minute)"));
    let mut words = vec!["run", "--quiet", "--profile", "measure", "--package", "lab", "--", command];
    words.extend(arguments.iter().map(String::as_str));
    let mut lab = cargo(&words);
    // Files are meant where the person is, not where the repository is.
    if let Ok(here) = std::env::current_dir() {
        lab.current_dir(here);
    }
    run(lab)
}

/// Whether a measurement is to be made in Chromium.
pub fn in_browser(arguments: &[String]) -> bool {
    arguments.first().is_some_and(|what| what == "inference")
        && arguments.iter().any(|word| word == "--browser")
}

/// Sizes that are measured in Chromium unless others are asked for.
const SIZES: &str = "1000x16,2000x16,5000x16,10000x16,10000x32,20000x16,45000x16";

/// Measures transports in Chromium, on the CPU executor: the figures of the wasm build.
pub fn browser(arguments: &[String]) -> Outcome {
    let at = arguments.iter().position(|word| word == "--sizes");
    let sizes = at.and_then(|at| arguments.get(at + 1)).map_or(SIZES, String::as_str);
    tools::ensure_build_tools()?;
    for program in [Program::Chromium, Program::ChromeDriver] {
        program.install();
    }
    say("building the solvers for the browser (the first time takes some minutes)");
    let words =
        ["test", "--release", "-p", "concord", "--target", "wasm32-unknown-unknown", "--test", BROWSER_BENCH];
    let mut bench = cargo(&[&words[..], &["--", "--nocapture"]].concat());
    bench.env("CONCORD_INFERENCE_SIZES", sizes);
    run(in_chromium(bench, 3600))
}
